import { setImmediate } from 'node:timers/promises';

const SLICE_MS = 6;

/** Lets others have their turn between pieces of work each too short to do so itself. */
export class Turns {
  #since = performance.now();

  get isOver(): boolean {
    return performance.now() - this.#since >= SLICE_MS;
  }

  async next(): Promise<void> {
    await setImmediate();
    this.#since = performance.now();
  }
}
