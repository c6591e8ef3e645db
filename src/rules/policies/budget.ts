import {
  celFunc,
  celList,
  celMethod,
  CelScalar,
  isCelList,
  isCelMap,
  listType,
  type CelFunc,
} from '@bufbuild/cel';
import { callOn, countNodes, isLiteral, visitAll, type Expr } from './syntax-tree.js';

/** Elementary steps one evaluation may take: some tens of milliseconds at worst. */
const BUDGET = 200_000;
const SPEND = '@spend';

let left = BUDGET;

/** Every evaluation begins with this. Evaluations are synchronous, so one purse serves them all. */
export const refillBudget = (): void => {
  left = BUDGET;
};

export const spend = (steps: number): void => {
  left -= steps;
  if (left < 0) throw new Error('takes too many steps');
};

/** Characters that are read, or copied, in the time of one step. */
const READ_PER_STEP = 256;
const COPIED_PER_STEP = 32;

/** Elements, also of what is nested; stops counting where the budget ends anyway. */
const sizeOf = (value: unknown): number => {
  if (typeof value === 'string') return 1 + value.length / READ_PER_STEP;
  if (!isCelList(value) && !isCelMap(value)) return 1;
  let size = 1;
  for (const element of isCelList(value) ? value : value.values()) {
    size += sizeOf(element);
    if (size > left) break;
  }
  return size;
};

const { BOOL, DYN, INT, STRING } = CelScalar;
const LIST = listType(DYN);

/** The library's own, paid for by length. */
const readText = (
  name: 'contains' | 'startsWith' | 'endsWith',
  read: (text: string, part: string) => boolean,
): CelFunc =>
  celMethod(name, STRING, [STRING], BOOL, function (part) {
    spend(1 + (this.length + part.length) / READ_PER_STEP);
    return read(this, part);
  });

const countRunes = (text: string): bigint => {
  spend(1 + text.length / COPIED_PER_STEP);
  let runes = 0;
  for (let at = 0; at < text.length; at += text.codePointAt(at)! > 0xffff ? 2 : 1) runes += 1;
  return BigInt(runes);
};

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
  celFunc('_+_', [STRING, STRING], STRING, (one, other) => {
    spend(1 + (one.length + other.length) / COPIED_PER_STEP);
    return one + other;
  }),
  readText('contains', (text, part) => text.includes(part)),
  readText('startsWith', (text, part) => text.startsWith(part)),
  readText('endsWith', (text, part) => text.endsWith(part)),
  celFunc('size', [STRING], INT, countRunes),
  celMethod('size', STRING, [], INT, function () {
    return countRunes(this);
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
