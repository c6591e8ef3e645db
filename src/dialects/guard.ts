import type { BlockKind } from '../core/events.js';

/** A run of text that is read by itself: a block, a call's arguments, one of several choices. */
export interface Channel {
  readonly kind: BlockKind;
  /** Of its own within the answer. */
  readonly id: string;
}

/** Text that leaves changed; positions count the characters of all text of the answer, in the order it came. */
export interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** Why an answer does not go on. */
export interface Stop {
  /** What the client is shown in place of the rest. */
  readonly notice: string;
  /** Set where the answer may be asked for once more with this instruction, nothing having been sent yet. */
  readonly instruction: string | null;
}

/**
 * Reads an answer on its way and tells how much of it may leave. It is given every piece of text in the order it came,
 * whatever format it came in.
 */
export interface Guard {
  write(channel: Channel, text: string): void;
  /** The channel has all its text. */
  close(channel: Channel): void;
  /** All text is there. */
  end(): void;
  /** How far text may leave: characters from the beginning, never in the middle of an edit. */
  readonly clear: number;
  /** Edits that end at or before `clear` and were not taken before, in their order. */
  takeEdits(): readonly Edit[];
  readonly stop: Stop | null;
  /** Someone else is being asked: nothing may leave beyond `clear` until it settles. It never rejects. */
  readonly pending: Promise<void> | null;
  /** The same edits on text that repeats what was said, such as the final event of a format. */
  mask(text: string): string;
}
