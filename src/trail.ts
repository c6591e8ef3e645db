import type { Config } from './config/schema.js';
import { systemClock } from './core/clock.js';
import type { Log } from './core/log.js';
import type { SinkSpec } from './core/sink.js';
import type { Trail } from './endpoints/administration/mutate.js';
import type { Metrics } from './io/metrics/metrics.js';
import type { Records } from './io/records/records.js';
import type { Accounts } from './rules/auth/accounts.js';
import { listOrganizations } from './rules/auth/organizations.js';
import type { Audit } from './rules/audit/audit.js';
import { openAudit } from './rules/audit/open-audit.js';
import { createOutbox } from './rules/audit/outbox.js';
import type { SinkStatus } from './rules/audit/status.js';
import { DEFAULT_MAX_SINKS, openSinks, type SinkBook } from './rules/sinks/book.js';
import { SINKS } from './rules/sinks/layout.js';
import { SinkStatusWriter } from './rules/sinks/status-writer.js';
import { createVault } from './rules/sinks/vault.js';

/** The audit trail of this instance, and whoever it is told to. */
export interface TrailGround {
  readonly audit: Audit;
  readonly book: SinkBook;
  readonly trail: Trail;
  /** The sinks of an organization are others now. */
  readonly sinksChanged: (organizationId: string) => void;
  close(): Promise<void>;
}

const PAGE = 100;
const LAST_DELIVERIES_MS = 5_000;

export const openTrail = async (
  config: Config,
  accounts: Accounts,
  metrics: Metrics,
  log: Log,
): Promise<TrailGround> => {
  const { records, pepper } = accounts;
  const rules = {
    allowInsecure: config.sinks.allow_insecure,
    allowPrivateHosts: config.sinks.allow_private_hosts,
  };
  const book: SinkBook = {
    records,
    clock: systemClock,
    vault: createVault(pepper),
    rules,
    maxSinks: DEFAULT_MAX_SINKS,
  };
  const statuses = new SinkStatusWriter({ records, log });
  const { audit: measure } = metrics.policing;
  const onSinkStatus = (status: SinkStatus): void => {
    statuses.note(status);
    measure.sink(status.sinkId, {
      queued: status.queued,
      oldestMs: status.oldestMs,
      lastSuccessS: status.lastSuccessAt === undefined ? null : status.lastSuccessAt / 1_000,
      errors: { ...status.errorsByKind, dead_letter: status.deadLetters },
    });
  };
  const { audit: options } = config;
  const audit = await openAudit({
    worker: new URL('./audit-worker.js', import.meta.url),
    senders: { rules },
    path: options.spool.path,
    durability: options.durability,
    maxBytes: options.spool.max_bytes,
    minFreeBytes: options.spool.min_free_bytes,
    retentionMs: options.retention,
    log,
    onSinkStatus,
    onTrailStatus: ({ recorded, missed, damaged, droppedEarly, usedBytes, open }) => {
      measure.spool({ bytes: usedBytes, events: recorded, open });
      measure.trouble('missed', missed);
      measure.trouble('damaged', damaged);
      measure.trouble('dropped_early', droppedEarly);
      metrics.degraded('audit', !open);
    },
  });
  const outbox = createOutbox({
    records,
    recorder: audit,
    clock: systemClock,
    log,
    organizations: () => idsOf(accounts),
  });
  const sinks = await followSinks(accounts, book, audit, log);
  return {
    audit,
    book,
    trail: { steps: (facts) => [outbox.step(facts)], committed: (partition) => outbox.moveSoon(partition) },
    sinksChanged: sinks.changed,
    async close() {
      sinks.stop();
      await outbox.close();
      await audit.close(LAST_DELIVERIES_MS);
      await statuses.close();
    },
  };
};

const idsOf = async (accounts: Accounts): Promise<readonly string[]> => {
  const ids: string[] = [];
  for (let after: string | undefined; ;) {
    const page = await listOrganizations(accounts, { limit: PAGE, ...(after !== undefined && { after }) });
    ids.push(...page.items.map(({ id }) => id));
    after = ids.at(-1);
    if (!page.hasMore) return ids;
  }
};

/** Keeps the worker told of every organization's sinks, whichever replica changed them. */
const followSinks = async (accounts: Accounts, book: SinkBook, audit: Audit, log: Log) => {
  const { records } = accounts;
  const known = new Map<string, readonly SinkSpec[]>();
  const tell = (): void => audit.setSinks([...known.values()].flat());
  const read = async (organizationIds: readonly string[]): Promise<void> => {
    try {
      for (const id of organizationIds) known.set(id, await openSinks(book, id));
      tell();
    } catch (error) {
      log.warn({ err: error }, 'the sinks could not be read; those known so far go on');
    }
  };
  await read(await idsOf(accounts));
  const stop = watch(records, (organizationId) => {
    void (organizationId === null ? idsOf(accounts).then(read, () => undefined) : read([organizationId]));
  });
  return { changed: (organizationId: string) => void read([organizationId]), stop };
};

const watch = (records: Records, changed: (organizationId: string | null) => void): (() => void) =>
  records.watch((change) => {
    if (change === null) changed(null);
    else if (change.collection === SINKS) changed(change.partition);
  });
