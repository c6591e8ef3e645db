import { compileLiterals, compileLiteralsSlowly, type Literals } from '../../text/literals.js';
import { foldText } from './fold-case.js';
import { isNever, type Literal } from './requirement.js';
import type { Expression } from './expression.js';

/** A member of a side: an expression and, by number, what its clauses require. */
interface Member<T> {
  readonly item: T;
  readonly clauses: readonly (readonly number[])[];
}

/** Expressions by their literals: one look at a text tells which of them can match at all. */
export interface Side<T> {
  /** Those that require nothing. */
  readonly unfiltered: readonly T[];
  /** Those whose literals are there, of the ones that require some. */
  candidates(text: string): readonly T[];
}

interface Plan<T> {
  readonly unfiltered: readonly T[];
  readonly members: readonly Member<T>[];
  readonly exact: readonly string[];
  readonly folded: readonly string[];
}

/** Numbers of exact literals count up from 0, those of folded ones down from -1. */
const planSide = <T extends { readonly expression: Expression }>(items: readonly T[]): Plan<T> => {
  const exact = new Map<string, number>();
  const folded = new Map<string, number>();
  const numberOf = ({ literal, ignoreCase }: Literal): number => {
    const numbers = ignoreCase ? folded : exact;
    const number = numbers.get(literal) ?? (ignoreCase ? -1 - numbers.size : numbers.size);
    numbers.set(literal, number);
    return number;
  };
  const unfiltered: T[] = [];
  const members: Member<T>[] = [];
  for (const item of items) {
    const { required } = item.expression;
    if (isNever(required)) continue;
    if (required.length === 0) unfiltered.push(item);
    else members.push({ item, clauses: required.map((clause) => clause.map(numberOf)) });
  }
  return { unfiltered, members, exact: [...exact.keys()], folded: [...folded.keys()] };
};

export const compileSide = <T extends { readonly expression: Expression }>(items: readonly T[]): Side<T> => {
  const plan = planSide(items);
  return sideOf(plan, compileLiterals(plan.exact), compileLiterals(plan.folded));
};

/** The same result without holding up the loop. */
export const compileSideSlowly = async <T extends { readonly expression: Expression }>(
  items: readonly T[],
): Promise<Side<T>> => {
  const plan = planSide(items);
  return sideOf(plan, await compileLiteralsSlowly(plan.exact), await compileLiteralsSlowly(plan.folded));
};

const sideOf = <T>({ unfiltered, members }: Plan<T>, exact: Literals, folded: Literals): Side<T> => {
  /** By the first literal clause: who might match once a literal is there. */
  const byLiteral = new Map<number, Member<T>[]>();
  for (const member of members)
    for (const number of new Set(member.clauses[0])) {
      const there = byLiteral.get(number);
      if (there) there.push(member);
      else byLiteral.set(number, [member]);
    }
  const none: readonly T[] = [];
  return {
    unfiltered,
    candidates: (text) => {
      const present = exact.size > 0 ? exact.presentIn(text) : new Set<number>();
      if (folded.size > 0) for (const number of folded.presentIn(foldText(text))) present.add(-1 - number);
      if (present.size === 0) return none;
      const found = new Set<Member<T>>();
      for (const number of present) for (const member of byLiteral.get(number) ?? []) found.add(member);
      return [...found]
        .filter(({ clauses }) => clauses.every((clause) => clause.some((number) => present.has(number))))
        .map(({ item }) => item);
    },
  };
};
