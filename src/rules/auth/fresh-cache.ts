import { LRUCache } from 'lru-cache';
import type { Clock } from '../../core/clock.js';
import { storeUnavailable } from '../../core/errors.js';
import { StoreUnavailable } from '../../io/records/records.js';

/** A change made elsewhere acts within this time, also when no notice of it arrives. */
const FRESH_MS = 1_000;
/** How long what was seen keeps serving while the store is away. */
export const STALE_MS = 10 * 60_000;
const ASK_AGAIN_MS = 1_000;
const MISS_MS = 1_000;
const MISSES = 1_000;

/** Whether the store answers. While it does not, one request a second asks it again and the others need not wait. */
export class StoreHealth {
  #away = false;
  #askAgainMs = 0;
  readonly #onDegraded: (degraded: boolean) => void;

  constructor(onDegraded: (degraded: boolean) => void) {
    this.#onDegraded = onDegraded;
  }

  get degraded(): boolean {
    return this.#away;
  }

  mayAsk(ticksMs: number): boolean {
    if (!this.#away) return true;
    if (ticksMs < this.#askAgainMs) return false;
    this.#askAgainMs = ticksMs + ASK_AGAIN_MS;
    return true;
  }

  failed(ticksMs: number): void {
    this.#askAgainMs = ticksMs + ASK_AGAIN_MS;
    this.#turn(true);
  }

  answered(): void {
    this.#turn(false);
  }

  #turn(away: boolean): void {
    if (this.#away === away) return;
    this.#away = away;
    this.#onDegraded(away);
  }
}

export interface FreshCacheOptions<T> {
  readonly max: number;
  readonly clock: Clock;
  readonly health: StoreHealth;
  /** Reads from the store; null = not there. `previous` is what was read before. */
  readonly load: (id: string, previous: T | null) => Promise<T | null>;
}

interface Entry<T> {
  readonly value: T;
  /** When it was last confirmed; in doubt = it must be confirmed before it serves again. */
  readonly confirmedMs: number;
  doubted: boolean;
}

/** What the store says, at most a second old; or, while the store is away, what it said last. */
export class FreshCache<T extends object> {
  readonly #clock: Clock;
  readonly #health: StoreHealth;
  readonly #load: FreshCacheOptions<T>['load'];
  readonly #entries: LRUCache<string, Entry<T>>;
  readonly #misses = new LRUCache<string, { readonly untilMs: number }>({ max: MISSES });
  readonly #pending = new Map<string, Promise<T | null>>();
  #changes = 0;

  constructor({ max, clock, health, load }: FreshCacheOptions<T>) {
    this.#clock = clock;
    this.#health = health;
    this.#load = load;
    this.#entries = new LRUCache({ max });
  }

  /** What may be used without asking; undefined = `get` it. */
  fresh(id: string): T | undefined {
    const entry = this.#entries.get(id);
    return entry && !entry.doubted && this.#clock.ticksMs() - entry.confirmedMs < FRESH_MS
      ? entry.value
      : undefined;
  }

  async get(id: string): Promise<T | null> {
    const fresh = this.fresh(id);
    if (fresh) return fresh;
    const nowMs = this.#clock.ticksMs();
    const miss = this.#misses.get(id);
    if (miss && nowMs < miss.untilMs) return null;
    const entry = this.#entries.get(id);
    if (entry && this.#servesStale(entry) && !this.#health.mayAsk(nowMs)) return entry.value;
    const pending = this.#pending.get(id);
    if (pending) return pending;
    const asked = this.#ask(id).finally(() => this.#pending.delete(id));
    this.#pending.set(id, asked);
    return asked;
  }

  /** It changed (undefined = one not held): what was known of it no longer serves, not even while the store is away. */
  drop(id: string | undefined): void {
    this.#changes++;
    this.#misses.clear();
    if (id !== undefined) this.#entries.delete(id);
  }

  /** Anything may have changed. */
  doubt(): void {
    this.#changes++;
    this.#misses.clear();
    for (const entry of this.#entries.values()) entry.doubted = true;
  }

  #servesStale(entry: Entry<T>): boolean {
    return this.#clock.ticksMs() - entry.confirmedMs < STALE_MS;
  }

  async #ask(id: string): Promise<T | null> {
    const confirmedMs = this.#clock.ticksMs();
    const changes = this.#changes;
    let value: T | null;
    try {
      value = await this.#load(id, this.#entries.peek(id)?.value ?? null);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      this.#health.failed(this.#clock.ticksMs());
      const entry = this.#entries.get(id);
      if (entry && this.#servesStale(entry)) return entry.value;
      throw storeUnavailable(error);
    }
    this.#health.answered();
    // Read before a change that was announced meanwhile: good for those who asked, not for later ones.
    const doubted = changes !== this.#changes;
    if (value) {
      this.#entries.set(id, { value, confirmedMs, doubted });
    } else {
      this.#entries.delete(id);
      if (!doubted) this.#misses.set(id, { untilMs: confirmedMs + MISS_MS });
    }
    return value;
  }
}
