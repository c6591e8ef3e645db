/** Time as a value: tests pass their own. */
export interface Clock {
  /** Wall time, milliseconds since 1970: for timestamps and expiry. */
  nowMs(): number;
  /** Monotonic milliseconds: for durations. */
  ticksMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now(), ticksMs: () => performance.now() };
