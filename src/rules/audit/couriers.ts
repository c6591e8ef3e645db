import type { Clock } from '../../core/clock.js';
import type { CreateSender, Sender, SinkSpec } from '../../core/sink.js';
import { Courier, type CourierParts } from './courier.js';
import type { Cursor, Cursors } from './cursors.js';
import type { Spool } from './spool.js';
import type { SinkStatus } from './status.js';

const KEPT_WHILE_DISABLED_MS = 24 * 60 * 60 * 1_000;
/** What the spool needs for an event beyond its JSON: its row, and two indexes. */
const BYTES_BESIDE_AN_EVENT = 100;

/** A sink that was switched off for so long that events no longer wait for it. */
export interface Detached {
  readonly sinkId: string;
  readonly organizationId: string;
  readonly afterSeq: number;
  readonly events: number;
}

/** The couriers of all sinks. A new sink starts with the next event; one that is gone is forgotten at once. */
export class Couriers {
  readonly #parts: CourierParts;
  readonly #createSender: CreateSender;
  readonly #couriers = new Map<string, Courier>();
  /** Those of sinks that were switched off meanwhile: what waits for them is still told. */
  readonly #resting = new Map<string, Courier>();
  readonly #rows: Map<string, Cursor>;
  #turn: Promise<void> = Promise.resolve();
  #wanted: readonly SinkSpec[] | null = null;
  #isStopped = false;

  constructor(parts: CourierParts, createSender: CreateSender) {
    this.#parts = parts;
    this.#createSender = createSender;
    this.#rows = new Map(this.#cursors.all().map((cursor) => [cursor.sinkId, cursor]));
  }

