/** A string that must occur in the text; without regard to case it is ASCII in lower case. */
export interface Literal {
  readonly literal: string;
  readonly ignoreCase: boolean;
}

/** At least one of these occurs. */
export type Clause = readonly Literal[];

/** Of every clause at least one literal occurs, wherever a rule matches. */
export type Required = readonly Clause[];

/** Nothing is known to be required. */
export const NOTHING: Required = [];
/** No text can meet it. */
export const NEVER: Required = [[]];

/** More clauses make a rule no rarer, only dearer to look up. */
const MOST_CLAUSES = 4;

export const isNever = (required: Required): boolean => required.some((clause) => clause.length === 0);

export const allOf = (parts: readonly Required[]): Required => {
  if (parts.some(isNever)) return NEVER;
  return parts.flat().sort(byPromise).slice(0, MOST_CLAUSES);
};

export const anyOf = (one: Required, other: Required): Required => {
  if (isNever(one)) return other;
  if (isNever(other)) return one;
  const [left, right] = [one[0], other[0]];
  return left && right ? [[...left, ...right]] : NOTHING;
};

/** The most promising first: its shortest literal is longest, it has the fewest alternatives. */
const byPromise = (one: Clause, other: Clause): number =>
  shortest(other) - shortest(one) || one.length - other.length;

const shortest = (clause: Clause): number =>
  clause.reduce((length, { literal }) => Math.min(length, literal.length), Infinity);
