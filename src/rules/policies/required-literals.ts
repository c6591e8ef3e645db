import type { Program } from './regex-program.js';
import { allOf, anyOf, NEVER, NOTHING, type Required } from './requirement.js';
import { literalOf, type Expr } from './syntax-tree.js';
import { meetsThreshold } from './threshold.js';

/** What is known while the tree is walked. */
interface Known {
  /** What counts as a match. */
  readonly thresholdBasisPoints: number;
  readonly programs: ReadonlyMap<string, Program>;
  /** Names of comprehensions: the literal they stand for, or null. */
  readonly bound: ReadonlyMap<string, string | null>;
  /** Loops within loops are not unrolled for ever. */
  readonly purse: { nodes: number };
}

const MOST_NODES = 50_000;

const nothingBound: ReadonlyMap<string, null> = new Map();

/**
 * The literals that `text` contains wherever the expression is true, or scores at least as much as counts.
 * What is not understood requires nothing, so a rule is never passed over wrongly.
 */
export const requiredLiterals = (
  expr: Expr,
  thresholdBasisPoints: number,
  programs: ReadonlyMap<string, Program>,
): Required =>
  requiredBy(expr, {
    thresholdBasisPoints,
    programs,
    bound: nothingBound,
    purse: { nodes: MOST_NODES },
  });

const requiredBy = (expr: Expr | undefined, known: Known): Required => {
  if (--known.purse.nodes < 0) return NOTHING;
  if (expr?.exprKind.case === 'constExpr') return requiredByConstant(expr, known);
  if (expr?.exprKind.case === 'comprehensionExpr') return requiredByLoop(expr, known);
  if (expr?.exprKind.case !== 'callExpr') return NOTHING;
  const { function: name, target, args } = expr.exprKind.value;
  const [first, second, third] = args;
  switch (name) {
    case '_&&_':
      return allOf(args.map((part) => requiredBy(part, known)));
    case '_||_':
      return args.map((part) => requiredBy(part, known)).reduce(anyOf, NEVER);
    case '_?_:_':
      return anyOf(allOf([requiredBy(first, known), requiredBy(second, known)]), requiredBy(third, known));
    case '_==_':
      return isText(first, known)
        ? requireString(second, known)
        : isText(second, known)
          ? requireString(first, known)
          : NOTHING;
    case '@in':
      return isText(first, known) && second?.exprKind.case === 'listExpr'
        ? second.exprKind.value.elements.map((element) => requireString(element, known)).reduce(anyOf, NEVER)
        : NOTHING;
    case 'contains':
    case 'startsWith':
    case 'endsWith':
      return isText(target, known) && args.length === 1 ? requireString(first, known) : NOTHING;
    case 'matches': {
      const pattern = isText(target, known) && args.length === 1 ? stringOf(first, known) : null;
      return (pattern === null ? undefined : known.programs.get(pattern)?.required) ?? NOTHING;
    }
    default:
      return NOTHING;
  }
};

const requiredByConstant = (expr: Expr, { thresholdBasisPoints }: Known): Required => {
  if (expr.exprKind.case !== 'constExpr') return NOTHING;
  const { constantKind } = expr.exprKind.value;
  if (constantKind.case === 'boolValue') return constantKind.value ? NOTHING : NEVER;
  if (constantKind.case === 'doubleValue')
    return meetsThreshold(constantKind.value, thresholdBasisPoints) ? NOTHING : NEVER;
  return NOTHING;
};

/** `["a", "b"].exists(x, text.contains(x))`, and the same with `all`: loops over a list that is written out. */
const requiredByLoop = (expr: Expr, known: Known): Required => {
  if (expr.exprKind.case !== 'comprehensionExpr') return NOTHING;
  const { iterRange, iterVar, accuVar, accuInit, loopStep, result } = expr.exprKind.value;
  if (iterRange?.exprKind.case !== 'listExpr' || result?.exprKind.case !== 'identExpr') return NOTHING;
  if (result.exprKind.value.name !== accuVar || loopStep?.exprKind.case !== 'callExpr') return NOTHING;
  const { function: joint, args } = loopStep.exprKind.value;
  const [accumulated, predicate] = args;
  if (accumulated?.exprKind.case !== 'identExpr' || accumulated.exprKind.value.name !== accuVar)
    return NOTHING;
  const parts = (): Required[] =>
    iterRange.exprKind.case === 'listExpr'
      ? iterRange.exprKind.value.elements.map((element) =>
          requiredBy(predicate, bind(known, iterVar, accuVar, stringOf(element, known))),
        )
      : [];
  if (joint === '_||_' && isBool(accuInit, false)) return parts().reduce(anyOf, NEVER);
  if (joint === '_&&_' && isBool(accuInit, true)) return allOf(parts());
  return NOTHING;
};

const bind = (known: Known, iterVar: string, accuVar: string, literal: string | null): Known => ({
  ...known,
  bound: new Map([...known.bound, [accuVar, null], [iterVar, literal]]),
});

const isBool = (expr: Expr | undefined, value: boolean): boolean =>
  expr?.exprKind.case === 'constExpr' &&
  expr.exprKind.value.constantKind.case === 'boolValue' &&
  expr.exprKind.value.constantKind.value === value;

const isText = (expr: Expr | undefined, { bound }: Known): boolean =>
  expr?.exprKind.case === 'identExpr' && expr.exprKind.value.name === 'text' && !bound.has('text');

const stringOf = (expr: Expr | undefined, { bound }: Known): string | null =>
  expr?.exprKind.case === 'identExpr' ? (bound.get(expr.exprKind.value.name) ?? null) : literalOf(expr);

const requireString = (expr: Expr | undefined, known: Known): Required => {
  const literal = stringOf(expr, known);
  return literal === null || literal === '' ? NOTHING : [[{ literal, ignoreCase: false }]];
};
