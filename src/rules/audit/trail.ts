import { systemClock, type Clock } from '../../core/clock.js';
import type { CreateSender, Outcome, SinkSpec } from '../../core/sink.js';
import type { Alarm } from './courier.js';
import { Couriers } from './couriers.js';
import { Cursors } from './cursors.js';
import { DeadLetters } from './dead-letters.js';
import { eraseEvents, findEvents, matcherOf, type HistoryFilter, type HistoryPage } from './history.js';
import { Notices } from './notices.js';
import { Pruner } from './prune.js';
import { Room } from './room.js';
import {
  freeBytesBelow,
  isDamage,
  isFull,
  markDamaged,
  MEMORY,
  openSpoolFile,
  type Durability,
} from './spool-file.js';
import { Spool, type Entry } from './spool.js';
import type { SinkStatus, TrailStatus } from './status.js';
import { trySender } from './try-sender.js';
import { Upkeep } from './upkeep.js';

export interface TrailOptions {
  /** ":memory:" keeps nothing. */
  readonly folder: string;
  readonly durability: Durability;
  readonly maxBytes: number;
  readonly minFreeBytes: number;
  readonly retentionMs: number;
  readonly createSender: CreateSender;
  readonly onSink: (status: SinkStatus) => void;
  readonly onTrail: (status: TrailStatus) => void;
  readonly onRoom: (open: boolean) => void;
  readonly warn: (message: string, fields: object) => void;
  /** The spool can no longer be used through this trail: it is to be opened anew. */
  readonly onBroken: () => void;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly alarm?: Alarm;
  readonly freeBytes?: () => number;
}

const TICK_MS = 1_000;
const PRUNE_EVERY_TICKS = 10;

const timeout: Alarm = (act, delayMs) => {
  const timer = setTimeout(act, delayMs);
  return () => clearTimeout(timer);
};

/** The whole audit trail of an instance: the spool, what keeps it within bounds, and the couriers. Lives in the worker. */
export class Trail {
  readonly #options: TrailOptions;
  readonly #clock: Clock;
  readonly #alarm: Alarm;
  readonly #spool: Spool;
  readonly #couriers: Couriers;
  readonly #upkeep: Upkeep;
  readonly #deadLetters: DeadLetters;
  readonly #notices: Notices;
  readonly #room: Room;
  readonly #told = new Map<string, string>();
  #recorded = 0;
  #ticks = 0;
  #isBroken = false;
  #cancelTick: () => void = () => {};

