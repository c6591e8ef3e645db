import type { Clock } from '../../../src/core/clock.js';
import type { Timers } from '../../../src/dialects/simulator/pace.js';

/** A clock and timers that only move when told to. */
export interface DrivenTime {
  readonly clock: Clock;
  readonly timers: Timers;
  /** Timers set and not yet due or called off. */
  readonly waiting: number;
  /** Moves the clock, calling what comes due on the way, in order, and letting its effects happen. */
  advance(ms: number): Promise<void>;
}

/** Lets streams and promises do what they have begun. */
export const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
};

export const driveTime = (): DrivenTime => {
  let nowMs = 0;
  const set = new Set<{ readonly dueMs: number; readonly act: () => void }>();
  return {
    clock: { nowMs: () => 1_800_000_000_000 + nowMs, ticksMs: () => nowMs },
    timers: {
      after(delayMs, act) {
        const timer = { dueMs: nowMs + delayMs, act };
        set.add(timer);
        return () => void set.delete(timer);
      },
    },
    get waiting() {
      return set.size;
    },
    async advance(ms) {
      const endMs = nowMs + ms;
      await settle();
      for (;;) {
        const [next] = [...set].filter(({ dueMs }) => dueMs <= endMs).sort((a, b) => a.dueMs - b.dueMs);
        if (!next) break;
        set.delete(next);
        nowMs = Math.max(nowMs, next.dueMs);
        next.act();
        await settle();
      }
      nowMs = endMs;
    },
  };
};
