import type { Clock } from '../../src/core/clock.js';

/** Time that moves only when a test says so. */
export class ManualClock implements Clock {
  #nowMs: number;
  #ticksMs = 1_000;

  constructor(nowMs = Date.UTC(2031, 0, 31, 12)) {
    this.#nowMs = nowMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  ticksMs(): number {
    return this.#ticksMs;
  }

  advance(durationMs: number): void {
    this.#nowMs += durationMs;
    this.#ticksMs += durationMs;
  }
}
