import type { AuditFacts } from '../../../src/core/audit.js';
import type { Call, JsonReply, Lease, Meter, OperationDoc, Route } from '../../../src/core/exchange.js';
import { silentLog } from '../../../src/core/log.js';
import type { Records } from '../../../src/io/records/records.js';
import { createConfigDoors } from '../../../src/endpoints/policy-gateway/config.js';
import { createSimulateDoor, type SimulateParts } from '../../../src/endpoints/policy-gateway/simulate.js';
import { noFindings } from '../../../src/rules/policy-gateway/decide.js';
import { ManualClock } from '../../support/manual-clock.js';
import { MemoryRecords } from '../../support/memory-records.js';

export const OUTBOX = 'outbox';

interface Asked {
  readonly body?: unknown;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly organizationId?: string;
  readonly path?: string;
}

const nothing = {} as Lease & Meter;

/** A call as a handler sees it. */
export const callWith = ({
  body,
  query = '',
  headers = {},
  organizationId = 'org_test',
  path = '/x',
}: Asked): Call => {
  const route: Route = {
    operation: 'x',
    method: 'POST',
    path,
    family: 'administration',
    auth: 'gateway',
    permission: null,
    body: 'json',
    bodyBytes: 0,
    limits: 'admin',
    handle: () => Promise.reject(new Error('not called')),
    doc: { tag: 'x', summary: 'x', answer: {} } satisfies OperationDoc,
  };
  return {
    requestId: 'req_1',
    route,
    params: {},
    query: new URLSearchParams(query),
    headers,
    clientAddress: '127.0.0.1',
    receivedMs: 0,
    principal: {
      kind: 'project',
      organization: { id: organizationId, name: 'Test', plan: 'free', lifetimePaidUsd: 0, metered: false },
      projectId: 'proj_app',
      keyId: 'key_1',
      permissions: new Set(['gateway.read', 'gateway.write']),
      models: null,
      creditBudget: null,
    },
    body,
    signal: new AbortController().signal,
    meter: nothing,
    lease: nothing,
    log: silentLog,
  };
};

export interface Desk {
  readonly clock: ManualClock;
  readonly records: Records;
  readonly recorded: AuditFacts[];
  get(asked?: Asked): Promise<JsonReply>;
  save(config: unknown, asked?: Asked): Promise<JsonReply>;
  history(asked?: Asked): Promise<JsonReply>;
  simulate(body: unknown, asked?: Asked): Promise<JsonReply>;
}

/** The doors on records in memory; events of changes go into a collection, those of simulations into `recorded`. */
export const openDesk = (more: Partial<SimulateParts> = {}): Desk => {
  const clock = new ManualClock();
  const records = new MemoryRecords(clock);
  const pepper = Buffer.from('0123456789abcdef0123456789abcdef');
  const recorded: AuditFacts[] = [];
  let events = 0;
  const doors = createConfigDoors({
    records,
    clock,
    pepper,
    trail: {
      steps: (facts) => [
        { op: 'put', collection: OUTBOX, id: `e${events++}`, value: { ...facts }, expect: 'absent' },
      ],
      committed: () => {},
    },
  });
  const simulate = createSimulateDoor({
    records,
    pepper,
    inspect: async (_call, _text, direction) => ({ findings: noFindings(direction), places: [] }),
    isRolledBack: () => false,
    record: async (facts) => void recorded.push(facts),
    contentOf: null,
    ...more,
  });
  return {
    clock,
    records,
    recorded,
    get: (asked = {}) => doors.get(callWith(asked)),
    save: (config, asked = {}) => doors.save(callWith({ body: { config }, ...asked })),
    history: (asked = {}) => doors.history(callWith(asked)),
    simulate: (body, asked = {}) => simulate(callWith({ body, ...asked })),
  };
};
