import { LRUCache } from 'lru-cache';
import type { Clock } from '../../core/clock.js';
import { silentLog, type Log } from '../../core/log.js';
import type { Change, Records } from './records.js';

export interface LiveOptions<T> {
  readonly records: Records;
  readonly clock: Clock;
  readonly log?: Log;
  /** Makes the value of a partition from the store; `previous` is the one before, to take over what stayed. */
  readonly load: (partition: string, previous: T | null) => Promise<T>;
  /** Whether a change alters what `load` gives for the partition it happened in. */
  readonly touches: (change: NonNullable<Change>) => boolean;
  /** Partitions kept; the one that was not asked for longest goes first. */
  readonly max?: number;
  /** Told when a value can no longer be confirmed (true), and when it can be again (false). */
  readonly onStale?: (partition: string, stale: boolean) => void;
  /** How long a reader waits for a change that is known before it gets what was there. */
  readonly waitMs?: number;
}

/** Values made from a partition each, kept in memory and never more than about a second behind the store (D32). */
export interface Live<T> {
  /** At once where it is known; the first time, and just after a change, a promise. Only the first load can fail. */
  get(partition: string): T | Promise<T>;
  ready(partition: string): Promise<void>;
  /** Whether what it serves could not be confirmed when it was last tried. */
  stale(partition: string): boolean;
  close(): void;
}

/** How old a value may get before the store is asked whether anything changed: notices can be lost. */
const CHECK_EVERY_MS = 800;
const WAIT_MS = 750;
const MOST_PARTITIONS = 10_000;

interface Entry<T> {
  value: T;
  generation: number;
  /** Counts the changes that were told. */
  told: number;
  /** It must be loaded again, whatever the generation says. */
  outdated: boolean;
  /** Readers should wait for the confirmation that is under way. */
  doubted: boolean;
  checkedMs: number;
  stale: boolean;
  pending: Promise<void> | null;
}

export const createLive = <T>(options: LiveOptions<T>): Live<T> => new LiveValues(options);

class LiveValues<T> implements Live<T> {
  readonly #options: LiveOptions<T>;
  readonly #log: Log;
  readonly #entries: LRUCache<string, Entry<T>>;
  readonly #loading = new Map<string, { readonly value: Promise<T>; told: number }>();
  readonly #unwatch: () => void;

  constructor(options: LiveOptions<T>) {
    this.#options = options;
    this.#log = options.log ?? silentLog;
    this.#entries = new LRUCache({ max: options.max ?? MOST_PARTITIONS });
    this.#unwatch = options.records.watch((change) => this.#hear(change));
  }

  get(partition: string): T | Promise<T> {
    const entry = this.#entries.get(partition);
    if (!entry) return this.#first(partition);
    const isDue = this.#options.clock.ticksMs() - entry.checkedMs >= CHECK_EVERY_MS;
    if (!entry.pending && (entry.doubted || isDue)) this.#confirm(partition, entry);
    return entry.doubted && entry.pending ? this.#settled(entry, entry.pending) : entry.value;
  }

  async ready(partition: string): Promise<void> {
    await this.get(partition);
  }

  stale(partition: string): boolean {
    return this.#entries.peek(partition)?.stale ?? false;
  }

  close(): void {
    this.#unwatch();
    this.#entries.clear();
  }

  #first(partition: string): Promise<T> {
    const loading = this.#loading.get(partition);
    if (loading) return loading.value;
    const started = { value: this.#load(partition), told: 0 };
    this.#loading.set(partition, started);
    return started.value;
  }

  async #load(partition: string): Promise<T> {
    const { records, load, clock } = this.#options;
    try {
      const generation = await records.generation(partition);
      const value = await load(partition, null);
      // Told meanwhile: good for those who asked before, to be loaded again for those who come.
      const isOutdated = (this.#loading.get(partition)?.told ?? 0) > 0;
      this.#entries.set(partition, {
        value,
        generation,
        told: 0,
        outdated: isOutdated,
        doubted: isOutdated,
        checkedMs: clock.ticksMs(),
        stale: false,
        pending: null,
      });
      return value;
    } finally {
      this.#loading.delete(partition);
    }
  }

  #hear(change: Change): void {
    if (change === null) {
      for (const loading of this.#loading.values()) loading.told += 1;
      for (const entry of this.#entries.values()) entry.doubted = true;
      void this.#confirmAll();
    } else if (this.#options.touches(change)) {
      const loading = this.#loading.get(change.partition);
      if (loading) loading.told += 1;
      const entry = this.#entries.peek(change.partition);
      if (!entry) return;
      entry.told += 1;
      entry.outdated = true;
      entry.doubted = true;
      if (!entry.pending) this.#confirm(change.partition, entry);
    }
  }

  /** One after the other: the store has just been away, and has others to serve. */
  async #confirmAll(): Promise<void> {
    for (const partition of [...this.#entries.keys()]) {
      const entry = this.#entries.peek(partition);
      if (!entry?.doubted) continue;
      if (!entry.pending) this.#confirm(partition, entry);
      await entry.pending;
    }
  }

  #confirm(partition: string, entry: Entry<T>): void {
    entry.pending = this.#refresh(partition, entry);
  }

  /** Never rejects. */
  async #refresh(partition: string, entry: Entry<T>): Promise<void> {
    const { records, load, clock } = this.#options;
    try {
      do {
        const { told } = entry;
        const generation = await records.generation(partition);
        if (entry.outdated || generation !== entry.generation) {
          entry.outdated = true;
          entry.value = await load(partition, entry.value);
          entry.generation = generation;
        }
        entry.outdated = entry.told !== told;
      } while (entry.outdated);
      this.#turn(partition, entry, false);
    } catch (error) {
      if (!entry.stale)
        this.#log.warn({ err: error }, 'What is in force could not be confirmed; it serves as it is.');
      this.#turn(partition, entry, true);
    }
    entry.checkedMs = clock.ticksMs();
    entry.doubted = false;
    entry.pending = null;
  }

  #turn(partition: string, entry: Entry<T>, stale: boolean): void {
    if (entry.stale === stale) return;
    entry.stale = stale;
    this.#options.onStale?.(partition, stale);
  }

  /** The value after the confirmation, or what is there when that takes long. */
  async #settled(entry: Entry<T>, pending: Promise<void>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#options.waitMs ?? WAIT_MS);
    });
    await Promise.race([pending, late]);
    clearTimeout(timer);
    return entry.value;
  }
}
