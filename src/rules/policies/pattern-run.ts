import { LRUCache } from 'lru-cache';
import { spend } from './budget.js';
import { Pattern, type Search } from './pattern.js';
import { compileProgram } from './regex-program.js';
import { expandedSize } from './regex-size.js';

/** Steps of all searches before an evaluation pauses: a few milliseconds. */
const STEPS_BETWEEN_PAUSES = 100_000;
/** A search that took fewer steps is rather made again than kept. */
const WORTH_KEEPING = 2_000;

/** Patterns that a rule makes of what it reads are small, and compiled where they are met. */
const MOST_DYNAMIC_INSTRUCTIONS = 1_000;
const dynamicPatterns = new LRUCache<string, Pattern>({ max: 100 });

/** The searches of one evaluation. It may have to be made again from the start, but no search is. */
export class PatternRun {
  readonly #patterns: ReadonlyMap<string, Pattern>;
  readonly #kept = new Map<Pattern, Map<string, Search>>();
  #left = STEPS_BETWEEN_PAUSES;
  /** After a pause every search is kept: what is made again must come further each time. */
  #worthKeeping = WORTH_KEEPING;

  constructor(patterns: ReadonlyMap<string, Pattern>) {
    this.#patterns = patterns;
  }

  /** Whether a search could not be finished since the last `resume`. */
  get paused(): boolean {
    return this.#left <= 0;
  }

  resume(): void {
    this.#worthKeeping = 0;
    this.#left = STEPS_BETWEEN_PAUSES;
  }

  test(source: string, text: string): boolean {
    const pattern = this.#patterns.get(source) ?? compileDynamic(source);
    const known = this.#kept.get(pattern)?.get(text);
    const found = known?.found ?? this.#goOn(pattern, known ?? pattern.begin(text), known !== undefined);
    if (found === null) throw new Error('The search goes on after a pause.');
    return found;
  }

  #goOn(pattern: Pattern, search: Search, isKept: boolean): boolean | null {
    const before = this.#left;
    if (before > 0) this.#left = pattern.search(search, before);
    const { found } = search;
    if (!isKept && (found === null || before - this.#left > this.#worthKeeping)) this.#keep(pattern, search);
    return found;
  }

  #keep(pattern: Pattern, search: Search): void {
    const kept = this.#kept.get(pattern) ?? new Map<string, Search>();
    this.#kept.set(pattern, kept.set(search.text, search));
  }
}

const compileDynamic = (source: string): Pattern => {
  const known = dynamicPatterns.get(source);
  if (known) return known;
  spend(200 + 10 * Math.min(expandedSize(source), MOST_DYNAMIC_INSTRUCTIONS));
  const pattern = new Pattern(compileProgram(source, MOST_DYNAMIC_INSTRUCTIONS));
  dynamicPatterns.set(source, pattern);
  return pattern;
};