  get #spool(): Spool {
    return this.#parts.spool;
  }

  get #cursors(): Cursors {
    return this.#parts.cursors;
  }

  get #clock(): Clock {
    return this.#parts.clock;
  }

  /** All sinks there are, of every organization. */
  setSinks(specs: readonly SinkSpec[]): Promise<void> {
    this.#wanted = specs;
    this.#turn = this.#turn.then(() => this.#settleWanted());
    // At once, whatever is being waited for: its first event is the next one.
    this.#attempt(() => specs.filter(({ enabled }) => enabled).forEach((spec) => this.#rowOf(spec)));
    return this.#turn;
  }

  /** Goes on with what a failing spool did not let happen. */
  retry(): void {
    if (this.#wanted !== null) this.#turn = this.#turn.then(() => this.#settleWanted());
  }

  async #settleWanted(): Promise<void> {
    const specs = this.#wanted;
    if (specs === null || this.#isStopped) return;
    const known = new Set(specs.map(({ id }) => id));
    try {
      for (const id of this.#rows.keys()) if (!known.has(id)) await this.#forget(id);
      for (const spec of specs) await (spec.enabled ? this.#start(spec) : this.#rest(spec.id));
      if (this.#wanted === specs) this.#wanted = null;
    } catch (error) {
      this.#parts.onFault(error);
    }
  }

  async #start(spec: SinkSpec): Promise<void> {
    const running = this.#couriers.get(spec.id);
    if (running) {
      if (!isSame(running.spec, spec)) await running.replace(spec, this.#makeSender(spec));
      return;
    }
    const cursor = this.#rowOf(spec);
    this.#resting.delete(spec.id);
    if (cursor.disabledMs !== null) {
      cursor.disabledMs = null;
      this.#cursors.save(cursor);
    }
    const chain = this.#spool.ensureChain(spec.organizationId);
    const courier = new Courier(this.#parts, spec, this.#makeSender(spec), chain, cursor);
    this.#couriers.set(spec.id, courier);
    courier.wake();
  }

  #rowOf(spec: SinkSpec): Cursor {
    const known = this.#rows.get(spec.id);
    if (known) return known;
    const { chain, lastSeq, events, bytes } =
      this.#spool.chainOf(spec.organizationId) ?? this.#begin(spec.organizationId);
    const cursor = { sinkId: spec.id, chain, seq: lastSeq, events, bytes, pending: null, disabledMs: null };
    this.#cursors.save(cursor);
    this.#rows.set(spec.id, cursor);
    return cursor;
  }

  /** A chain that begins with the sink is the sink's from its very first event. */
  #begin(organizationId: string) {
    const { chain } = this.#spool.ensureChain(organizationId);
    return { chain, lastSeq: 0, events: 0, bytes: 0 };
  }

  async #rest(sinkId: string): Promise<void> {
    const courier = this.#couriers.get(sinkId);
    if (courier) this.#resting.set(sinkId, courier);
    await this.#stop(sinkId);
    const row = this.#rows.get(sinkId);
    if (!row || row.disabledMs !== null) return;
    row.disabledMs = this.#clock.nowMs();
    this.#cursors.save(row);
  }

  async #forget(sinkId: string): Promise<void> {
    await this.#stop(sinkId);
    this.#remove(sinkId);
  }

  #remove(sinkId: string): void {
    this.#cursors.remove(sinkId);
    this.#rows.delete(sinkId);
    this.#resting.delete(sinkId);
  }

  async #stop(sinkId: string): Promise<void> {
    const courier = this.#couriers.get(sinkId);
    this.#couriers.delete(sinkId);
    await courier?.stop();
  }

  #makeSender(spec: SinkSpec): Sender {
    try {
      return this.#createSender(spec);
    } catch {
      return unusable;
    }
  }

  #attempt(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#parts.onFault(error);
    }
  }

  /** Events of these organizations have come. */
  wake(organizationIds: ReadonlySet<string>): void {
    for (const courier of this.#couriers.values())
      if (organizationIds.has(courier.spec.organizationId)) courier.wake();
  }

  statuses(): SinkStatus[] {
    return [...this.#couriers.values(), ...this.#resting.values()].map((courier) => courier.status());
  }

  /** What must stay because a sink waits for it; of several that wait for the same the slowest counts. */
  waitingBytes(): number {
    const waiting = new Map<number, number>();
    const chains = new Map([...this.#spool.chains()].map((chain) => [chain.chain, chain]));
    for (const { chain, events, bytes } of this.#rows.values()) {
      const whole = chains.get(chain);
      if (!whole) continue;
      const behind = whole.bytes - bytes + (whole.events - events) * BYTES_BESIDE_AN_EVENT;
      waiting.set(chain, Math.max(waiting.get(chain) ?? 0, behind));
    }
    return [...waiting.values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  /** Lets go of the sinks that were off for too long. */
  detach(): Detached[] {
    const detached: Detached[] = [];
    const beforeMs = this.#clock.nowMs() - KEPT_WHILE_DISABLED_MS;
    for (const row of this.#rows.values()) {
      if (row.disabledMs === null || row.disabledMs > beforeMs) continue;
      this.#remove(row.sinkId);
      for (const { chain, organizationId, lastSeq, events } of this.#spool.chains())
        if (chain === row.chain && lastSeq > row.seq)
          detached.push({
            sinkId: row.sinkId,
            organizationId,
            afterSeq: row.seq,
            events: events - row.events,
          });
    }
    return detached;
  }

  /** Sends what is there, and resolves when nothing more can be done now. */
  async drain(): Promise<void> {
    await this.#turn; // sinks that were just told of have couriers only then
    for (const courier of this.#couriers.values()) courier.hurry();
    for (const courier of this.#couriers.values()) await courier.rest();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([...this.#couriers.values()].map((courier) => courier.stop()));
    await this.#turn;
  }
}

const isSame = (a: SinkSpec, b: SinkSpec): boolean =>
  a.type === b.type && JSON.stringify(a.config) === JSON.stringify(b.config);

const unusable: Sender = {
  limits: { count: 1, bytes: 1, ageMs: 0 },
  send: () => Promise.resolve({ kind: 'held', reason: 'The configuration of this sink cannot be used.' }),
  close: () => Promise.resolve(),
};
