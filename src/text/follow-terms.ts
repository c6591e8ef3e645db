import { basesOf, hasJoining } from './term-characters.js';
import { TermMatcher, type CompiledTerms, type TermHit } from './term-matcher.js';
import { TermReader } from './term-reader.js';

/** What is read of a whole text before asking whether enough was found. */
const STRETCH = 16_384;

/** Reads a text in pieces and finds what a reader of the whole would find. */
export interface TermFollower {
  write(text: string): void;
  /** Nothing follows. */
  end(): void;
  /** In the order of their ends; positions in the whole stream. */
  readonly hits: readonly TermHit[];
  /** How many characters from the beginning can be part of no unfinished or future match. */
  readonly safe: number;
}

export class TermScanner implements TermFollower {
  readonly #compiled: CompiledTerms;
  readonly #matcher: TermMatcher;
  readonly #reader: TermReader;
  #safe = 0;

  constructor(compiled: CompiledTerms, limit: number) {
    this.#compiled = compiled;
    this.#matcher = new TermMatcher(compiled);
    this.#reader = new TermReader(this.#matcher);
    this.#matcher.reset(limit);
  }

  get hits(): readonly TermHit[] {
    return this.#matcher.hits;
  }

  get safe(): number {
    return this.#safe;
  }

  write(text: string): void {
    this.#reader.read(text);
    this.#safe = Math.max(this.#safe, this.#findSafe());
  }

  end(): void {
    this.#reader.finish();
    this.#safe = this.#reader.length;
  }

  /** All of a text at once; the scanner can be used again afterwards. */
  scan(text: string, limit: number): readonly TermHit[] {
    this.#reader.reset();
    this.#matcher.reset(limit);
    for (let at = 0; at < text.length && !this.#matcher.isFull; at += STRETCH) {
      this.#reader.read(text, at, Math.min(text.length, at + STRETCH));
    }
    if (!this.#matcher.isFull) this.#reader.finish();
    const { hits } = this.#matcher;
    this.#matcher.reset(limit);
    return hits;
  }

  #findSafe(): number {
    const { cluster, clusterFrom, length } = this.#reader;
    if (cluster === '') return Math.min(length, this.#matcher.openFrom);
    if (this.#mayChange(cluster)) return Math.min(clusterFrom, this.#matcher.openFrom);
    return Math.min(length, this.#matcher.tryOut(this.#peek));
  }

  readonly #peek = (): void => this.#reader.peek();

  /** Whether marks yet to come could make of this cluster the symbols of a term that it is not now. */
  #mayChange(cluster: string): boolean {
    const { openBases, beginJoining, haveJoining } = this.#compiled;
    if (beginJoining || (haveJoining && hasJoining(cluster))) return true;
    return openBases.size > 0 && basesOf(cluster).some((base) => openBases.has(base));
  }
}
