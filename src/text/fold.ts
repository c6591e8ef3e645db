import { confusables } from './fold-confusables.js';

/** What a character becomes that cannot be seen. */
export const DROPPED = -1;

const INVISIBLE =
  /[\p{Cf}\p{Mn}\p{Me}\p{Cc}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0\ufffc]|[\u{e0000}-\u{e0fff}]/u;
const BREAKING = /[\p{P}\p{S}\p{Z}\p{Co}\p{Cs}\p{Cn}]/u;

/** One row per code point that was met: a code unit, DROPPED, or a reference to a longer spelling. */
const UNKNOWN = -2;
const FIRST_SPELLING = -3;
const plane = new Int32Array(0x10000).fill(UNKNOWN);
const beyond = new Map<number, number>();
const spellings: Uint16Array[] = [];

for (let unit = 0; unit < 128; unit++) plane[unit] = foldAscii(unit);

function foldAscii(unit: number): number {
  if (unit >= 65 && unit <= 90) return unit + 32;
  if (unit < 32 || unit === 127) return unit >= 9 && unit <= 13 ? unit : DROPPED;
  return unit;
}

/** What a code point is read as: one code unit, DROPPED, or below that a reference for `spellingOf`. */
export const foldCodePoint = (point: number): number => {
  if (point > 0xffff) return foldBeyond(point);
  const known = plane[point]!;
  if (known !== UNKNOWN) return known;
  return (plane[point] = learn(point));
};

/** The code units behind a reference that `foldCodePoint` gave. */
export const spellingOf = (reference: number): Uint16Array => spellings[FIRST_SPELLING - reference]!;

const foldBeyond = (point: number): number => {
  const known = beyond.get(point);
  if (known !== undefined) return known;
  const folded = learn(point);
  beyond.set(point, folded);
  return folded;
};

const learn = (point: number): number => {
  const spelt = spell(String.fromCodePoint(point));
  if (spelt.length < 2) return spelt === '' ? DROPPED : spelt.charCodeAt(0);
  spellings.push(Uint16Array.from({ length: spelt.length }, (_, index) => spelt.charCodeAt(index)));
  return FIRST_SPELLING - (spellings.length - 1);
};

/** Repeated until it stays the same, so that reading what was read changes nothing. */
const spell = (character: string): string => {
  let before = character;
  for (let round = 0; round < 4; round++) {
    const after = Array.from(before.normalize('NFKD'), simplify).join('').toLowerCase();
    if (after === before) break;
    before = after;
  }
  return before;
};

const simplify = (character: string): string => {
  const point = character.codePointAt(0)!;
  if (point < 128) return point < 32 || point === 127 ? '' : character;
  const twin = confusables.get(character);
  if (twin !== undefined) return twin;
  if (INVISIBLE.test(character)) return '';
  return BREAKING.test(character) ? ' ' : character;
};
