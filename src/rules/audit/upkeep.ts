import { setImmediate as breathe } from 'node:timers/promises';
import type { Clock } from '../../core/clock.js';
import type { Pruner } from './prune.js';
import type { Room } from './room.js';
import type { Spool } from './spool.js';

export interface UpkeepParts {
  readonly spool: Spool;
  readonly pruner: Pruner;
  readonly room: Room;
  readonly clock: Clock;
  readonly retentionMs: number;
  readonly onFault: (error: unknown) => void;
}

/** Keeps the local history within its time and its room, a short step at a time. */
export class Upkeep {
  readonly #parts: UpkeepParts;
  #isRunning = false;
  #isStopped = false;
  /** Nothing more could leave; there is no use in trying again before some time has passed. */
  #isFruitless = false;
  /** Events that left before their time because room was needed; every sink had them. */
  droppedEarly = 0;

  constructor(parts: UpkeepParts) {
    this.#parts = parts;
  }

  /** After every write. */
  noteUsed(): void {
    const { spool, room } = this.#parts;
    room.noteUsed(spool.usedBytes());
    if (room.isTight && !this.#isFruitless) this.run();
  }

  /** Now and then. */
  run(): void {
    this.#isFruitless = false;
    if (!this.#isRunning) void this.#work();
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #work(): Promise<void> {
    const { spool, room, onFault } = this.#parts;
    this.#isRunning = true;
    try {
      while (!this.#isStopped && this.#step()) {
        room.noteUsed(spool.usedBytes());
        await breathe();
      }
    } catch (error) {
      onFault(error);
    }
    this.#isFruitless = room.isTight;
    this.#isRunning = false;
  }

  /** false = nothing more can leave. */
  #step(): boolean {
    const { pruner, room, clock, retentionMs } = this.#parts;
    if (pruner.expire(clock.nowMs() - retentionMs) > 0) return true;
    const dropped = room.isTight ? pruner.makeRoom() : 0;
    this.droppedEarly += dropped;
    return dropped > 0;
  }
}
