/** Longest run without a boundary, in UTF-16 units: far below 1 kB of UTF-8, since merging pairs is quadratic in it. */
const RUN_UNITS = 128;
/** About this much is handed over at once, so that a clock can be looked at in between. */
const PIECE_UNITS = 8_192;

const SPACE = 0x20;
const LAST_CONTROL_SPACE = 0x0d;
const FIRST_CONTROL_SPACE = 0x09;

const isSpace = (unit: number): boolean =>
  unit === SPACE || (unit >= FIRST_CONTROL_SPACE && unit <= LAST_CONTROL_SPACE);

const isLowSurrogate = (unit: number): boolean => (unit & 0xfc00) === 0xdc00;

/**
 * Cuts a text into pieces without long unbroken runs; joined they are the text. A cut falls before a space, where tokens
 * begin anyway, and inside a run only where that is too long.
 */
export function* cutText(text: string): Generator<string> {
  let from = 0;
  let runFrom = 0;
  let inSpace = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    const space = isSpace(unit);
    const runEnds = space !== inSpace;
    const isFull = runEnds
      ? space && at - from >= PIECE_UNITS
      : at - runFrom >= RUN_UNITS && !isLowSurrogate(unit);
    if (isFull) {
      yield text.slice(from, at);
      from = at;
    }
    if (runEnds || isFull) runFrom = at;
    inSpace = space;
  }
  if (from < text.length) yield text.slice(from);
}
