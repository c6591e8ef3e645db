import { celEnv, CelScalar, isCelError, listType, mapType, parse, plan } from '@bufbuild/cel';
import { budgetFunctions, meter, refillBudget } from './budget.js';
import { literalOf, visitAll, type Expr, type Parsed } from './syntax-tree.js';

/** What an expression is asked about. */
export interface RuleInput {
  readonly text: string;
  readonly direction: 'request' | 'response';
  readonly model: string;
  readonly project_id: string;
  readonly endpoint: string;
  readonly user: string;
  /** Scores from 0 to 1. */
  readonly categories: ReadonlyMap<string, number>;
  readonly terms: readonly string[];
  readonly tokens: number;
}

/** Why an expression cannot be used; `offset` counts characters of it, where the place is known. */
export class ExpressionFault extends Error {
  readonly offset: number | null;

  constructor(message: string, offset: number | null) {
    super(message);
    this.name = 'ExpressionFault';
    this.offset = offset;
  }
}

export type Evaluate = (input: RuleInput) => boolean | number;

const DEPTH_BOUND = 100;

const { STRING, INT, DOUBLE } = CelScalar;
const variables = {
  text: STRING,
  direction: STRING,
  model: STRING,
  project_id: STRING,
  endpoint: STRING,
  user: STRING,
  categories: mapType(STRING, DOUBLE),
  terms: listType(STRING),
  tokens: INT,
} as const;
const typeNames = ['bool', 'int', 'uint', 'double', 'string', 'bytes', 'list', 'map', 'null_type', 'type'];
const knownNames = new Set([...Object.keys(variables), ...typeNames]);

const environment = celEnv({ variables, funcs: [...budgetFunctions] });

/** Compiles an expression once and tries it on sample input; throws an ExpressionFault. */
export const compileExpression = (source: string): Evaluate => {
  const parsed = parseSource(source);
  checkTree(parsed);
  checkPatterns(parsed);
  const sample = sampleFor(parsed.expr);
  meter(parsed.expr);
  const run = planParsed(parsed);
  const evaluate: Evaluate = (input) => {
    refillBudget();
    const result = run({
      ...input,
      categories: new Map(input.categories),
      terms: [...input.terms],
      tokens: BigInt(input.tokens),
    });
    if (isCelError(result)) throw new ExpressionFault(result.message, offsetOf(parsed, result.exprId));
    if (typeof result !== 'boolean' && typeof result !== 'number')
      throw new ExpressionFault('must give a bool or a double', null);
    return result;
  };
  for (const direction of ['request', 'response'] as const) evaluate({ ...sample, direction });
  return evaluate;
};

const planParsed = ({ expr }: Parsed): ReturnType<typeof plan<typeof variables>> => {
  try {
    return plan(environment, expr);
  } catch (error) {
    throw new ExpressionFault(error instanceof Error ? error.message : String(error), null);
  }
};

const parseSource = (source: string): Parsed => {
  try {
    return parse(source);
  } catch (error) {
    if (error instanceof RangeError) throw new ExpressionFault('nests too deep', null); // the stack of the parser
    const { message, location } = error as Error & { location?: { start?: { offset?: number } } };
    throw new ExpressionFault(
      message.replace(/^(?:syntax error: )?<input>:\d+:\d+: /, ''),
      location?.start?.offset ?? null,
    );
  }
};

/** What a sample might not touch, for `||` and `?:` pass over parts: unknown names, messages, depth. */
const checkTree = (parsed: Parsed): void => {
  for (const { expr, depth, bound } of visitAll(parsed.expr)) {
    const fault = (message: string): ExpressionFault =>
      new ExpressionFault(message, offsetOf(parsed, expr.id));
    if (depth > DEPTH_BOUND) throw fault('nests too deep');
    const { case: kind, value } = expr.exprKind;
    if (kind === 'identExpr' && !knownNames.has(value.name) && !bound.has(value.name))
      throw fault(`unknown name ${value.name}`);
    if (kind === 'structExpr' && value.messageName !== '') throw fault('messages cannot be made here');
    if (kind === 'callExpr' && /^[a-z]/i.test(value.function) && !environment.funcs.find(value.function))
      throw fault(`unknown function ${value.function}`);
  }
};

/** Patterns are compiled at the first text they meet, so the literal ones are tried on an empty one. */
const checkPatterns = (parsed: Parsed): void => {
  for (const { expr } of visitAll(parsed.expr)) {
    const { case: kind, value } = expr.exprKind;
    if (kind !== 'callExpr' || value.function !== 'matches') continue;
    const pattern = value.args[value.target ? 0 : 1];
    if (!pattern || literalOf(pattern) === null) continue;
    const probe = parse('text.matches("")').expr;
    if (probe.exprKind.case === 'callExpr') probe.exprKind.value.args = [pattern];
    const tried = plan(environment, probe)(emptyInput());
    if (isCelError(tried)) throw new ExpressionFault(tried.message, offsetOf(parsed, expr.id));
  }
};

const emptyInput = () => ({
  text: '',
  direction: 'request',
  model: '',
  project_id: '',
  endpoint: '',
  user: '',
  categories: new Map<string, number>(),
  terms: [] as string[],
  tokens: 0n,
});

/** Input that has everything an expression may look for; each name it looks up among the categories has a score. */
const sampleFor = (root: Expr): RuleInput => {
  const categories = new Map<string, number>();
  for (const { expr } of visitAll(root)) {
    const { case: kind, value } = expr.exprKind;
    if (kind === 'selectExpr') categories.set(value.field, 0.5);
    const literal = literalOf(expr);
    if (literal !== null) categories.set(literal, 0.5);
  }
  return {
    text: 'A sample of what people write.',
    direction: 'request',
    model: 'sample-model',
    project_id: 'proj_sample',
    endpoint: '/v1/messages',
    user: 'someone',
    categories,
    terms: ['sample'],
    tokens: 8,
  };
};

const offsetOf = ({ sourceInfo }: Parsed, id: bigint | undefined): number | null =>
  (id === undefined ? undefined : sourceInfo?.positions[String(id)]) ?? null;
