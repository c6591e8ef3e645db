import type { Test } from 'tap';
import type { Call, JsonReply } from '../../../src/core/exchange.js';
import type { Outcome, SinkSpec } from '../../../src/core/sink.js';
import { createExportDoors, type ExportDoors } from '../../../src/endpoints/policy-gateway/exports.js';
import type { OutboundRules } from '../../../src/io/outbound/destination.js';
import type { SinkBook } from '../../../src/rules/sinks/book.js';
import { createSender } from '../../../src/rules/sinks/create-sender.js';
import { createVault } from '../../../src/rules/sinks/vault.js';
import type { Sink } from '../../../src/rules/sinks/views.js';
import { ManualClock } from '../../support/manual-clock.js';
import { MemoryRecords } from '../../support/memory-records.js';
import { batchOf, never, quick } from '../../support/sinks/batches.js';
import { callWith } from './desk.js';

export const PEPPER = Buffer.from('0123456789abcdef0123456789abcdef');

interface Asked {
  readonly body?: unknown;
  readonly id?: string;
  readonly query?: string;
  readonly key?: string;
  readonly organizationId?: string;
}

export interface Desk {
  readonly records: MemoryRecords;
  readonly clock: ManualClock;
  readonly book: SinkBook;
  /** Organizations whose sinks were told to be others. */
  readonly changes: string[];
  /** The body of what a door answers. */
  ask(door: keyof ExportDoors, asked?: Asked): Promise<JsonReply>;
  create(body: unknown, asked?: Asked): Promise<Sink>;
  update(id: string, body: unknown, asked?: Asked): Promise<Sink>;
  get(id: string): Promise<Sink>;
}

const open: OutboundRules = { allowInsecure: false, allowPrivateHosts: [] };

/** The doors on records in memory. `test` sends in this thread. */
export const openDesk = (
  t: Test,
  { rules = open, maxSinks = 50, pepper = PEPPER, records = null as MemoryRecords | null } = {},
): Desk => {
  const clock = new ManualClock();
  const store = records ?? new MemoryRecords(clock);
  const book: SinkBook = { records: store, clock, vault: createVault(pepper), rules, maxSinks };
  const changes: string[] = [];
  const trySink = async (spec: SinkSpec): Promise<Outcome> => {
    const sender = createSender(spec, { ...quick, rules });
    try {
      return await sender.send(batchOf(1), never);
    } finally {
      await sender.close();
    }
  };
  const doors = createExportDoors({
    records: store,
    pepper,
    book,
    changed: async (organizationId) => void changes.push(organizationId),
    trySink,
    trail: { steps: () => [], committed: () => {} },
  });
  t.teardown(() => store.close());
  const ask: Desk['ask'] = (door, { body, id, query, key, organizationId } = {}) => {
    const call: Call = {
      ...callWith({
        body,
        ...(query !== undefined && { query }),
        ...(organizationId !== undefined && { organizationId }),
        headers: key === undefined ? {} : { 'idempotency-key': key },
        path: `/api/policy-gateway/exports/${door}`,
      }),
      params: id === undefined ? {} : { export_id: id },
    };
    return doors[door](call);
  };
  const sinkIn = async (reply: Promise<JsonReply>): Promise<Sink> =>
    ((await reply).body as { readonly export: Sink }).export;
  return {
    records: store,
    clock,
    book,
    changes,
    ask,
    create: (body, asked = {}) => sinkIn(ask('create', { body, ...asked })),
    update: (id, body, asked = {}) => sinkIn(ask('update', { body, id, ...asked })),
    get: (id) => sinkIn(ask('get', { id })),
  };
};

export const SECRET = 'canary-5e1c-secret';

export const splunk = (config: object = {}) => ({
  type: 'splunk_hec',
  label: 'SIEM',
  config: { endpoint: 'https://splunk.example.com:8088', token: SECRET, ...config },
});

export const bucket = (config: object = {}) => ({
  type: 's3',
  label: 'Archive',
  config: {
    bucket: 'audit',
    region: 'eu-west-1',
    access_key_id: 'AKID',
    secret_access_key: SECRET,
    session_token: `${SECRET}-session`,
    ...config,
  },
});

/** Passes when the promise is refused with an error like this. */
export const refuses = async (t: Test, promise: Promise<unknown>, like: object): Promise<void> => {
  const error: unknown = await promise.then(
    () => new Error('It was not refused.'),
    (thrown: unknown) => thrown,
  );
  t.match(error, like);
};
