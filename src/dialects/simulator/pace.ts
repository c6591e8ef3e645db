import { UpstreamFault } from '../../io/upstream/provider.js';

/** Timers as a value: tests drive them. */
export interface Timers {
  /** Calls `act` after this long; the function given back calls it off. */
  after(delayMs: number, act: () => void): () => void;
}

/** A longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemTimers: Timers = {
  after(delayMs, act) {
    const timer = setTimeout(act, Math.min(delayMs, LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  },
};

/** A piece of an answer and how long after the piece before it comes. */
export interface Step {
  readonly text: string;
  readonly waitMs: number;
}

export const aborted = (): UpstreamFault =>
  new UpstreamFault('aborted', 'The simulated answer was called off.');

export const reset = (): UpstreamFault => new UpstreamFault('reset', 'The simulated connection was reset.');

/** Resolves after this long, or rejects as soon as the signal aborts. */
export const wait = (timers: Timers, delayMs: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(aborted());
      return;
    }
    if (delayMs <= 0) {
      resolve();
      return;
    }
    const giveUp = (): void => {
      cancel();
      reject(aborted());
    };
    const cancel = timers.after(delayMs, () => {
      signal.removeEventListener('abort', giveUp);
      resolve();
    });
    signal.addEventListener('abort', giveUp, { once: true });
  });

/** The connection breaks once this many events have gone out. */
export function* cutAfter(steps: Iterable<Step>, events: number): Generator<Step> {
  let left = events;
  for (const { text, waitMs } of steps) {
    let end = 0;
    while (left > 0) {
      const next = text.indexOf('\n\n', end);
      if (next < 0) break;
      end = next + 2;
      left--;
    }
    yield { text: left > 0 ? text : text.slice(0, end), waitMs };
    if (left === 0) throw reset();
  }
}

/** A whole body that breaks off in its middle. */
export function* cutInHalf(text: string): Generator<Step> {
  yield { text: text.slice(0, Math.ceil(text.length / 2)), waitMs: 0 };
  throw reset();
}
