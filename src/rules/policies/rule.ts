import { invalidParameter, type GatewayError } from '../../core/errors.js';
import { compileExpression, ExpressionFault, type Evaluate } from './expression.js';

/** What stands in front of a rule that is an expression (D29); anything else is prose. */
const MARK = 'cel:';

export type Rule =
  | { readonly kind: 'prose'; readonly text: string }
  | { readonly kind: 'expression'; readonly evaluate: Evaluate };

/** Compiles a rule, once per version; what is wrong with it is a 422 at `rule` that names the place. */
export const compileRule = (rule: string): Rule => {
  if (!rule.startsWith(MARK)) return { kind: 'prose', text: rule };
  try {
    return { kind: 'expression', evaluate: compileExpression(rule.slice(MARK.length)) };
  } catch (error) {
    if (!(error instanceof ExpressionFault)) throw error;
    throw faultAt(rule, error);
  }
};

/** Throws when a rule cannot be used. */
export const checkRule = (rule: string): void => {
  compileRule(rule);
};

const faultAt = (rule: string, { message, offset }: ExpressionFault): GatewayError => {
  if (offset === null) return invalidParameter('rule', `${message}.`);
  const before = rule.slice(0, MARK.length + offset).split('\n');
  return invalidParameter('rule', `line ${before.length}, column ${before.at(-1)!.length + 1}: ${message}.`);
};
