import { WORD_BOUND, hashUnits } from './hash.js';
import type { Lexicon } from './lexicon.js';
import { Kind, type Token } from './reader.js';
import {
  collapseRuns,
  cutEnds,
  cutWords,
  readSigns,
  readStretched,
  SPACED_BOUND,
  WHOLE_WORD_BOUND,
} from './spelling.js';

/** Who takes the words of a text, in their order. */
export interface WordSink {
  /** `value`: what the lexicon says of it. `end`: characters of the text up to the end of the word. */
  word(units: Uint16Array, from: number, to: number, hash: number, value: number, end: number): void;
  /** Another spelling of the word that comes next. */
  variant(units: Uint16Array, from: number, to: number): void;
}

/** Letters without a space shorter than this are never cut into words. */
const CUT_MIN = 8;
const STAR = 42;
const spelt = new Uint16Array(WORD_BOUND);

/** Makes words of tokens, seeing through digits for letters, asterisks, stretched words and letters set apart. */
export class Words {
  readonly #lexicon: Lexicon;
  readonly #sink: WordSink;
  /** Single letters that may turn out to be one word, and where the last of them ends. */
  readonly #singles = new Uint16Array(WORD_BOUND);
  #singlesLength = 0;
  #singlesEnd = 0;
  #spacedOut = false;

  constructor(lexicon: Lexicon, sink: WordSink) {
    this.#lexicon = lexicon;
    this.#sink = sink;
  }

  reset(): void {
    this.#singlesLength = 0;
    this.#spacedOut = false;
  }

  token(token: Token, end: number): void {
    const { units, length, kinds, stretched, gap } = token;
    if (kinds === Kind.letter || kinds === Kind.digit) this.#takePiece(units, 0, length, gap, stretched, end);
    else this.#takeMixed(token, end);
  }

  /** The text is whole. */
  finish(): void {
    this.#takeSingles();
  }

