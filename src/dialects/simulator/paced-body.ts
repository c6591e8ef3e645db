import { Readable } from 'node:stream';
import type { Clock } from '../../core/clock.js';
import { aborted, type Step, type Timers } from './pace.js';

export interface PacedBodyOptions {
  readonly steps: Iterator<Step>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly signal: AbortSignal;
}

const CHUNK_CHARS = 16_384;

/** Bytes at their pace, made only when asked for. Steps that are due together leave in one chunk. */
export class PacedBody extends Readable {
  readonly #steps: Iterator<Step>;
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #signal: AbortSignal;
  readonly #abort = (): void => void this.destroy(aborted());
  #dueMs: number;
  #held: string | null = null;
  #fault: Error | null = null;
  #cancel: (() => void) | null = null;

  constructor(options: PacedBodyOptions) {
    // Nothing is read ahead: the next chunk is made when the last one has left, so a break loses nothing before it.
    super({ highWaterMark: 0 });
    this.#steps = options.steps;
    this.#clock = options.clock;
    this.#timers = options.timers;
    this.#signal = options.signal;
    this.#dueMs = options.clock.ticksMs();
    // A break while nobody listens must not end the process.
    this.on('error', () => {});
    this.#signal.addEventListener('abort', this.#abort, { once: true });
    if (this.#signal.aborted) this.#abort();
  }

  override _read(): void {
    if (this.#fault) {
      this.destroy(this.#fault);
      return;
    }
    if (this.#cancel === null) this.#fill();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#cancel?.();
    this.#cancel = null;
    this.#signal.removeEventListener('abort', this.#abort);
    this.#steps.return?.();
    callback(error);
  }

  #fill(): void {
    const nowMs = this.#clock.ticksMs();
    let chunk = '';
    try {
      while (chunk.length < CHUNK_CHARS) {
        if (this.#held === null && !this.#take()) {
          if (chunk !== '') this.push(chunk);
          this.push(null);
          return;
        }
        if (this.#dueMs > nowMs) break;
        chunk += this.#held ?? '';
        this.#held = null;
      }
    } catch (error) {
      this.#fault = error as Error;
      if (chunk === '') this.destroy(this.#fault);
    }
    if (chunk !== '') this.push(chunk);
    else if (!this.#fault) this.#wake(this.#dueMs - nowMs);
  }

  /** The next step, if there is one; throws where the connection breaks. */
  #take(): boolean {
    const next = this.#steps.next();
    if (next.done === true) return false;
    this.#held = next.value.text;
    this.#dueMs += next.value.waitMs;
    return true;
  }

  #wake(delayMs: number): void {
    this.#cancel = this.#timers.after(delayMs, () => {
      this.#cancel = null;
      this.#fill();
    });
  }
}
