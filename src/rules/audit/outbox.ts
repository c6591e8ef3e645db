import { blankFacts, type AuditFacts } from '../../core/audit.js';
import { systemClock, type Clock } from '../../core/clock.js';
import { newId } from '../../core/ids.js';
import { silentLog, type Log } from '../../core/log.js';
import { GLOBAL, type Records, type Step, type Stored } from '../../io/records/records.js';
import type { Audit } from './audit.js';

const OUTBOX = 'outbox';
const AT_ONCE = 100;
const CLAIM_MS = 30_000;
const SWEEP_MS = 30_000;
const SWEEP_CLAIM_MS = 25_000;

/** Puts an event into the commit of the change it tells of: it is there exactly when the change is (D28). */
export const outboxStep = (facts: AuditFacts, clock: Clock = systemClock): Step => {
  const id = facts.event_id ?? newId('evt');
  const created_at = facts.created_at ?? new Date(clock.nowMs()).toISOString();
  const value = { ...facts, event_id: id, created_at };
  return { op: 'put', collection: OUTBOX, id, value, expect: 'any' };
};

export interface OutboxOptions {
  readonly records: Records;
  readonly recorder: Pick<Audit, 'confirm'>;
  /** Every organization there is, for what was left behind. */
  readonly organizations: () => Promise<readonly string[]>;
  readonly clock?: Clock;
  readonly log?: Log;
}

/**
 * Moves events of administration changes from the records to the spool. A crash in between leaves them where they were,
 * so one may be moved twice: under the same id, which the spool takes once.
 */
export function createOutbox({ records, recorder, organizations, clock, log = silentLog }: OutboxOptions) {
  const moving = new Map<string, Promise<void>>();
  const again = new Set<string>();
  const life = { isClosed: false };

  /** Resolves when everything that was in the outbox of a partition is in the spool, or another replica is at it. */
  async function move(partition: string): Promise<void> {
    if (life.isClosed || !(await records.claim(`outbox:${partition}`, CLAIM_MS))) return;
    try {
      for (let hasMore = true; hasMore;) {
        const page = await records.list(partition, OUTBOX, { limit: AT_ONCE });
        if (page.items.length === 0) return;
        await Promise.all(page.items.map(({ value }) => recorder.confirm(readFacts(value))));
        await records.commit(partition, page.items.map(removal));
        hasMore = page.hasMore;
      }
    } finally {
      await records.unclaim(`outbox:${partition}`);
    }
  }

  /** Right after a commit; whoever made it does not wait. */
  function moveSoon(partition: string): void {
    if (life.isClosed) return;
    if (moving.has(partition)) {
      again.add(partition); // it came after the look of the one under way
      return;
    }
    const done = move(partition)
      .catch((error: unknown) => log.warn({ err: error, partition }, 'Audit events wait in the outbox.'))
      .finally(() => {
        moving.delete(partition);
        if (again.delete(partition)) moveSoon(partition);
      });
    moving.set(partition, done);
  }

  /** Picks up what a crash or a full spool left behind, in one replica at a time. */
  async function sweep(): Promise<void> {
    try {
      if (life.isClosed || !(await records.claim('outbox-sweep', SWEEP_CLAIM_MS))) return;
      for (const partition of [GLOBAL, ...(await organizations())]) {
        const { items } = await records.list(partition, OUTBOX, { limit: 1 });
        if (items.length > 0) moveSoon(partition);
      }
    } catch (error) {
      log.warn({ err: error }, 'The outbox could not be looked through.');
    }
  }

  let sweeping = sweep();
  const timer = setInterval(() => {
    sweeping = sweeping.then(sweep);
  }, SWEEP_MS).unref();

  return {
    step: (facts: AuditFacts): Step => outboxStep(facts, clock),
    move,
    moveSoon,
    sweep,
    /** Waits for what is under way; what is left stays in the records. */
    async close(): Promise<void> {
      life.isClosed = true;
      clearInterval(timer);
      await sweeping;
      await Promise.all(moving.values());
    },
  };
}

/** Another release may have written it, with fewer fields. */
const readFacts = (value: Stored['value']): AuditFacts => {
  const facts = value as unknown as AuditFacts;
  return { ...blankFacts(facts.event_type, facts.org_id), ...facts };
};

const removal = ({ id }: { readonly id: string }): Step => ({
  op: 'delete',
  collection: OUTBOX,
  id,
  expect: 'any',
});
