import type { BlockKind } from '../core/events.js';

/** A run of text that is read by itself: a block, a call's arguments, one of several choices. */
export interface Channel {
  readonly kind: BlockKind;
  /** Its own within the answer. */
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
  /** What the refusal says. */
  readonly notice: string;
  /** Text that stands in place of what was kept back; null = none does. */
  readonly text: string | null;
  /** Set where the answer may be asked for once more with this instruction, if nothing of it was sent yet. */
  readonly instruction: string | null;
}

/**
 * Reads an answer on its way and tells how much of it may leave. It is given every piece of text in the order it came,
 * whatever format it came in.
 */
export interface Guard {
  /** `isFixed` = the text is read but cannot be changed, as the name of a tool. */
  write(channel: Channel, text: string, isFixed?: boolean): void;
  /** The channel has all its text. */
  close(channel: Channel): void;
  /** All text is there. */
  end(): void;
  /** How far text may leave: characters from the beginning, never in the middle of an edit. */
  readonly clear: number;
  /** Nothing of what came last is changed, stopped or asked about. */
  readonly untouched: boolean;
  /** Edits that end at or before `clear` and were not taken before, in their order. */
  takeEdits(): readonly Edit[];
  readonly stop: Stop | null;
  /** Someone else is being asked: nothing more is to be read until it settles. It never rejects. */
  readonly pending: Promise<void> | null;
  /** The same edits on text that repeats what was said, such as the final event of a format. */
  mask(kind: BlockKind, text: string): string;
}

/** A piece of text and where it stands in the JSON it came in; `path` null = it is read, but never changed. */
export interface Said {
  readonly channel: Channel;
  readonly text: string;
  readonly path: readonly (string | number)[] | null;
  /** What stands there is not the text but the JSON it spells. */
  readonly json?: true;
}

export const nothingSaid: readonly Said[] = [];
