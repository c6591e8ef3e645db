import type { Log } from '../../core/log.js';
import type { Change } from './records.js';

/** The listeners of one store; a listener that throws harms no other and not the store. */
export class ChangeFeed {
  readonly #listeners = new Set<(change: Change) => void>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  watch(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  tell(change: Change): void {
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (error) {
        this.#log.error({ err: error }, 'A listener for changes of the records failed.');
      }
    }
  }

  clear(): void {
    this.#listeners.clear();
  }
}
