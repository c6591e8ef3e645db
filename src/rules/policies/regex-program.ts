import { RE2JS } from '@bufbuild/re2';
import { foldRune } from './fold-case.js';
import { expandedSize } from './regex-size.js';
import { anyOf, allOf, NOTHING, NEVER, type Required } from './requirement.js';

/** A compiled pattern as plain numbers, so that it can travel between threads. */
export interface Program {
  readonly start: number;
  /** One of `opcodes`, per instruction. */
  readonly ops: Uint8Array;
  readonly outs: Int32Array;
  /** The other branch, the conditions of an empty width, or the folded rune. */
  readonly args: Int32Array;
  /** Ranges of instruction n, as pairs: from rangeStarts[n] up to rangeStarts[n + 1]. */
  readonly rangeStarts: Int32Array;
  readonly ranges: Int32Array;
  /** What every text it matches contains. */
  readonly required: Required;
}

export const opcodes = { branch: 1, go: 2, emptyWidth: 3, fail: 4, match: 5, runes: 6, folded: 7 } as const;

/** What the conditions of an empty width mean, bit by bit. */
export const conditions = {
  beginLine: 1,
  endLine: 2,
  beginText: 4,
  endText: 8,
  wordBoundary: 16,
  noWordBoundary: 32,
} as const;

const MOST_INSTRUCTIONS = 50_000;
const MOST_RANGES = 500_000;
const LAST_RUNE = 0x10ffff;
const FOLD_CASE = 1;
/** The library's names of its instructions. */
const [ALT, ALT_MATCH, CAPTURE, EMPTY_WIDTH, FAIL, MATCH, NOP, RUNE, RUNE1, RUNE_ANY] = [
  1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
] as const;

class PatternFault extends Error {
  override readonly name = 'PatternFault';
}

/** Throws what the library says about a pattern that is none, and a PatternFault where it is too large. */
export const compileProgram = (pattern: string, mostInstructions = MOST_INSTRUCTIONS): Program => {
  if (expandedSize(pattern) > mostInstructions) throw tooLarge();
  const { prog, prefilter } = RE2JS.compile(pattern).re2();
  const size = prog.numInst();
  const program = {
    start: prog.start,
    ops: new Uint8Array(size),
    outs: new Int32Array(size),
    args: new Int32Array(size),
    rangeStarts: new Int32Array(size + 1),
  };
  const ranges: number[] = [];
  for (let pc = 0; pc < size; pc++) {
    const { op, out, arg, runes } = prog.getInst(pc);
    program.outs[pc] = out;
    program.rangeStarts[pc] = ranges.length;
    if (op === RUNE1 || op === RUNE) {
      const [rune] = runes;
      if (runes.length === 1 && rune !== undefined && (arg & FOLD_CASE) !== 0) {
        program.ops[pc] = opcodes.folded;
        program.args[pc] = foldRune(rune);
      } else {
        program.ops[pc] = opcodes.runes;
        for (const end of runes.length === 1 ? [...runes, ...runes] : runes) ranges.push(end);
      }
    } else if (op >= RUNE_ANY) {
      program.ops[pc] = opcodes.runes;
      ranges.push(...(op === RUNE_ANY ? [0, LAST_RUNE] : [0, 9, 11, LAST_RUNE]));
    } else {
      program.ops[pc] = plainOpcode(op);
      program.args[pc] = arg;
    }
  }
  program.rangeStarts[size] = ranges.length;
  if (ranges.length > MOST_RANGES) throw tooLarge();
  return { ...program, ranges: Int32Array.from(ranges), required: requiredBy(pattern, prefilter) };
};

const tooLarge = (): PatternFault => new PatternFault('the pattern is too large');

const plainOpcode = (op: number): number => {
  switch (op) {
    case ALT:
    case ALT_MATCH:
      return opcodes.branch;
    case CAPTURE:
    case NOP:
      return opcodes.go;
    case EMPTY_WIDTH:
      return opcodes.emptyWidth;
    case MATCH:
      return opcodes.match;
    case FAIL:
      return opcodes.fail;
    default:
      throw new Error(`Instruction ${op} is unknown.`);
  }
};

/** The library's own note of the literals a match contains, itself a tree of `and` and `or`. */
type Prefilter = NonNullable<ReturnType<RE2JS['re2']>['prefilter']>;
const [EXACT, AND, OR] = [1, 2, 3];

const requiredBy = (pattern: string, prefilter: Prefilter | null): Required => {
  if (prefilter) return readPrefilter(prefilter, false);
  // Whatever `(?i)x` matches is, letter by letter and but for case, something that `x` matches.
  if (!pattern.startsWith('(?i)')) return NOTHING;
  const exact = RE2JS.compile(pattern.slice('(?i)'.length)).re2().prefilter;
  return exact ? readPrefilter(exact, true) : NOTHING;
};

const readPrefilter = ({ type, str, subs }: Prefilter, ignoreCase: boolean): Required => {
  const parts = (): Required[] => subs.map((sub) => readPrefilter(sub, ignoreCase));
  switch (type) {
    case EXACT:
      return ignoreCase && !isAscii(str)
        ? NOTHING
        : [[{ literal: ignoreCase ? str.toLowerCase() : str, ignoreCase }]];
    case AND:
      return allOf(parts());
    case OR:
      return parts().reduce(anyOf, NEVER);
    default:
      return NOTHING;
  }
};

/** Only there do all letters that fold alike also lower-case alike, once the long s is one. */
const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text);
