import { LRUCache } from 'lru-cache';
import type { Log } from '../../core/log.js';
import type { Records, Step } from '../../io/records/records.js';
import type { RefusalFacts } from './facts.js';

export interface RefusalsOptions {
  readonly records: Records;
  readonly log: Log;
  readonly flushEveryMs?: number;
}

const COLLECTION = 'refusals';
const KEEP_MS = 3_600_000;
const MOST_REMEMBERED = 10_000;
/** Most that wait to be written: a flood of refusals must not become a flood of writes. */
const MOST_WAITING = 500;
const STEPS_AT_ONCE = 50;

/** Why requests were refused, for an hour: here at once, for other replicas within a second. */
export class Refusals {
  readonly #options: RefusalsOptions;
  readonly #known = new LRUCache<string, RefusalFacts>({ max: MOST_REMEMBERED, ttl: KEEP_MS });
  #waiting: RefusalFacts[] = [];
  #timer: NodeJS.Timeout | null = null;
  #flushing: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: RefusalsOptions) {
    this.#options = options;
  }

  note(facts: RefusalFacts): void {
    this.#known.set(facts.requestId, facts);
    if (this.#waiting.length < MOST_WAITING) this.#waiting.push(facts);
    if (this.#timer || this.#isClosed) return;
    this.#timer = setTimeout(() => this.#flush(), this.#options.flushEveryMs ?? 1_000);
    this.#timer.unref();
  }

  /** null = no such refusal of this organization in the last hour. */
  async find(organizationId: string, requestId: string): Promise<RefusalFacts | null> {
    const known = this.#known.get(requestId);
    if (known) return known.organizationId === organizationId ? known : null;
    const stored = await this.#options.records.get(organizationId, COLLECTION, requestId);
    return stored && (stored.value as unknown as RefusalFacts);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#flush();
    await this.#flushing;
  }

  #flush(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const taken = this.#waiting;
    this.#waiting = [];
    this.#flushing = this.#flushing.then(() => this.#write(taken));
  }

  async #write(taken: readonly RefusalFacts[]): Promise<void> {
    const byOrganization = new Map<string, Step[]>();
    for (const facts of taken) {
      const steps = byOrganization.get(facts.organizationId) ?? [];
      byOrganization.set(facts.organizationId, steps);
      steps.push({
        op: 'put',
        collection: COLLECTION,
        id: facts.requestId,
        value: { ...facts },
        expect: 'any',
        ttlMs: KEEP_MS,
      });
    }
    try {
      for (const [organizationId, steps] of byOrganization)
        for (let at = 0; at < steps.length; at += STEPS_AT_ONCE)
          await this.#options.records.commit(organizationId, steps.slice(at, at + STEPS_AT_ONCE));
    } catch (error) {
      this.#options.log.warn({ err: error, refusals: taken.length }, 'Refusals could not be written down.');
    }
  }
}
