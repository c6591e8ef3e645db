import { parse } from '@bufbuild/cel';

export type Parsed = ReturnType<typeof parse>;
export type Expr = Parsed['expr'];

/** A node on the way down: how deep it lies and which names its comprehensions bind. */
export interface Visit {
  readonly expr: Expr;
  readonly depth: number;
  readonly bound: ReadonlySet<string>;
}

const noNames: ReadonlySet<string> = new Set();

/** Every node below and including the given one, parents first. Loops, since a tree from a stranger may be deep. */
export function* visitAll(root: Expr): Generator<Visit> {
  const open: Visit[] = [{ expr: root, depth: 1, bound: noNames }];
  for (let visit = open.pop(); visit; visit = open.pop()) {
    yield visit;
    const { depth, bound } = visit;
    for (const { expr, names } of childrenOf(visit.expr))
      open.push({ expr, depth: depth + 1, bound: names.length > 0 ? new Set([...bound, ...names]) : bound });
  }
}

export const countNodes = (root: Expr): number => [...visitAll(root)].length;

interface Child {
  readonly expr: Expr;
  /** Names that are bound inside it. */
  readonly names: readonly string[];
}

const childrenOf = ({ exprKind: { case: kind, value } }: Expr): Child[] => {
  switch (kind) {
    case 'selectExpr':
      return plain(value.operand);
    case 'callExpr':
      return plain(value.target, ...value.args);
    case 'listExpr':
      return plain(...value.elements);
    case 'structExpr':
      return value.entries.flatMap(({ keyKind, value: entry }) =>
        plain(keyKind.case === 'mapKey' ? keyKind.value : undefined, entry),
      );
    case 'comprehensionExpr': {
      const names = [value.accuVar, value.iterVar, value.iterVar2];
      const inside = plain(value.loopCondition, value.loopStep, value.result);
      return [...plain(value.iterRange, value.accuInit), ...inside.map(({ expr }) => ({ expr, names }))];
    }
    default:
      return [];
  }
};

const plain = (...exprs: readonly (Expr | undefined)[]): Child[] =>
  exprs.flatMap((expr) => (expr ? [{ expr, names: [] }] : []));

/** The text of a string literal. */
export const literalOf = (expr: Expr | undefined): string | null => {
  if (expr?.exprKind.case !== 'constExpr') return null;
  const { constantKind } = expr.exprKind.value;
  return constantKind.case === 'stringValue' ? constantKind.value : null;
};

export const isLiteral = (expr: Expr | undefined): boolean => expr?.exprKind.case === 'constExpr';

/** `name(expr, weight)` in the place of `expr`. */
export const callOn = (name: string, expr: Expr, weight: number): Expr => ({
  $typeName: 'cel.expr.Expr',
  id: expr.id,
  exprKind: {
    case: 'callExpr',
    value: { $typeName: 'cel.expr.Expr.Call', function: name, args: [expr, parse(String(weight)).expr] },
  },
});
