import { foldRune } from './fold-case.js';
import { noteLearned } from './pattern-cache.js';
import { conditions, opcodes, type Program } from './regex-program.js';

/** What came before a place in the text, as far as an empty width asks. */
const before = { begin: 0, newline: 1, word: 2, other: 3 } as const;
const END = -1;
const ASCII = 128;
/** What is remembered, in numbers: a state beside its instructions, and a transition that is not in its table. */
const STATE_CELLS = 192;
const WIDE_CELLS = 8;

/** Where all threads of a search stand between two runes, and where each rune leads, once that was needed. */
class State {
  readonly ascii: (State | undefined)[] = new Array<State | undefined>(ASCII);
  readonly wide = new Map<number, State>();
  readonly kernel: Int32Array;
  readonly before: number;

  constructor(kernel: Int32Array, lastKind: number) {
    this.kernel = kernel;
    this.before = lastKind;
  }
}

const matched = new State(new Int32Array(0), 0);

/** How far a search has come; it goes on from there. */
export interface Search {
  readonly text: string;
  at: number;
  state: State;
  /** Null until it is known. */
  found: boolean | null;
}

/**
 * A pattern looked for in linear time, at worst its own size for every rune: all threads step together, and every step
 * that was made once is remembered. A search can stop anywhere and go on later.
 */
export class Pattern {
  readonly program: Program;
  readonly #states = new Map<number, State[]>();
  readonly #seen: Int32Array;
  readonly #taken: Int32Array;
  readonly #stack: number[] = [];
  readonly #asksBefore: boolean;
  #round = 0;
  #steps = 0;

  constructor(program: Program) {
    this.program = program;
    this.#seen = new Int32Array(program.ops.length);
    this.#taken = new Int32Array(program.ops.length);
    this.#asksBefore = program.ops.includes(opcodes.emptyWidth);
  }

  begin(text: string): Search {
    return { text, at: 0, state: this.#intern(Int32Array.of(this.program.start), before.begin), found: null };
  }

  /** Goes on until the answer is known or the steps are used up; says how many are left. */
  search(search: Search, steps: number): number {
    const { text } = search;
    let { at, state } = search;
    this.#steps = steps;
    while (search.found === null && this.#steps > 0) {
      let rune = at < text.length ? text.charCodeAt(at) : END;
      let width = 1;
      if (rune >= 0xd800 && rune < 0xdc00) {
        rune = text.codePointAt(at)!;
        if (rune > 0xffff) width = 2;
      }
      const next =
        (rune >= 0 && rune < ASCII ? state.ascii[rune] : state.wide.get(rune)) ?? this.#step(state, rune);
      this.#steps -= 1;
      if (next === matched) search.found = true;
      else if (rune === END) search.found = false;
      state = next;
      at += width;
    }
    search.at = at;
    search.state = state;
    return this.#steps;
  }

  /** The memory of all searches so far, not the ability to search. */
  forget(): void {
    this.#states.clear();
  }

  #step(state: State, rune: number): State {
    const next = this.#follow(state, rune);
    if (rune >= 0 && rune < ASCII) {
      state.ascii[rune] = next;
    } else {
      state.wide.set(rune, next);
      noteLearned(this, WIDE_CELLS);
    }
    return next;
  }

  #follow({ kernel, before: lastKind }: State, rune: number): State {
    const { ops, outs, args, start } = this.program;
    const holds = conditionsBetween(lastKind, rune);
    const round = (this.#round = (this.#round + 1) | 0);
    const stack = this.#stack;
    const next = [start];
    this.#taken[start] = round;
    stack.length = 0;
    for (let n = kernel.length - 1; n >= 0; n--) stack.push(kernel[n]!);
    for (let pc = stack.pop(); pc !== undefined; pc = stack.pop()) {
      if (this.#seen[pc] === round) continue;
      this.#seen[pc] = round;
      this.#steps -= 1;
      switch (ops[pc]) {
        case opcodes.match:
          return matched;
        case opcodes.branch:
          stack.push(args[pc]!, outs[pc]!);
          break;
        case opcodes.go:
          stack.push(outs[pc]!);
          break;
        case opcodes.emptyWidth:
          if ((args[pc]! & ~holds) === 0) stack.push(outs[pc]!);
          break;
        case opcodes.runes:
        case opcodes.folded: {
          const out = outs[pc]!;
          if (this.#taken[out] === round || rune === END || !this.#takes(pc, rune)) break;
          this.#taken[out] = round;
          next.push(out);
        }
      }
    }
    this.#steps -= next.length;
    return this.#intern(Int32Array.from(next).sort(), this.#asksBefore ? kindOf(rune) : before.other);
  }

  #takes(pc: number, rune: number): boolean {
    const { ops, args, ranges, rangeStarts } = this.program;
    if (ops[pc] === opcodes.folded) return args[pc] === (rune < ASCII ? foldRune(rune) : this.#fold(rune));
    let low = rangeStarts[pc]! >> 1;
    let high = rangeStarts[pc + 1]! >> 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rune > ranges[2 * middle + 1]!) low = middle + 1;
      else if (rune < ranges[2 * middle]!) high = middle;
      else return true;
    }
    return false;
  }

  /** Folding a rune takes longer than all the rest of a step, and a step asks for one rune only. */
  #fold(rune: number): number {
    if (this.#folded.from !== rune) this.#folded = { from: rune, to: foldRune(rune) };
    return this.#folded.to;
  }
  #folded = { from: -1, to: -1 };

  #intern(kernel: Int32Array, lastKind: number): State {
    let hash = lastKind;
    for (const pc of kernel) hash = (Math.imul(hash, 31) + pc) | 0;
    const alike = this.#states.get(hash);
    const known = alike?.find((state) => state.before === lastKind && sameNumbers(state.kernel, kernel));
    if (known) return known;
    const state = new State(kernel, lastKind);
    noteLearned(this, kernel.length + STATE_CELLS);
    const still = this.#states.get(hash);
    if (still) still.push(state);
    else this.#states.set(hash, [state]);
    return state;
  }
}

const sameNumbers = (one: Int32Array, other: Int32Array): boolean => {
  if (one.length !== other.length) return false;
  for (let n = 0; n < one.length; n++) if (one[n] !== other[n]) return false;
  return true;
};

const isWord = (rune: number): boolean =>
  (rune >= 0x61 && rune <= 0x7a) ||
  (rune >= 0x41 && rune <= 0x5a) ||
  (rune >= 0x30 && rune <= 0x39) ||
  rune === 0x5f;

const kindOf = (rune: number): number =>
  rune === 0x0a ? before.newline : isWord(rune) ? before.word : before.other;

const conditionsBetween = (lastKind: number, rune: number): number => {
  let holds =
    (lastKind === before.word) === isWord(rune) ? conditions.noWordBoundary : conditions.wordBoundary;
  if (lastKind === before.begin) holds |= conditions.beginText | conditions.beginLine;
  if (lastKind === before.newline) holds |= conditions.beginLine;
  if (rune === END) holds |= conditions.endText | conditions.endLine;
  if (rune === 0x0a) holds |= conditions.endLine;
  return holds;
};
