import type { Metric, Outcome, Reading, SettleReply, Space } from './limiter.js';

export interface Decision {
  readonly space: Space;
  readonly outcome: Outcome | 'unavailable';
  readonly scope: Reading['scope'] | null;
  readonly metric: Metric | 'credits' | null;
  /** Taken without the shared limiter. */
  readonly degraded: boolean;
}

/** What the limiter tells of itself, for metrics and the log. */
export interface LimitEvents {
  decided(decision: Decision): void;
  settled(outcome: SettleReply['outcome'], overdraft: number): void;
  /** Leases nobody had renewed. */
  pruned(leases: number): void;
  clockStepped(): void;
  /** The shared limiter went away, or is back. */
  degraded(on: boolean): void;
  /** Usage waiting to be posted, and what had to be dropped because too much was waiting. */
  waiting(settlements: number, dropped: number): void;
}

export const silentEvents: LimitEvents = {
  decided() {},
  settled() {},
  pruned() {},
  clockStepped() {},
  degraded() {},
  waiting() {},
};
