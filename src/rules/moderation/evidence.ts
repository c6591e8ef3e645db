import { hashPair, hashWord } from './hash.js';
import { Mark, type Lexicon } from './lexicon.js';
import {
  ageNumbers,
  agePhrases,
  ageWords,
  childPhrases,
  childWords,
  selfHarmPhrases,
  selfHarmWords,
  youngWords,
} from './phrases.js';

const AGE_SYMBOL = '#age';
const AGE = hashWord(AGE_SYMBOL);
/** Words of the longest phrase; a power of two. */
const MEMORY = 8;
/** How much of what was said about someone's age still counts one segment later. */
const FADING = 0.9;

const Sense = { explicit: 0, selfHarm: 1, age: 2, child: 3, young: 4, words: 5 } as const;
const SENSES = 6;

/** What each phrase says, by the hash of its words, the last one first. */
export type Phrases = ReadonlyMap<number, number>;

/** Marks in the lexicon the words that rules look for, so that no other word is ever looked up. */
export const preparePhrases = (lexicon: Lexicon, explicitPhrases: readonly string[]): Phrases => {
  const phrases = new Map<number, number>();
  const learn = (list: readonly string[], sense: number): void => {
    for (const phrase of list) {
      const words = phrase.split(' ');
      phrases.set(words.map(hashWord).reduceRight(hashPair, 0), sense);
      const last = words.at(-1)!;
      if (last !== AGE_SYMBOL) lexicon.mark(last, Mark.endsPhrase);
    }
  };
  for (const word of ageNumbers) lexicon.mark(word, Mark.youngAge);
  for (const word of childWords) lexicon.mark(word, Mark.child);
  for (const word of youngWords) lexicon.mark(word, Mark.young);
  learn(explicitPhrases, Sense.explicit);
  learn([...selfHarmWords, ...selfHarmPhrases], Sense.selfHarm);
  learn([...ageWords, ...agePhrases], Sense.age);
  learn(childPhrases, Sense.child);
  return phrases;
};

/** What rules found in a window of text. */
export class Evidence {
  readonly #phrases: Phrases;
  readonly #symbols = new Int32Array(MEMORY);
  #read = 0;
  readonly #counts = new Float64Array(SENSES);
  readonly #lastCounts = new Float64Array(SENSES);

  constructor(phrases: Phrases) {
    this.#phrases = phrases;
  }

  reset(): void {
    this.#read = 0;
    this.#counts.fill(0);
    this.#lastCounts.fill(0);
  }

  /** `marks`: what the lexicon says of the word. */
  take(hash: number, marks: number): void {
    this.#symbols[this.#read++ & (MEMORY - 1)] = marks & Mark.youngAge ? AGE : hash;
    const counts = this.#counts;
    counts[Sense.words]!++;
    if (marks === 0) return;
    if (marks & Mark.explicit) counts[Sense.explicit]!++;
    if (marks & Mark.child) counts[Sense.child]!++;
    if (marks & Mark.young) counts[Sense.young]!++;
    if (marks & (Mark.endsPhrase | Mark.youngAge)) this.#takePhrases();
  }

  /** The longest phrase that ends here is the one that was said. */
  #takePhrases(): void {
    let hash = 0;
    let said: number | undefined;
    for (let back = 1; back <= MEMORY && back <= this.#read; back++) {
      hash = hashPair(hash, this.#symbols[(this.#read - back) & (MEMORY - 1)]!);
      said = this.#phrases.get(hash) ?? said;
    }
    if (said !== undefined) this.#counts[said]!++;
  }

  /** Explicit words and phrases of the window, less for longer windows. */
  explicitness(): number {
    const words = this.#sum(Sense.words);
    return words === 0 ? 0 : this.#sum(Sense.explicit) / Math.sqrt(Math.max(8, words));
  }

  selfHarm(): number {
    return Math.min(2, this.#sum(Sense.selfHarm));
  }

  /** That someone in the text is a child: an age counts most, a word such as student least. */
  childhood(): number {
    return (
      1.6 * Math.min(3, this.#sum(Sense.age)) +
      0.8 * Math.min(4, this.#sum(Sense.child)) +
      0.2 * Math.min(5, this.#sum(Sense.young))
    );
  }

  #sum(sense: number): number {
    return this.#counts[sense]! + this.#lastCounts[sense]!;
  }

  /** The segment is done; who is how old is remembered for longer than the rest. */
  turn(): void {
    const [counts, last] = [this.#counts, this.#lastCounts];
    for (let sense = 0; sense < SENSES; sense++) {
      const fades = sense === Sense.age || sense === Sense.child || sense === Sense.young;
      last[sense] = counts[sense]! + (fades ? last[sense]! * FADING : 0);
      counts[sense] = 0;
    }
  }
}
