import type { Log } from '../../core/log.js';
import type { Records } from '../../io/records/records.js';

export interface UseLogOptions {
  readonly records: Records;
  readonly log: Log;
  readonly flushEveryMs: number;
}

/** Remembers when keys were used and writes it down now and then: a request costs no write. */
export class UseLog {
  #uses = new Map<string, Map<string, number>>();
  #timer: NodeJS.Timeout | null = null;
  #closed = false;
  readonly #options: UseLogOptions;

  constructor(options: UseLogOptions) {
    this.#options = options;
  }

  note(partition: string, id: string, usedMs: number): void {
    let uses = this.#uses.get(partition);
    if (!uses) this.#uses.set(partition, (uses = new Map<string, number>()));
    uses.set(id, usedMs);
    if (this.#timer || this.#closed) return;
    this.#timer = setTimeout(() => void this.#flush(), this.#options.flushEveryMs);
    this.#timer.unref();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#flush();
  }

  async #flush(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const taken = this.#uses;
    this.#uses = new Map();
    for (const [partition, uses] of taken) {
      try {
        await this.#options.records.noteUses(partition, uses);
      } catch (error) {
        this.#options.log.warn({ err: error, partition }, 'The last use of keys could not be written down.');
        this.#takeBack(partition, uses);
      }
    }
  }

  /** For the next flush; what was used again meanwhile is newer. */
  #takeBack(partition: string, uses: ReadonlyMap<string, number>): void {
    this.#uses.set(partition, new Map([...uses, ...(this.#uses.get(partition) ?? [])]));
  }
}
