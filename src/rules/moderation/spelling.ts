import { EMPTY_HASH, WORD_BOUND, extendHash, hashUnits } from './hash.js';
import { costOf, type Lexicon } from './lexicon.js';

const PIECE_BOUND = 16;
/** A piece costs this much beside its own surprise, so that few long pieces beat many short ones. */
const PIECE_COST = 24;
/** A letter of no known word; no sum of the others is the same. */
const STRAY_COST = 60.5;
/** Points per letter above which a cut is no better than chance: of one word without spaces, of letters set apart. */
export const WHOLE_WORD_BOUND = 26;
export const SPACED_BOUND = 50;

const BAR_AS_I = new Map<number, number>();
for (const [sign, letter] of [
  '0o',
  '1i',
  '3e',
  '4a',
  '5s',
  '7t',
  '8b',
  '@a',
  '$s',
  '!i',
  '|i',
  '+t',
  '9g',
  '6g',
].map((pair) => [pair.charCodeAt(0), pair.charCodeAt(1)] as const))
  BAR_AS_I.set(sign, letter);
const BAR_AS_L = new Map(BAR_AS_I);
for (const sign of '1|!') BAR_AS_L.set(sign.charCodeAt(0), 'l'.charCodeAt(0));

/** Letters in place of the digits and signs that look like them, into `out`; a bar is read as i or as l. */
const replaceSigns = (
  units: Uint16Array,
  from: number,
  to: number,
  out: Uint16Array,
  signs: ReadonlyMap<number, number>,
): number => {
  for (let index = from; index < to; index++) out[index - from] = signs.get(units[index]!) ?? units[index]!;
  return to - from;
};

/** Reads `h4ck3d` as a word. Gives its length in `out`, and whether the lexicon has it. */
export const readSigns = (
  units: Uint16Array,
  from: number,
  to: number,
  out: Uint16Array,
  lexicon: Lexicon,
): { readonly length: number; readonly known: boolean } => {
  for (const signs of [BAR_AS_L, BAR_AS_I]) {
    const length = replaceSigns(units, from, to, out, signs);
    if (lexicon.find(hashUnits(out, 0, length)) !== 0) return { length, known: true };
    const shorter = collapseRuns(out, 0, length, out);
    if (shorter < length && lexicon.find(hashUnits(out, 0, shorter)) !== 0)
      return { length: shorter, known: true };
  }
  return { length: replaceSigns(units, from, to, out, BAR_AS_I), known: false };
};

/** Runs of a stretched word that are tried both ways. */
const TRIED_RUNS = 4;

/** Reads `siilllyy` as a word: each of its runs may stand for one letter or for two. Gives its length in `out`, or 0. */
export const readStretched = (
  units: Uint16Array,
  from: number,
  to: number,
  out: Uint16Array,
  lexicon: Lexicon,
): number => {
  for (let doubles = 0; doubles < 1 << TRIED_RUNS; doubles++) {
    let length = 0;
    let runs = 0;
    for (let index = from; index < to; index++) {
      const repeats = index > from && units[index] === units[index - 1];
      if (repeats && ((doubles >> Math.min(runs++, TRIED_RUNS)) & 1) === 0) continue;
      out[length++] = units[index]!;
    }
    if (lexicon.find(hashUnits(out, 0, length)) !== 0) return length;
    if (doubles + 1 >= 1 << runs) break;
  }
  return 0;
};

/** Every run of one character as a single one. */
export const collapseRuns = (units: Uint16Array, from: number, to: number, out: Uint16Array): number => {
  let length = 0;
  let last = -1;
  for (let index = from; index < to; index++) {
    const unit = units[index]!;
    if (unit !== last) out[length++] = unit;
    last = unit;
  }
  return length;
};

const best = new Float64Array(WORD_BOUND + 1);
const cameFrom = new Uint8Array(WORD_BOUND + 1);
const ends = new Uint8Array(WORD_BOUND);

/** Where the pieces of the last cut end, counted from its beginning. Read it before the next cut. */
export const cutEnds: Readonly<Uint8Array> = ends;

/**
 * Cuts letters without spaces into words: gives how many, 0 where no cut costs less than `bound` for each letter. Letters
 * that belong to no known word cost much, and neighbours among them stay together.
 */
export const cutWords = (
  units: Uint16Array,
  from: number,
  to: number,
  lexicon: Lexicon,
  bound: number,
): number => {
  const length = to - from;
  best.fill(Number.POSITIVE_INFINITY, 1, length + 1);
  best[0] = 0;
  for (let start = 0; start < length; start++) {
    const before = best[start]!;
    improve(start, start + 1, before + STRAY_COST);
    const last = Math.min(length, start + PIECE_BOUND);
    let hash = EMPTY_HASH;
    for (let end = start + 1; end <= last; end++) {
      hash = extendHash(hash, units[from + end - 1]!);
      const cost = costOf(lexicon.find(hash));
      if (cost > 0) improve(start, end, before + cost + PIECE_COST);
    }
  }
  return best[length]! > bound * length ? 0 : collectEnds(length);
};

const improve = (start: number, end: number, cost: number): void => {
  if (cost >= best[end]!) return;
  best[end] = cost;
  cameFrom[end] = start;
};

const collectEnds = (length: number): number => {
  let count = 0;
  let strayBefore = false;
  for (let end = length; end > 0; end = cameFrom[end]!) {
    const stray = best[end]! - best[cameFrom[end]!]! === STRAY_COST;
    if (!(stray && strayBefore)) ends[count++] = end;
    strayBefore = stray;
  }
  ends.subarray(0, count).reverse();
  return count;
};
