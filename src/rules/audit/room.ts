/** How much the spool may take of the disk. */
export interface RoomOptions {
  readonly maxBytes: number;
  readonly minFreeBytes: number;
  /** Bytes that the disk has left. */
  readonly freeBytes: () => number;
  readonly onChange: (open: boolean) => void;
}

const REOPEN_AT = 0.95;
const TIGHT_AT = 0.9;
/** For events that tell of gaps, beyond the bound. */
const RESERVE = { share: 0.02, bytes: 1024 * 1024 };

/** Whether there is room for more events. Once full it opens again a little below the bound, so that it does not flap. */
export class Room {
  readonly #options: RoomOptions;
  #usedBytes = 0;
  #freeBytes = Infinity;
  #failed = false;
  #open = true;

  constructor(options: RoomOptions) {
    this.#options = options;
  }

  get open(): boolean {
    return this.#open;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** What the spool may take as the disk is now. */
  get limitBytes(): number {
    const { maxBytes, minFreeBytes } = this.#options;
    return Math.max(0, Math.min(maxBytes, this.#usedBytes + this.#freeBytes - minFreeBytes));
  }

  /** Old history must make room before new events are refused. */
  get isTight(): boolean {
    return this.#usedBytes >= this.#options.maxBytes * TIGHT_AT;
  }

  /** Room for the few events that tell of a gap. */
  get hasReserve(): boolean {
    const { maxBytes } = this.#options;
    return !this.#failed && this.#usedBytes < maxBytes + Math.max(RESERVE.bytes, maxBytes * RESERVE.share);
  }

  noteUsed(bytes: number): void {
    this.#usedBytes = bytes;
    this.#decide();
  }

  /** The disk refused a write; it is asked again at the next look. */
  noteFailure(): void {
    this.#failed = true;
    this.#decide();
  }

  look(): void {
    this.#failed = false;
    this.#freeBytes = this.#options.freeBytes();
    this.#decide();
  }

  #decide(): void {
    const { maxBytes } = this.#options;
    const bound = this.#open ? maxBytes : maxBytes * REOPEN_AT;
    const open = !this.#failed && this.#usedBytes < bound && this.#diskIsRoomy();
    if (open === this.#open) return;
    this.#open = open;
    this.#options.onChange(open);
  }

  #diskIsRoomy(): boolean {
    return this.#freeBytes >= this.#options.minFreeBytes;
  }
}
