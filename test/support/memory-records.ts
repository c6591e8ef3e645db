import { systemClock, type Clock } from '../../src/core/clock.js';
import {
  StoreUnavailable,
  type Change,
  type Committed,
  type Expect,
  type Page,
  type Pointer,
  type Records,
  type Step,
  type Stored,
} from '../../src/io/records/records.js';

interface Held extends Stored {
  readonly untilMs: number;
  readonly listed: boolean;
}

interface Shared {
  documents: Map<string, Held>;
  pointers: Map<string, Pointer>;
  readonly claims: Map<string, { readonly owner: object; readonly untilMs: number }>;
  readonly uses: Map<string, number>;
  readonly generations: Map<string, number>;
  readonly openers: Set<MemoryRecords>;
}

/** Records in this process, with the switches that tests need: the store can go away and its notices can be lost. */
export class MemoryRecords implements Records {
  /** Every call fails. */
  down = false;
  /** No change is told. */
  deaf = false;
  /** How often each method was called. */
  readonly calls = new Map<string, number>();
  /** Awaited by every call. */
  delay: () => Promise<void> = () => Promise.resolve();
  readonly #clock: Clock;
  readonly #shared: Shared;
  readonly #listeners = new Set<(change: Change) => void>();

  constructor(clock: Clock = systemClock, shared?: Shared) {
    this.#clock = clock;
    this.#shared = shared ?? {
      documents: new Map(),
      pointers: new Map(),
      claims: new Map(),
      uses: new Map(),
      generations: new Map(),
      openers: new Set(),
    };
    this.#shared.openers.add(this);
  }

  /** The same store as another process sees it. */
  opener(): MemoryRecords {
    return new MemoryRecords(this.#clock, this.#shared);
  }

  async get(partition: string, collection: string, id: string): Promise<Stored | null> {
    await this.#called('get');
    const { documents } = this.#shared;
    const held = documents.get(place(partition, collection, id));
    return held && held.untilMs > this.#clock.nowMs() ? show(held) : null;
  }

  async list(partition: string, collection: string, { after, limit, order = 'asc' }: Page) {
    await this.#called('list');
    const all = this.#members(partition, collection)
      .filter(({ id }) => after === undefined || (order === 'asc' ? id > after : id < after))
      .sort((a, b) => (a.id < b.id === (order === 'asc') ? -1 : 1));
    return { items: all.slice(0, limit).map(show), hasMore: all.length > limit };
  }

  async commit(partition: string, steps: readonly Step[]): Promise<Committed> {
    await this.#called('commit');
    const { documents, pointers } = this.#shared;
    const before = { documents: new Map(documents), pointers: new Map(pointers) };
    const revisions: number[] = [];
    for (const [step, one] of steps.entries()) {
      const outcome = this.#apply(partition, one);
      if (typeof outcome !== 'number') {
        Object.assign(this.#shared, before);
        return { ok: false, step, ...outcome };
      }
      revisions.push(outcome);
    }
    this.#shared.generations.set(partition, (this.#shared.generations.get(partition) ?? 0) + 1);
    for (const step of steps)
      if (step.op === 'put' || step.op === 'delete')
        for (const opener of this.#shared.openers)
          opener.tell({ partition, collection: step.collection, id: step.id });
    return { ok: true, revisions };
  }

  async generation(partition: string): Promise<number> {
    await this.#called('generation');
    return this.#shared.generations.get(partition) ?? 0;
  }

  async find(digest: string): Promise<Pointer | null> {
    await this.#called('find');
    return this.#shared.pointers.get(digest) ?? null;
  }

  async claim(name: string, ttlMs: number): Promise<boolean> {
    await this.#called('claim');
    const nowMs = this.#clock.nowMs();
    if ((this.#shared.claims.get(name)?.untilMs ?? 0) > nowMs) return false;
    this.#shared.claims.set(name, { owner: this, untilMs: nowMs + ttlMs });
    return true;
  }

  async unclaim(name: string): Promise<void> {
    await this.#called('unclaim');
    if (this.#shared.claims.get(name)?.owner === this) this.#shared.claims.delete(name);
  }

  async noteUses(partition: string, uses: ReadonlyMap<string, number>): Promise<void> {
    await this.#called('noteUses');
    for (const [id, usedMs] of uses) this.#shared.uses.set(`${partition} ${id}`, usedMs);
  }

  async lastUses(partition: string, ids: readonly string[]): Promise<readonly (number | null)[]> {
    await this.#called('lastUses');
    return ids.map((id) => this.#shared.uses.get(`${partition} ${id}`) ?? null);
  }

  watch(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  tell(change: Change): void {
    if (!this.deaf) for (const listener of this.#listeners) listener(change);
  }

  async ping(): Promise<void> {
    await this.#called('ping');
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    this.#shared.openers.delete(this);
  }

  /** Everything that is kept, as text: to look for what must not be in it. */
  dump(): string {
    const { documents, pointers, claims } = this.#shared;
    return JSON.stringify([[...documents], [...pointers], [...claims.keys()]]);
  }

  async #called(method: string): Promise<void> {
    this.calls.set(method, (this.calls.get(method) ?? 0) + 1);
    await this.delay();
    if (this.down) throw new StoreUnavailable(new Error('down'));
  }

  #members(partition: string, collection: string): Held[] {
    const start = place(partition, collection, '');
    return [...this.#shared.documents]
      .filter(([key, { listed }]) => listed && key.startsWith(start))
      .map(([, held]) => held);
  }

  #apply(
    partition: string,
    step: Step,
  ):
    | number
    | { readonly reason: 'exists' | 'missing' | 'revision' | 'full'; readonly current: Stored | null } {
    const { documents, pointers } = this.#shared;
    if (step.op === 'room')
      return this.#members(partition, step.collection).length < step.max
        ? 0
        : { reason: 'full', current: null };
    if (step.op === 'unpoint') {
      pointers.delete(step.digest);
      return 0;
    }
    if (step.op === 'point') {
      const holder = pointers.get(step.digest);
      const at = holder && place(holder.partition, holder.collection, holder.id);
      const own = place(step.to.partition, step.to.collection, step.to.id);
      if (at !== undefined && at !== own && documents.has(at)) return { reason: 'exists', current: null };
      pointers.set(step.digest, step.to);
      return 0;
    }
    const key = place(partition, step.collection, step.id);
    const held = documents.get(key);
    const current = held && held.untilMs > this.#clock.nowMs() ? show(held) : null;
    const reason = fault(step.expect, current);
    if (reason) return { reason, current };
    if (step.op === 'delete') {
      documents.delete(key);
      this.#shared.uses.delete(`${partition} ${step.id}`);
      return 0;
    }
    const revision = (current?.revision ?? 0) + 1;
    const untilMs = step.ttlMs === undefined ? Infinity : this.#clock.nowMs() + step.ttlMs;
    const value = JSON.parse(JSON.stringify(step.value)) as Stored['value'];
    documents.set(key, { id: step.id, revision, value, untilMs, listed: step.ttlMs === undefined });
    return revision;
  }
}

const place = (partition: string, collection: string, id: string): string =>
  `${partition}\n${collection}\n${id}`;

const show = ({ id, revision, value }: Held): Stored => ({ id, revision, value: structuredClone(value) });

const fault = (expect: Expect, current: Stored | null): 'exists' | 'missing' | 'revision' | null => {
  if (expect === 'any') return null;
  if (expect === 'absent') return current ? 'exists' : null;
  if (!current) return 'missing';
  return current.revision === expect ? null : 'revision';
};
