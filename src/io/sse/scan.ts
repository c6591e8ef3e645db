import { Frame } from './frame.js';
import { PlainLines } from './plain-lines.js';

/** The largest event read, in bytes (D50). */
export const EVENT_BOUND_BYTES = 8 * 1024 * 1024;

const BLANK_LINE = '\n\n';
const LF = 0x0a;
const NOTHING = Buffer.alloc(0);
const FIRST_CARRY_BYTES = 1024;

export class EventTooLarge extends Error {
  constructor(boundBytes: number) {
    super(`An event of the stream is larger than ${boundBytes} bytes.`);
    this.name = 'EventTooLarge';
  }
}

/**
 * Cuts a byte stream into events, whatever its chunks and line ends. Push a chunk, then take frames until null.
 * Frames are ranges of the chunk they came in; only an event that spans chunks is copied, each of its bytes once
 * or, while the copy grows, a bounded number of times.
 */
export class FrameScanner {
  readonly #boundBytes: number;
  readonly #lines = new PlainLines();
  #source: Buffer = NOTHING;
  #view = '';
  #at = 0;
  /** The event begun in earlier chunks: the first `#carried` bytes of `#carry`. */
  #carry: Buffer = NOTHING;
  #carried = 0;

  constructor(boundBytes = EVENT_BOUND_BYTES) {
    this.#boundBytes = boundBytes;
  }

  push(chunk: Buffer): void {
    this.#source = chunk;
    this.#view = chunk.toString('latin1');
    this.#at = 0;
    if (this.#lines.plain && !this.#view.includes('\r')) return;
    this.#source = this.#lines.make(chunk);
    this.#view = this.#source.toString('latin1');
  }

  /** The next whole event; null = push more. Throws EventTooLarge. */
  next(): Frame | null {
    const start = this.#at;
    const end = this.#eventEnd(start);
    if (end === -1) {
      this.#keepRest(start);
      return null;
    }
    this.#demandRoom(end - start);
    this.#at = end;
    return this.#carried === 0 ? new Frame(this.#source, this.#view, start, end) : this.#joined(start, end);
  }

  /** What is left of an event that never got its blank line, as a frame; null where nothing is. */
  rest(): Frame | null {
    if (this.#carried === 0) return null;
    const bytes = this.#carry.subarray(0, this.#carried);
    const ending = bytes.at(-1) === LF ? '\n' : BLANK_LINE;
    this.#carried = 0;
    return Frame.of(Buffer.concat([bytes, Buffer.from(ending)]));
  }

  #eventEnd(start: number): number {
    const view = this.#view;
    if (this.#carried > 0 && this.#carry[this.#carried - 1] === LF && view.charCodeAt(start) === LF)
      return start + 1;
    const at = view.indexOf(BLANK_LINE, start);
    return at === -1 ? -1 : at + BLANK_LINE.length;
  }

  #demandRoom(moreBytes: number): void {
    if (this.#carried + moreBytes > this.#boundBytes) throw new EventTooLarge(this.#boundBytes);
  }

  #keepRest(start: number): void {
    const source = this.#source;
    const length = source.length - start;
    this.#source = NOTHING;
    this.#view = '';
    this.#at = 0;
    if (length === 0) return;
    this.#demandRoom(length);
    const needed = this.#carried + length;
    if (needed > this.#carry.length) {
      const larger = Buffer.allocUnsafe(Math.max(FIRST_CARRY_BYTES, needed * 2));
      this.#carry.copy(larger, 0, 0, this.#carried);
      this.#carry = larger;
    }
    source.copy(this.#carry, this.#carried, start);
    this.#carried = needed;
  }

  #joined(start: number, end: number): Frame {
    const bytes = Buffer.allocUnsafe(this.#carried + end - start);
    this.#carry.copy(bytes, 0, 0, this.#carried);
    this.#source.copy(bytes, this.#carried, start, end);
    this.#carried = 0;
    if (this.#carry.length > 64 * FIRST_CARRY_BYTES) this.#carry = NOTHING;
    return Frame.of(bytes);
  }
}
