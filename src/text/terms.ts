import { buildAutomaton } from './build-automaton.js';
import { TermScanner, type TermFollower } from './follow-terms.js';
import { runAtOnce, runInSlices, type Sliced } from './sliced.js';
import { basesOf, hasJoining, WORD_START } from './term-characters.js';
import type { CompiledTerms, TermHit } from './term-matcher.js';
import { TermReader, type SymbolSink } from './term-reader.js';

export type { TermFollower } from './follow-terms.js';
export type { TermHit } from './term-matcher.js';

/** A text may contain more matches than anyone wants to read. */
const MOST_HITS = 1_000;

/**
 * Terms in any number, found in one pass (D19): NFKC, case-folded, runs of whitespace as one space, invisible characters
 * left out, on word boundaries. A boundary is asked for only where the term's edge is a letter, digit or mark of a
 * script that separates its words.
 */
export interface Terms {
  /** Distinct terms of which something is left after normalisation. */
  readonly size: number;
  /** What they occupy, beside their own text. */
  readonly bytes: number;
  has(text: string): boolean;
  /** In the order of their ends, the longest first; the first thousand unless told otherwise. */
  find(text: string, limit?: number): readonly TermHit[];
  /** The same hits in a text that comes in pieces; beyond the limit none are kept. */
  follow(limit?: number): TermFollower;
}

/** At once: for lists that take no noticeable time. */
export const compileTerms = (terms: readonly string[]): Terms => runAtOnce(build(terms));

/** The same result without holding up the loop. */
export const compileTermsSlowly = (terms: readonly string[]): Promise<Terms> => runInSlices(build(terms));

function* build(given: readonly string[]): Sliced<Terms> {
  const encoder = new TermEncoder();
  const patterns: string[] = [];
  const indexes: number[] = [];
  const characters = new Set<string>();
  let beginJoining = false;
  for (const [index, term] of given.entries()) {
    const pattern = encoder.encode(term);
    if (pattern !== '') {
      patterns.push(pattern);
      indexes.push(index);
      beginJoining ||= hasJoining(firstOf(pattern));
      for (const character of pattern.match(BEYOND_ASCII) ?? []) characters.add(character);
    }
    if (index % 64 === 0) yield;
  }
  const automaton = yield* buildAutomaton(patterns);
  return open({
    automaton,
    terms: [...given],
    indexes,
    openBases: new Set([...characters].flatMap((character) => openBaseOf(character))),
    beginJoining,
    haveJoining: [...characters].some(hasJoining),
  });
}

const open = (compiled: CompiledTerms): Terms => {
  const scanner = new TermScanner(compiled, MOST_HITS);
  return {
    size: compiled.automaton.size,
    bytes: compiled.automaton.bytes,
    has: (text) => scanner.scan(text, 1).length > 0,
    find: (text, limit = MOST_HITS) => scanner.scan(text, limit),
    follow: (limit = MOST_HITS) => new TermScanner(compiled, limit),
  };
};

const SPACE_SYMBOL = 0x20;
const BEYOND_ASCII = /[^\0-\x7f]/gu;

/** Collects the symbols of one term after the other. */
class TermEncoder implements SymbolSink {
  readonly idle = false;
  readonly #reader = new TermReader(this);
  #symbols = new Uint16Array(1_024);
  #count = 0;

  take(symbol: number): void {
    if (this.#count === this.#symbols.length) {
      const larger = new Uint16Array(2 * this.#count);
      larger.set(this.#symbols);
      this.#symbols = larger;
    }
    this.#symbols[this.#count++] = symbol;
  }

  /** Without the spaces around the term; '' where nothing is left of it. */
  encode(term: string): string {
    this.#count = 0;
    this.#reader.reset();
    this.#reader.read(term);
    this.#reader.finish();
    const from = this.#symbols[0] === SPACE_SYMBOL ? 1 : 0;
    const to = this.#symbols[this.#count - 1] === SPACE_SYMBOL ? this.#count - 1 : this.#count;
    return from < to ? String.fromCharCode(...this.#symbols.subarray(from, to)) : '';
  }
}

const firstOf = (pattern: string): string =>
  String.fromCodePoint(pattern.codePointAt(pattern.charCodeAt(0) === WORD_START ? 1 : 0)!);

const openBaseOf = (character: string): string[] => {
  const bases = basesOf(character);
  return bases.length > 1 ? bases.slice(0, 1) : [];
};
