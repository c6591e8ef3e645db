import { setImmediate } from 'node:timers/promises';
import { applyEdits, type Edit, type Redactor } from '../../text/redact.js';

/** Characters read at a stretch; then others have their turn. */
const SLICE = 16_384;

/** A text masked, and the kind of each value that was. */
export interface Masked {
  readonly text: string;
  readonly kinds: readonly string[];
}

const maskedBy = (text: string, edits: readonly Edit[]): Masked => ({
  text: edits.length === 0 ? text : applyEdits(text, edits),
  // What is left out of a secret behind its placeholder is no further value.
  kinds: edits.filter((edit) => edit.text !== '').map(({ kind }) => kind),
});

/** Without holding up the loop, however long the text is. */
export const maskSlowly = async (text: string, redactor: Redactor): Promise<Masked> => {
  const follower = redactor.follow();
  for (let from = 0; from < text.length; from += SLICE) {
    if (from > 0) await setImmediate();
    follower.write(text.slice(from, from + SLICE));
  }
  follower.end();
  return maskedBy(text, follower.takeEdits());
};

/** The beginning of a text, masked: at most `most` of its characters, and never a part of a value. */
export const maskHead = (
  text: string,
  most: number,
  redactor: Redactor,
): { text: string; length: number } => {
  const follower = redactor.follow();
  follower.write(text);
  follower.end();
  const edits = follower.takeEdits();
  const length = edits.reduce(
    (end, { from, to }) => (from < end && end < to ? from : end),
    Math.min(most, text.length),
  );
  const inside = edits.filter(({ to }) => to <= length);
  return { text: applyEdits(text.slice(0, length), inside), length };
};

const maskNow = (text: string, redactor: Redactor): Masked => {
  const follower = redactor.follow();
  follower.write(text);
  follower.end();
  return maskedBy(text, follower.takeEdits());
};

const maskIn = (value: unknown, mask: (text: string) => string): unknown => {
  if (typeof value === 'string') return mask(value);
  if (Array.isArray(value)) return value.map((each) => maskIn(each, mask));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, maskIn(member, mask)]));
};

/** A call's arguments with their strings masked; as they are where nothing is found, as text where they are no JSON. */
export const maskArguments = (
  text: string,
  redactor: Redactor,
  found: (kind: string) => void = () => undefined,
): string => {
  const seen = { changed: false };
  const mask = (given: string): string => {
    const { text: masked, kinds } = maskNow(given, redactor);
    for (const kind of kinds) found(kind);
    seen.changed ||= masked !== given;
    return masked;
  };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return mask(text);
  }
  const masked = maskIn(value, mask);
  return seen.changed ? JSON.stringify(masked) : text;
};