  #takePiece(
    units: Uint16Array,
    from: number,
    to: number,
    gap: number,
    stretched: boolean,
    end: number,
  ): void {
    if (to - from === 1 && !stretched) {
      if (gap !== 1) this.#takeSingles();
      else if (this.#singlesLength === WORD_BOUND) this.#takeMostSingles();
      this.#singles[this.#singlesLength++] = units[from]!;
      this.#singlesEnd = end;
      return;
    }
    if (this.#singlesLength > 0) this.#takeSingles();
    this.#spacedOut = false;
    this.#takeWord(units, from, to, stretched, end);
  }

  /** Three letters set apart are one word; after such a word, two. */
  #takeSingles(): void {
    const length = this.#singlesLength;
    if (length === 0) return;
    this.#singlesLength = 0;
    if (length > 2 || (length === 2 && this.#spacedOut)) {
      this.#spacedOut = true;
      this.#takeJoined(length);
    } else
      for (let index = 0; index < length; index++)
        this.#give(this.#singles, index, index + 1, this.#singlesEnd);
  }

  #takeJoined(length: number): void {
    const end = this.#singlesEnd;
    const { length: readLength, known } = readSigns(this.#singles, 0, length, spelt, this.#lexicon);
    const count = known ? 0 : cutWords(spelt, 0, readLength, this.#lexicon, SPACED_BOUND);
    if (count < 2) this.#give(spelt, 0, readLength, end);
    else this.#givePieces(spelt, 0, count, end);
  }

  /** There is no more room: all words but the last are taken, which may go on. */
  #takeMostSingles(): void {
    const { length } = readSigns(this.#singles, 0, WORD_BOUND, spelt, this.#lexicon);
    const count = cutWords(spelt, 0, length, this.#lexicon, SPACED_BOUND);
    const kept = count < 2 || length < WORD_BOUND ? 0 : length - cutEnds[count - 2]!;
    if (kept === 0 || kept > WORD_BOUND / 2) {
      this.#takeSingles();
      return;
    }
    this.#spacedOut = true;
    this.#givePieces(spelt, 0, count - 1, this.#singlesEnd);
    this.#singles.copyWithin(0, WORD_BOUND - kept);
    this.#singlesLength = kept;
  }

  #takeWord(units: Uint16Array, from: number, to: number, stretched: boolean, end: number): void {
    const hash = hashUnits(units, from, to);
    const value = this.#lexicon.find(hash);
    if (value !== 0) {
      this.#sink.word(units, from, to, hash, value, end);
      return;
    }
    if (stretched) {
      const length = readStretched(units, from, to, spelt, this.#lexicon);
      if (length > 0) {
        this.#give(spelt, 0, length, end);
        return;
      }
      this.#sink.variant(spelt, 0, collapseRuns(units, from, to, spelt));
    } else if (to - from >= CUT_MIN && this.#giveCut(units, from, to, end)) return;
    this.#sink.word(units, from, to, hash, 0, end);
  }

  /** Digits and signs among letters: the word they spell where there is one, else what stands between the signs. */
  #takeMixed({ units, length, kinds, stretched, gap }: Token, end: number): void {
    let from = 0;
    let to = length;
    while (to > from && isEdge(units[to - 1]!) && units[to - 1] !== STAR) to--;
    while (from < to && (isEdge(units[from]!) || units[from] === STAR)) from++;
    if (kinds & Kind.star && this.#giveUnmasked(units, from, to, end)) return;
    while (to > from && (isEdge(units[to - 1]!) || units[to - 1] === STAR)) to--;
    if (from === to) return;
    if (kinds & Kind.letter && to - from > 1) {
      const { length: readLength, known } = readSigns(units, from, to, spelt, this.#lexicon);
      if (known) {
        this.#takePiece(spelt, 0, readLength, gap, false, end);
        return;
      }
      if (standsInside(units, from, to)) this.#sink.variant(spelt, 0, readLength);
    }
    this.#splitAtSigns(units, from, to, gap, stretched, end);
  }

  #splitAtSigns(
    units: Uint16Array,
    from: number,
    to: number,
    gap: number,
    stretched: boolean,
    end: number,
  ): void {
    let start = from;
    let before = gap;
    for (let index = from; index <= to; index++) {
      if (index < to && !isSign(units[index]!)) continue;
      if (index > start) {
        this.#takePiece(units, start, index, before, stretched, end);
        before = 0;
      }
      before++;
      start = index + 1;
    }
  }

  #giveUnmasked(units: Uint16Array, from: number, to: number, end: number): boolean {
    let last = to;
    // Asterisks at the end are emphasis unless they hide at least as much as is shown.
    while (last > from && units[last - 1] === STAR) last--;
    const bound = to - last >= last - from ? to : last;
    const hidden = this.#lexicon.unmask(hashUnits(units, from, bound));
    if (!hidden) return false;
    this.#takePiece(hidden, 0, hidden.length, 0, false, end);
    return true;
  }

  #giveCut(units: Uint16Array, from: number, to: number, end: number): boolean {
    const count = cutWords(units, from, to, this.#lexicon, WHOLE_WORD_BOUND);
    if (count < 2) return false;
    this.#sink.variant(units, from, to);
    this.#givePieces(units, from, count, end);
    return true;
  }

  /** The first pieces of the last cut. */
  #givePieces(units: Uint16Array, from: number, count: number, end: number): void {
    let start = from;
    for (let piece = 0; piece < count; piece++) {
      const pieceEnd = from + cutEnds[piece]!;
      this.#give(units, start, pieceEnd, end);
      start = pieceEnd;
    }
  }

  #give(units: Uint16Array, from: number, to: number, end: number): void {
    const hash = hashUnits(units, from, to);
    this.#sink.word(units, from, to, hash, this.#lexicon.find(hash), end);
  }
}

const isLetter = (unit: number): boolean => (unit >= 97 && unit <= 122) || unit > 127;
const isDigit = (unit: number): boolean => unit >= 48 && unit <= 57;
const isSign = (unit: number): boolean => !isLetter(unit) && !isDigit(unit);

/** Signs at the edge of a word are punctuation, but for the two that begin one: `@` and `$`. */
const isEdge = (unit: number): boolean => unit === 33 || unit === 43 || unit === 124;

/** A digit or sign with a letter on both sides. */
const standsInside = (units: Uint16Array, from: number, to: number): boolean => {
  let letters = false;
  let others = false;
  for (let index = from; index < to; index++) {
    const letter = isLetter(units[index]!);
    if (letter && others) return true;
    if (letter) letters = true;
    else others = letters;
  }
  return false;
};
