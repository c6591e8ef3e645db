import { invalidParameter, type GatewayError } from '../../core/errors.js';
import { runAtOnce } from '../../text/sliced.js';
import {
  bindInput,
  ExpressionFault,
  planExpression,
  prepareExpression,
  type Expression,
  type RuleInput,
} from './expression.js';
import { DEFAULT_THRESHOLD_BASIS_POINTS } from './threshold.js';

/** What stands in front of a rule that is an expression (D29); anything else is prose. */
const MARK = 'cel:';

export type Rule =
  | { readonly kind: 'prose'; readonly text: string }
  | {
      readonly kind: 'expression';
      readonly expression: Expression;
      /** All at once; throws an ExpressionFault. */
      readonly evaluate: (input: RuleInput) => boolean | number;
    };

/** The expression of a rule that is one. */
export const sourceOf = (rule: string): string | null =>
  rule.startsWith(MARK) ? rule.slice(MARK.length) : null;

/** Compiles a rule at once; what is wrong with it is a 422 at `rule` that names the place. */
export const compileRule = (rule: string, thresholdBasisPoints = DEFAULT_THRESHOLD_BASIS_POINTS): Rule => {
  const source = sourceOf(rule);
  if (source === null) return { kind: 'prose', text: rule };
  try {
    return ruleOf(planExpression(prepareExpression(source, thresholdBasisPoints)));
  } catch (error) {
    if (!(error instanceof ExpressionFault)) throw error;
    throw ruleFault(rule, error);
  }
};

export const ruleOf = (expression: Expression): Rule => ({
  kind: 'expression',
  expression,
  evaluate: (input) => runAtOnce(expression.review(bindInput(input))),
});

/** Throws when a rule cannot be used. */
export const checkRule = (rule: string): void => {
  compileRule(rule);
};

export const ruleFault = (
  rule: string,
  { message, offset }: { readonly message: string; readonly offset: number | null },
): GatewayError => {
  if (offset === null) return invalidParameter('rule', `${message}.`);
  const before = rule.slice(0, MARK.length + offset).split('\n');
  return invalidParameter('rule', `line ${before.length}, column ${before.at(-1)!.length + 1}: ${message}.`);
};
