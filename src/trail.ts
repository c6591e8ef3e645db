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
  /** The sinks of an organization are others now; resolves when the next event finds them so. */
  readonly sinksChanged: (organizationId: string) => Promise<void>;
  close(): Promise<void>;
}

const PAGE = 100;
const LAST_DELIVERIES_MS = 5_000;
const READ_AGAIN_MS = 5_000;

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
  const current = new Set<string>();
  const onSinkStatus = (status: SinkStatus): void => {
    if (!current.has(status.sinkId)) return; // deleted meanwhile
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
    onTrailStatus: ({
      recorded,
      missed,
      damaged,
      droppedEarly,
      usedBytes,
      waitingBytes,
      limitBytes,
      open,
    }) => {
      measure.spool({ bytes: usedBytes, waiting: waitingBytes, limit: limitBytes, events: recorded, open });
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
  const sinks = await followSinks(accounts, book, log, (specs) => {
    const ids = new Set(specs.map(({ id }) => id));
    for (const id of current)
      if (!ids.has(id)) {
        current.delete(id);
        measure.forget(id);
      }
    for (const id of ids) current.add(id);
    audit.setSinks(specs);
  });
  return {
    audit,
    book,
    trail: { steps: (facts) => [outbox.step(facts)], committed: (partition) => outbox.moveSoon(partition) },
    sinksChanged: sinks.changed,
    async close() {
      await sinks.stop();
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

/** Tells of every organization's sinks, whichever replica changed them. */
const followSinks = async (
  accounts: Accounts,
  book: SinkBook,
  log: Log,
  told: (specs: readonly SinkSpec[]) => void,
) => {
  const known = new Map<string, readonly SinkSpec[]>();
  // A sink that is not told of is forgotten with its place, so nothing is told before every organization was read.
  let isWhole = false;
  let again: NodeJS.Timeout | null = null;
  let turn = Promise.resolve();
  const readNow = async (changed: string | null): Promise<void> => {
    if (again) clearTimeout(again);
    try {
      const ids = isWhole && changed !== null ? [changed] : await idsOf(accounts);
      for (const id of ids) known.set(id, await openSinks(book, id));
      isWhole = true;
      told([...known.values()].flat());
    } catch (error) {
      isWhole = false;
      again = setTimeout(() => void read(null), READ_AGAIN_MS).unref();
      log.warn({ err: error }, 'the sinks could not be read; those known so far go on');
    }
  };
  /** One after the other, so that the latest state is told last. */
  const read = (changed: string | null): Promise<void> => (turn = turn.then(() => readNow(changed)));
  const unwatch = watch(accounts.records, (changed) => void read(changed));
  await read(null);
  return {
    changed: read,
    async stop() {
      unwatch();
      await turn;
      if (again) clearTimeout(again);
    },
  };
};

const watch = (records: Records, changed: (organizationId: string | null) => void): (() => void) =>
  records.watch((change) => {
    if (change === null) changed(null);
    else if (change.collection === SINKS) changed(change.partition);
  });
