import type { Automaton } from './automaton.js';
import { buildAutomaton } from './build-automaton.js';
import { runAtOnce, runInSlices, type Sliced } from './sliced.js';

export interface LiteralOptions {
  /** Compares lower-cased code units; off by default: exact. */
  readonly ignoreCase?: boolean;
}

/** Which of many strings occur in a text, in one pass whatever their number. */
export interface Literals {
  readonly size: number;
  /** The numbers, in the list that was compiled, of all literals that are substrings of the text. */
  presentIn(text: string): Set<number>;
}

export const compileLiterals = (literals: readonly string[], options: LiteralOptions = {}): Literals =>
  runAtOnce(build(literals, options));

/** The same result without holding up the loop. */
export const compileLiteralsSlowly = (
  literals: readonly string[],
  options: LiteralOptions = {},
): Promise<Literals> => runInSlices(build(literals, options));

function* build(literals: readonly string[], { ignoreCase = false }: LiteralOptions): Sliced<Literals> {
  const numbersOf = new Map<string, number[]>();
  for (const [number, literal] of literals.entries()) {
    const pattern = ignoreCase ? lowerUnits(literal) : literal;
    const numbers = numbersOf.get(pattern);
    if (numbers) numbers.push(number);
    else numbersOf.set(pattern, [number]);
    if (number % 256 === 0) yield;
  }
  const empty = numbersOf.get('') ?? [];
  numbersOf.delete('');
  const automaton = yield* buildAutomaton([...numbersOf.keys()]);
  const groups = [...numbersOf.values()];
  return {
    size: literals.length,
    presentIn: (text) => findPresent(automaton, groups, empty, ignoreCase ? lowerUnits(text) : text),
  };
}

const findPresent = (
  automaton: Automaton,
  groups: readonly (readonly number[])[],
  empty: readonly number[],
  text: string,
): Set<number> => {
  const present = new Set(empty);
  if (groups.length === 0) return present;
  const seen = new Set<number>();
  let state = 0;
  for (let n = 0; n < text.length && seen.size < groups.length; n++) {
    state = automaton.next(state, text.charCodeAt(n));
    // What ends with a known output was found with it: each output is walked once per text.
    let output = automaton.firstOutput(state);
    for (; output !== 0 && !seen.has(output); output = automaton.nextOutput(output)) {
      seen.add(output);
      for (const number of groups[automaton.patternOf(output)]!) present.add(number);
    }
  }
  return present;
};

/** Every unit stays in its place: of all letters only these two lower-case to more, or by their neighbours. */
const lowerUnits = (text: string): string =>
  text
    .replaceAll('\u0130', 'i')
    .replaceAll(/[\u03a3\u03c2]/g, '\u03c3')
    .toLowerCase();
