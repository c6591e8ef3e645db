import { setImmediate as breathe } from 'node:timers/promises';
import type { Clock } from '../../core/clock.js';
import type { BatchItem, Outcome, Sender, SinkSpec } from '../../core/sink.js';
import { Appetite } from './appetite.js';
import { makeBatch } from './batch.js';
import type { Cursor, Cursors } from './cursors.js';
import type { DeadLetters } from './dead-letters.js';
import { Health } from './health.js';
import { settle, type Parcel, type Verdict } from './parcels.js';
import type { Chain, Spool } from './spool.js';
import type { SinkStatus } from './status.js';

/** Calls back after a while, unless cancelled by what it gives. */
export type Alarm = (act: () => void, delayMs: number) => () => void;

export interface CourierParts {
  readonly spool: Spool;
  readonly cursors: Cursors;
  readonly deadLetters: DeadLetters;
  readonly clock: Clock;
  readonly random: () => number;
  readonly alarm: Alarm;
  /** Damaged events were met on the way. */
  readonly onDamage: (organizationId: string, seqs: readonly number[]) => void;
  /** The spool failed under the courier, which tries again later. */
  readonly onFault: (error: unknown) => void;
}

const LONGEST_SEND_MS = 10 * 60_000;

/** Brings the events of one organization to one destination: one batch at a time, in order, until each is taken or dead. */
export class Courier {
  readonly #parts: CourierParts;
  readonly #chain: Chain;
  readonly #cursor: Cursor;
  readonly #health: Health;
  #appetite = new Appetite();
  #spec: SinkSpec;
  #sender: Sender;
  #work: Promise<void> | null = null;
  #abort: AbortController | null = null;
  /** Waiting after a failure; new events do not cut it short. */
  #pause: (() => void) | null = null;
  /** Waiting for the batch to fill. */
  #gathering: (() => void) | null = null;
  #loaded: { readonly parcel: Parcel; readonly events: readonly BatchItem[] } | null = null;
  /** The next batch has waited long enough for more events. */
  #isDue = false;
  #isStopped = false;
  #isHurried = false;

  constructor(parts: CourierParts, spec: SinkSpec, sender: Sender, chain: Chain, cursor: Cursor) {
    this.#parts = parts;
    this.#spec = spec;
    this.#sender = sender;
    this.#chain = chain;
    this.#cursor = cursor;
    this.#health = new Health(parts.clock, parts.random);
  }

  get spec(): SinkSpec {
    return this.#spec;
  }

