import type { Automaton } from './automaton.js';
import type { SymbolSink } from './term-reader.js';

/** Enough for the symbols of one character, which may be shown before they are taken. */
const AHEAD = 256;

export interface TermHit {
  /** As it was given. */
  readonly term: string;
  /** Its number in the list that was compiled. */
  readonly index: number;
  /** Positions in the original text. */
  readonly from: number;
  readonly to: number;
}

/** What the terms were compiled to. */
export interface CompiledTerms {
  readonly automaton: Automaton;
  /** As they were given. */
  readonly terms: readonly string[];
  /** The number of each pattern's term in that list. */
  readonly indexes: readonly number[];
  /** Characters which, once a mark joins them, may become another symbol of a term. */
  readonly openBases: ReadonlySet<string>;
  /** Whether anything that joins what stands before it begins a term, or stands in one. */
  readonly beginJoining: boolean;
  readonly haveJoining: boolean;
}

/** The automaton's way through the symbols of one text. */
export class TermMatcher implements SymbolSink {
  hits: TermHit[] = [];
  readonly #compiled: CompiledTerms;
  readonly #automaton: Automaton;
  /** Where the latest symbols stood in the text, as far back as a match can reach. */
  readonly #places: Uint32Array;
  #limit = Infinity;
  #state = 0;
  /** Symbols since a match was last possible, and more: only their distances count. */
  #count = 0;
  /** While trying: where the earliest match begins that was found. */
  #tried: number | null = null;

  constructor(compiled: CompiledTerms) {
    this.#compiled = compiled;
    this.#automaton = compiled.automaton;
    this.#places = new Uint32Array(2 ** Math.ceil(Math.log2(compiled.automaton.depth + AHEAD)));
  }

  reset(limit: number): void {
    this.hits = [];
    this.#limit = limit;
    this.#state = this.#count = 0;
  }

  get idle(): boolean {
    return this.#state === 0;
  }

  get isFull(): boolean {
    return this.hits.length >= this.#limit;
  }

  /** Where the match begins that is possible now; Infinity where none is. */
  get openFrom(): number {
    return this.#placeOf(this.#state);
  }

  take(symbol: number, from: number, to: number): void {
    const state = this.#automaton.next(this.#state, symbol);
    this.#state = state;
    if (state === 0) return;
    this.#places[this.#count & (this.#places.length - 1)] = from;
    this.#count += 1;
    const output = this.#automaton.firstOutput(state);
    if (output !== 0) this.#record(output, to);
  }

  /** Where the earliest match begins that is complete or possible after the symbols that `show` brings; nothing is kept. */
  tryOut(show: () => void): number {
    const [state, count] = [this.#state, this.#count];
    this.#tried = Infinity;
    show();
    const earliest = Math.min(this.#tried, this.openFrom);
    this.#tried = null;
    this.#state = state;
    this.#count = count;
    return earliest;
  }

  #record(longest: number, to: number): void {
    if (this.#tried !== null) {
      this.#tried = Math.min(this.#tried, this.#placeOf(longest));
      return;
    }
    const { automaton, terms, indexes } = this.#compiled;
    for (let output = longest; output !== 0 && !this.isFull; output = automaton.nextOutput(output)) {
      const index = indexes[automaton.patternOf(output)]!;
      this.hits.push({ term: terms[index]!, index, from: this.#placeOf(output), to });
    }
  }

  #placeOf(state: number): number {
    if (state === 0) return Infinity;
    return this.#places[(this.#count - this.#automaton.depthOf(state)) & (this.#places.length - 1)]!;
  }
}
