import type { Clock } from '../../core/clock.js';
import { gapFacts, writeBody } from './event.js';
import type { Entry } from './spool.js';

const TOLD_EVERY_MS = 60_000;

/** Counts what could not be recorded, so that the trail itself tells of it: per organization at most once a minute. */
export class Gaps {
  readonly #clock: Clock;
  readonly #missed = new Map<string, { count: number; readonly sinceMs: number }>();
  readonly #toldMs = new Map<string, number>();
  /** Since the start. */
  total = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  miss(organizationId: string, count = 1): void {
    this.total += count;
    const known = this.#missed.get(organizationId);
    if (known) known.count += count;
    else this.#missed.set(organizationId, { count, sinceMs: this.#clock.nowMs() });
  }

  untold(): (readonly [organizationId: string, count: number])[] {
    return [...this.#missed].map(([id, { count }]) => [id, count] as const);
  }

  /** Hands what is due to `append`, and forgets it once that did not throw. */
  tell(append: (entries: readonly Entry[]) => void, everything = false): void {
    const nowMs = this.#clock.nowMs();
    const due = [...this.#missed].filter(
      ([id]) => everything || nowMs - (this.#toldMs.get(id) ?? -Infinity) >= TOLD_EVERY_MS,
    );
    if (due.length > 0) {
      append(
        due.map(([organizationId, { count, sinceMs }]) => entryOf(organizationId, count, sinceMs, nowMs)),
      );
      for (const [id] of due) {
        this.#missed.delete(id);
        this.#toldMs.set(id, nowMs);
      }
    }
    for (const [id, toldMs] of this.#toldMs) if (nowMs - toldMs >= TOLD_EVERY_MS) this.#toldMs.delete(id);
  }
}

function entryOf(organizationId: string, missed: number, sinceMs: number, untilMs: number): Entry {
  const details = {
    reason: 'not_recorded',
    missed,
    since: new Date(sinceMs).toISOString(),
    until: new Date(untilMs).toISOString(),
  };
  return { organizationId, body: writeBody(gapFacts(organizationId, details)) };
}
