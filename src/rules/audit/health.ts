import type { Clock } from '../../core/clock.js';
import type { Outcome } from '../../core/sink.js';
import { heldDelayMs, retryDelayMs } from './backoff.js';
import type { Verdict } from './parcels.js';
import { errorKinds, type ErrorKind, type SinkStatus } from './status.js';

const FAILURES_UNTIL_OPEN = 5;

/** How one destination has been doing, and how long to leave it alone when it fails. */
export class Health {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #errors = Object.fromEntries(errorKinds.map((kind) => [kind, 0])) as Record<ErrorKind, number>;
  #failures = 0;
  #deadLetters = 0;
  #last: Pick<SinkStatus, 'lastSuccessAt' | 'lastErrorAt' | 'lastError'> = {};

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  note(verdict: Verdict, kind: Outcome['kind']): void {
    const { done, dead, reason } = verdict;
    this.#deadLetters += dead.length;
    if (done.length > dead.length) {
      this.#failures = 0;
      this.#last = { ...this.#last, lastSuccessAt: this.#clock.nowMs() };
    }
    if (reason !== undefined) this.noteError(kindOf(kind, verdict), reason);
  }

  noteError(kind: ErrorKind, reason: string): void {
    this.#errors[kind]++;
    this.#last = { ...this.#last, lastErrorAt: this.#clock.nowMs(), lastError: reason };
  }

  /** One more failure in a row; gives how long to wait. */
  fail(pause: 'retry' | 'held', retryAfterMs?: number): number {
    const failures = ++this.#failures;
    return pause === 'held'
      ? heldDelayMs(failures, this.#random())
      : retryDelayMs(failures, this.#random(), retryAfterMs);
  }

  forgive(): void {
    this.#failures = 0;
  }

  status(): Omit<SinkStatus, 'sinkId' | 'organizationId' | 'queued' | 'oldestMs'> {
    return {
      ...this.#last,
      errorsByKind: { ...this.#errors },
      deadLetters: this.#deadLetters,
      circuit: this.#failures >= FAILURES_UNTIL_OPEN ? 'open' : 'closed',
    };
  }
}

const kindOf = (kind: Outcome['kind'], { pause }: Verdict): ErrorKind => {
  if (kind === 'split' || kind === 'poison') return kind;
  return pause === 'none' ? 'poison' : pause;
};