  /** Resolves when there is nothing to send, or the destination must be left alone for a while. */
  async rest(): Promise<void> {
    while (this.#work !== null) await this.#work;
  }

  /** There may be something to do. */
  wake(): void {
    if (this.#work !== null || this.#pause !== null || this.#isStopped) return;
    if (this.#gathering !== null && !this.#isFull() && !this.#isHurried) return;
    this.#cancelGathering();
    this.#work = this.#deliver().finally(() => {
      this.#work = null;
      // What came after the last look and before this must not wait for the next event.
      if (this.#hasMore()) this.wake();
    });
  }

  /** Sends what is there without waiting for more. */
  hurry(): void {
    this.#isHurried = true;
    this.wake();
  }

  /** The configuration was changed: whatever was wrong may be right now. */
  async replace(spec: SinkSpec, sender: Sender): Promise<void> {
    const [before, work] = [this.#sender, this.#work];
    this.#spec = spec;
    this.#sender = sender;
    this.#appetite = new Appetite();
    this.#cancelPause();
    this.#cancelGathering();
    this.#abort?.abort();
    await work;
    this.#cancelPause(); // of the attempt that was just aborted
    this.#health.forgive();
    this.wake();
    await before.close();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelPause();
    this.#cancelGathering();
    this.#abort?.abort();
    await this.#work;
    this.#cancelPause();
    await this.#sender.close();
  }

  status(): SinkStatus {
    const { spool, clock } = this.#parts;
    const oldest = this.#hasMore() ? spool.reader.recordedAfter(this.#chain.chain, this.#cursor.seq) : null;
    return {
      sinkId: this.#spec.id,
      organizationId: this.#spec.organizationId,
      queued: Math.max(0, this.#chain.events - this.#cursor.events),
      oldestMs: oldest === null ? 0 : Math.max(0, clock.nowMs() - oldest),
      ...this.#health.status(),
    };
  }

  async #deliver(): Promise<void> {
    await Promise.resolve(); // what is read below may tell of damage, and that wakes every courier: this one is known to work by then
    try {
      while (!this.#isStopped && (this.#cursor.pending !== null || this.#take())) {
        const verdict = await this.#attempt();
        if (verdict.pause !== 'none') return;
        await breathe(); // between batches the spool has its turn
      }
    } catch (error) {
      this.#health.noteError('spool', 'The spool cannot be read or written.');
      this.#rest('retry');
      this.#parts.onFault(error);
    } finally {
      this.#loaded = null;
    }
  }

  /** Makes the next batch and writes down its bounds before anything is sent; false = nothing is due. */
  #take(): boolean {
    const { spool, cursors } = this.#parts;
    while (this.#hasMore()) {
      const dueInMs = this.#dueInMs();
      if (dueInMs > 0) {
        this.#gather(dueInMs);
        return false;
      }
      this.#isDue = false;
      const { events, damaged, lastSeq } = spool.reader.readAfter(
        this.#chain.chain,
        this.#cursor.seq,
        this.#appetite.within(this.#sender.limits),
      );
      if (damaged.length > 0) this.#parts.onDamage(this.#spec.organizationId, damaged);
      const [first, last] = [events[0], events.at(-1)];
      if (first && last) {
        const parcel = { first: first.seq, last: last.seq };
        this.#loaded = { parcel, events };
        this.#cursor.pending = { parcels: [parcel], end: lastSeq };
      } else {
        this.#moveTo(Math.max(lastSeq, this.#cursor.seq + 1));
      }
      cursors.save(this.#cursor);
      if (this.#cursor.pending !== null) return true;
    }
    return false;
  }

  async #attempt(): Promise<Verdict> {
    const pending = this.#cursor.pending!;
    const [parcel] = pending.parcels;
    const events = this.#loaded?.parcel === parcel ? this.#loaded.events : this.#load(parcel);
    this.#loaded = null;
    // Everything in it was damaged since: there is nothing left to send.
    const outcome: Outcome = events.length === 0 ? { kind: 'accepted' } : await this.#send(events);
    const verdict = settle(pending.parcels, events, outcome);
    this.#appetite.note(outcome.kind, events);
    this.#settle(verdict, outcome.kind, pending.end);
    return verdict;
  }

  #load({ first, last, only }: Parcel): readonly BatchItem[] {
    const { events, damaged } = this.#parts.spool.reader.readRange(this.#chain.chain, first, last);
    if (damaged.length > 0) this.#parts.onDamage(this.#spec.organizationId, damaged);
    if (only === undefined) return events;
    const wanted = new Set(only);
    return events.filter(({ seq }) => wanted.has(seq));
  }

  async #send(events: readonly BatchItem[]): Promise<Outcome> {
    const abort = new AbortController();
    this.#abort = abort;
    const giveUp = this.#parts.alarm(() => abort.abort(), LONGEST_SEND_MS);
    try {
      return await this.#sender.send(makeBatch(this.#spec, this.#parts.spool, events), abort.signal);
    } catch {
      return { kind: 'retry', reason: 'The destination could not be reached.' };
    } finally {
      giveUp();
      this.#abort = null;
    }
  }

  #settle(verdict: Verdict, kind: Outcome['kind'], end: number): void {
    const { cursors, deadLetters, clock } = this.#parts;
    const { parcels, dead, done, pause, retryAfterMs } = verdict;
    deadLetters.add(this.#spec.id, dead, new Date(clock.nowMs()).toISOString());
    this.#cursor.events += done.length;
    for (const { json } of done) this.#cursor.bytes += Buffer.byteLength(json);
    const [first, ...rest] = parcels;
    if (first) this.#cursor.pending = { parcels: [first, ...rest], end };
    else this.#moveTo(end);
    cursors.save(this.#cursor);

    this.#health.note(verdict, kind);
    if (pause !== 'none') this.#rest(pause, retryAfterMs);
  }

  #moveTo(seq: number): void {
    this.#cursor.seq = seq;
    this.#cursor.pending = null;
    if (this.#hasMore()) return;
    // Damaged events were never counted as done; here it is certain that none is left.
    this.#cursor.events = this.#chain.events;
    this.#cursor.bytes = this.#chain.bytes;
  }

  #rest(pause: 'retry' | 'held', retryAfterMs?: number): void {
    const delayMs = this.#health.fail(pause, retryAfterMs);
    if (this.#isStopped) return;
    this.#pause = this.#parts.alarm(() => {
      this.#pause = null;
      this.wake();
    }, delayMs);
  }

  #gather(delayMs: number): void {
    this.#gathering = this.#parts.alarm(() => {
      this.#gathering = null;
      this.#isDue = true;
      this.wake();
    }, delayMs);
  }

  /** How long the next batch may still wait for more events. */
  #dueInMs(): number {
    if (this.#isDue || this.#isHurried || this.#isFull()) return 0;
    const first = this.#parts.spool.reader.recordedAfter(this.#chain.chain, this.#cursor.seq);
    if (first === null) return 0;
    const { ageMs } = this.#sender.limits;
    return Math.min(ageMs, first + ageMs - this.#parts.clock.nowMs());
  }

  #isFull(): boolean {
    const { count, bytes } = this.#appetite.within(this.#sender.limits);
    return (
      this.#chain.events - this.#cursor.events >= count || this.#chain.bytes - this.#cursor.bytes >= bytes
    );
  }

  #hasMore(): boolean {
    return this.#chain.lastSeq > this.#cursor.seq;
  }

  #cancelPause(): void {
    this.#pause?.();
    this.#pause = null;
  }

  #cancelGathering(): void {
    this.#gathering?.();
    this.#gathering = null;
  }
}
