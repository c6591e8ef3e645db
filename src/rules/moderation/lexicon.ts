import { hashWord, spread } from './hash.js';

/** What is known of a word beside its features; bits of `marksOf`. */
export const Mark = {
  /** Explicit by itself. */
  explicit: 1,
  /** Often written with asterisks: looked for behind them. */
  masked: 2,
  /** A number below eighteen, in digits or letters. */
  youngAge: 4,
  /** Says that someone is a child. */
  child: 8,
  /** May say so. */
  young: 16,
  /** The last word of a phrase. */
  endsPhrase: 32,
} as const;

export interface LexiconWord {
  readonly word: string;
  /** How surprising the word is, 1 to 255: eight times the negative logarithm of its share. */
  readonly cost: number;
  readonly marks: number;
}

/** What a mask hides: `f**k` and kin, by the hash of the masked form. */
type Masks = ReadonlyMap<number, Uint16Array>;

const STAR = '*';
const MASKED_LENGTH_BOUND = 12;
const NO_COST = 0;

/** The words a reader knows, found by their hash: one typed array, because every word of every text asks. */
export class Lexicon {
  /** Slot by slot the hash of a word and what is known of it; a hash of 0 is an empty slot. */
  #table: Int32Array;
  #mask: number;
  #size = 0;
  readonly #masks: Masks;

  constructor(words: readonly LexiconWord[]) {
    this.#mask = (1 << Math.ceil(Math.log2(Math.max(64, words.length * 2)))) - 1;
    this.#table = new Int32Array((this.#mask + 1) * 2);
    for (const { word, cost, marks } of words) this.#put(hashWord(word), Math.min(255, cost), marks);
    this.#masks = maskAll(words.filter(({ marks }) => marks & Mark.masked).map(({ word }) => word));
  }

  /** Adds marks to a word, which becomes known by that. */
  mark(word: string, marks: number): void {
    if (this.#size * 3 > this.#mask * 2) this.#grow();
    this.#put(hashWord(word), NO_COST, marks);
  }

  /** 0 where the word is not known; read it with `costOf` and `marksOf`. */
  find(hash: number): number {
    const table = this.#table;
    const mask = this.#mask;
    for (let slot = spread(hash) & mask; ; slot = (slot + 1) & mask) {
      const key = table[slot << 1]!;
      if (key === hash) return table[(slot << 1) + 1]!;
      if (key === 0) return 0;
    }
  }

  /** The word that a form with asterisks most likely hides. */
  unmask(hash: number): Uint16Array | undefined {
    return this.#masks.get(hash);
  }

  #put(hash: number, cost: number, marks: number): void {
    const table = this.#table;
    let slot = spread(hash) & this.#mask;
    while (table[slot << 1] !== 0 && table[slot << 1] !== hash) slot = (slot + 1) & this.#mask;
    if (table[slot << 1] === 0) this.#size++;
    table[slot << 1] = hash;
    const known = table[(slot << 1) + 1]!;
    // The lowest bit tells that the word is there, whatever else is known.
    table[(slot << 1) + 1] = known | 1 | (known === 0 ? cost << 1 : 0) | (marks << 9);
  }

  #grow(): void {
    const old = this.#table;
    this.#mask = this.#mask * 2 + 1;
    this.#table = new Int32Array((this.#mask + 1) * 2);
    this.#size = 0;
    for (let at = 0; at < old.length; at += 2)
      if (old[at] !== 0) this.#put(old[at]!, costOf(old[at + 1]!), marksOf(old[at + 1]!));
  }
}

export const costOf = (value: number): number => (value >>> 1) & 255;
export const marksOf = (value: number): number => value >>> 9;

/** Every way one run of letters behind the first, or all vowels, may be starred out; the first word to claim a form keeps it. */
const maskAll = (words: readonly string[]): Masks => {
  const masks = new Map<number, Uint16Array>();
  for (const word of words) {
    if (word.length < 3 || word.length > MASKED_LENGTH_BOUND) continue;
    const units = Uint16Array.from(word, (letter) => letter.charCodeAt(0));
    for (const form of maskedForms(word)) {
      const hash = hashWord(form);
      if (!masks.has(hash)) masks.set(hash, units);
    }
  }
  return masks;
};

const maskedForms = (word: string): Set<string> => {
  const forms = new Set([word[0]! + word.slice(1).replace(/[aeiou]/g, STAR)]);
  for (let from = 1; from < word.length; from++)
    for (let to = from + 1; to <= word.length; to++)
      forms.add(word.slice(0, from) + STAR.repeat(to - from) + word.slice(to));
  forms.delete(word);
  return forms;
};
