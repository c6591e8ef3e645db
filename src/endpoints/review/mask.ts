import { setImmediate } from 'node:timers/promises';
import { applyEdits, type Edit, type Redactor } from '../../text/redact.js';
import { isEscaped, speltIn } from './json-strings.js';
import type { Turns } from './turns.js';

/** Characters read at a stretch; then others have their turn. */
const SLICE = 16_384;
/** No value is shorter. */
const LEAST_VALUE = 5;

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
  if (text.length < LEAST_VALUE) return { text, kinds: [] };
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
  if (text.length < LEAST_VALUE) return { text, kinds: [] };
  const follower = redactor.follow();
  follower.write(text);
  follower.end();
  return maskedBy(text, follower.takeEdits());
};

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/**
 * Gives each text of a call's arguments and takes what stands there from now on; the rest stays as it is spelt. Where
 * they are no JSON, or only the beginning of it, the whole is a text too: the last one.
 */
function* respell(text: string): Generator<string, string, string> {
  const isWhole = isJson(text);
  let result = '';
  let at = 0;
  for (const spelt of isWhole || isEscaped(text) ? speltIn(text) : []) {
    const { from, to } = spelt;
    // In what is no JSON only escapes need to be undone: the rest is found as it stands.
    if (!isWhole && (spelt.kind === 'number' || !text.slice(from, to).includes('\\'))) continue;
    const given = yield spelt.text;
    if (given === spelt.text) continue;
    const spelling = JSON.stringify(given);
    result += text.slice(at, from) + (spelt.isOpen && !isWhole ? spelling.slice(0, -1) : spelling);
    at = to;
  }
  result += text.slice(at);
  return isWhole ? result : yield result;
}

/** A call's arguments with their strings, keys and numbers masked. */
export const maskArguments = (
  text: string,
  redactor: Redactor,
  found: (kind: string) => void = () => undefined,
): string => {
  const texts = respell(text);
  let step = texts.next();
  while (!step.done) {
    const masked = maskNow(step.value, redactor);
    for (const kind of masked.kinds) found(kind);
    step = texts.next(masked.text);
  }
  return step.value;
};

/** Without holding up the loop, however many there are. */
export const maskArgumentsSlowly = async (
  text: string,
  redactor: Redactor,
  turns: Turns,
): Promise<Masked> => {
  const kinds: string[] = [];
  const texts = respell(text);
  let step = texts.next();
  while (!step.done) {
    if (turns.isOver) await turns.next();
    const masked = await maskSlowly(step.value, redactor);
    for (const kind of masked.kinds) kinds.push(kind);
    step = texts.next(masked.text);
  }
  return { text: step.value, kinds };
};
