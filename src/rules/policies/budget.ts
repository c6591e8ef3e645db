import { celFunc, celList, CelScalar, isCelList, isCelMap, listType, type CelFunc } from '@bufbuild/cel';
import { callOn, countNodes, isLiteral, visitAll, type Expr } from './syntax-tree.js';

/** Elementary steps one evaluation may take: some tens of milliseconds at worst. */
const BUDGET = 200_000;
const SPEND = '@spend';

let left = BUDGET;

/** Every evaluation begins with this. Evaluations are synchronous, so one purse serves them all. */
export const refillBudget = (): void => {
  left = BUDGET;
};

const spend = (steps: number): void => {
  left -= steps;
  if (left < 0) throw new Error('takes too many steps');
};

/** Elements, also of what is nested; stops counting where the budget ends anyway. */
const sizeOf = (value: unknown): number => {
  if (!isCelList(value) && !isCelMap(value)) return 1;
  let size = 1;
  for (const element of isCelList(value) ? value : value.values()) {
    size += sizeOf(element);
    if (size > left) break;
  }
  return size;
};

const { DYN, INT } = CelScalar;
const LIST = listType(DYN);

/** What the marked places call, and a sum of lists that stays flat: the library's own nests one level per element. */
export const budgetFunctions: readonly CelFunc[] = [
  celFunc(SPEND, [DYN, INT], DYN, (value, weight) => {
    const elements = isCelList(value) || isCelMap(value) ? value.size : 1;
    spend(weight === 0n ? sizeOf(value) : elements * Number(weight));
    return value;
  }),
  celFunc('_+_', [LIST, LIST], LIST, (one, other) => {
    spend(1 + one.size + other.size);
    return celList([...one, ...other]);
  }),
];

/** Marks, in place, where an expression can take more steps than it has nodes: loops and comparisons of whole lists. */
export const meter = (root: Expr): void => {
  for (const { expr } of [...visitAll(root)]) {
    const { case: kind, value } = expr.exprKind;
    if (kind === 'comprehensionExpr' && value.iterRange) {
      const weight = [value.loopStep, value.loopCondition].reduce(
        (nodes, part) => nodes + (part ? countNodes(part) : 0),
        0,
      );
      value.iterRange = callOn(SPEND, value.iterRange, weight);
    } else if (kind === 'callExpr' && comparesWhole(value.function)) {
      const [one, other] = value.args;
      if (one && other && !isLiteral(one) && !isLiteral(other)) value.args = [one, callOn(SPEND, other, 0)];
    }
  }
};

const comparesWhole = (name: string): boolean => name === '@in' || name === '_==_' || name === '_!=_';