  constructor(options: TrailOptions) {
    const { folder, maxBytes, minFreeBytes } = options;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#alarm = options.alarm ?? timeout;
    this.#spool = openSpool(folder, options.durability, this.#clock);
    const cursors = new Cursors(this.#spool.database);
    this.#deadLetters = new DeadLetters(folder);
    const freeBytes = options.freeBytes ?? (() => freeBytesBelow(folder));
    this.#room = new Room({ maxBytes, minFreeBytes, freeBytes, onChange: options.onRoom });
    this.#room.noteUsed(this.#spool.usedBytes());
    this.#room.look();
    this.#notices = new Notices({
      spool: this.#spool,
      room: this.#room,
      clock: this.#clock,
      append: (entries) => this.#write(entries),
      warn: options.warn,
    });
    this.#upkeep = new Upkeep({
      spool: this.#spool,
      pruner: new Pruner(this.#spool, cursors),
      room: this.#room,
      clock: this.#clock,
      retentionMs: options.retentionMs,
      onFault: (error) => this.#noteFault(error),
    });
    this.#couriers = new Couriers(
      {
        spool: this.#spool,
        cursors,
        deadLetters: this.#deadLetters,
        clock: this.#clock,
        random: options.random ?? Math.random,
        alarm: this.#alarm,
        onDamage: (organizationId, seqs) =>
          this.#guarded(() => this.#notices.noteDamage(organizationId, seqs)),
        onFault: (error) => this.#noteFault(error),
      },
      options.createSender,
    );
    this.#cancelTick = this.#alarm(() => this.#tick(), TICK_MS);
  }

  get instanceId(): string {
    return this.#spool.instanceId;
  }

  get open(): boolean {
    return this.#room.open && !this.#isBroken;
  }

  /** All entries in one transaction; false = none was recorded, and they are counted as missed. */
  record(entries: readonly Entry[]): boolean {
    if (!this.open || !this.#guarded(() => this.#write(entries))) {
      // Whoever gives an event its id keeps it and tells of it again.
      for (const { organizationId, eventId } of entries)
        if (eventId === undefined) this.#notices.gaps.miss(organizationId);
      return false;
    }
    this.#recorded += entries.length;
    return true;
  }

  /** What was missed and not told of yet. */
  untold(): readonly (readonly [organizationId: string, count: number])[] {
    return this.#notices.gaps.untold();
  }

  miss(organizationId: string, count: number): void {
    this.#notices.gaps.miss(organizationId, count);
  }

  setSinks(specs: readonly SinkSpec[]): Promise<void> {
    return this.#couriers.setSinks(specs);
  }

  /** Sends one made-up event to a destination, outside of the chain. */
  trySink(spec: SinkSpec): Promise<Outcome> {
    return trySender(() => this.#options.createSender(spec), spec, this.#clock);
  }

  history(organizationId: string, filter: HistoryFilter): Promise<HistoryPage> {
    return findEvents(this.#spool, organizationId, filter);
  }

  async erase(organizationId: string, user: string): Promise<number> {
    const count = await eraseEvents(this.#spool, organizationId, user);
    this.#deadLetters.erase(matcherOf({ user, organizationId }));
    return count;
  }

  #write(entries: readonly Entry[]): void {
    this.#spool.append(entries);
    this.#upkeep.noteUsed();
    this.#couriers.wake(new Set(entries.map(({ organizationId }) => organizationId)));
  }

  /** false = the spool failed. */
  #guarded(act: () => void): boolean {
    try {
      act();
      return true;
    } catch (error) {
      this.#noteFault(error);
      return false;
    }
  }

  #noteFault(error: unknown): void {
    if (this.#isBroken) return;
    if (this.#room.open) this.#options.warn('The audit trail cannot be written.', { error: textOf(error) });
    this.#room.noteFailure();
    if (isFull(error)) return;
    // A connection that failed in any other way is not trusted with another event.
    this.#isBroken = true;
    this.#upkeep.stop();
    this.#options.onBroken();
    if (isDamage(error) && this.#options.folder !== MEMORY) markDamaged(this.#options.folder);
  }

  #tick(): void {
    if (this.#isBroken) return;
    try {
      this.#room.look();
      this.#couriers.retry();
      if (this.#ticks++ % PRUNE_EVERY_TICKS === 0 || this.#room.isTight) this.#upkeep.run();
      this.#notices.tell(this.#couriers.detach(), this.#couriers.waitingBytes());
      this.report();
    } catch (error) {
      this.#noteFault(error);
    }
    this.#cancelTick = this.#alarm(() => this.#tick(), TICK_MS);
  }

  /** Tells of everything that has changed since it was last told. */
  report(): void {
    for (const status of this.#couriers.statuses())
      if (this.#isNews(status.sinkId, status)) this.#options.onSink(status);
    const trail = {
      recorded: this.#recorded,
      missed: this.#notices.gaps.total,
      damaged: this.#notices.damaged,
      droppedEarly: this.#upkeep.droppedEarly,
      usedBytes: this.#room.usedBytes,
      waitingBytes: this.#couriers.waitingBytes(),
      limitBytes: this.#room.limitBytes,
      open: this.open,
    };
    if (this.#isNews('', trail)) this.#options.onTrail(trail);
  }

  #isNews(name: string, status: object): boolean {
    const text = JSON.stringify(status);
    if (this.#told.get(name) === text) return false;
    this.#told.set(name, text);
    return true;
  }

  /** Sends what can be sent within the time, and closes. What is left is on disk. */
  async close(drainMs: number): Promise<void> {
    this.#cancelTick();
    if (this.#isBroken) {
      await this.#couriers.stop();
      this.#spool.close();
      return;
    }
    try {
      this.#notices.tellGaps(true);
    } catch (error) {
      this.#options.warn('The gaps of the audit trail could not be told.', { error: textOf(error) });
    }
    if (drainMs > 0) await this.#drain(drainMs);
    await this.#couriers.stop();
    this.report();
    this.#upkeep.stop();
    this.#isBroken = true; // whatever is still on its way finds it closed
    this.#spool.close();
  }

  async #drain(drainMs: number): Promise<void> {
    let giveUp = (): void => {};
    const late = new Promise<void>((resolve) => (giveUp = this.#alarm(resolve, drainMs)));
    await Promise.race([this.#couriers.drain(), late]);
    giveUp();
  }
}

/** A file that opens may still turn out to be damaged when its chains are read. */
const openSpool = (folder: string, durability: Durability, clock: Clock): Spool => {
  const opened = openSpoolFile(folder, durability);
  try {
    return new Spool(opened, clock);
  } catch (error) {
    opened.database.close();
    if (isDamage(error) && folder !== MEMORY) markDamaged(folder);
    throw error;
  }
};

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
