import { parse } from '@bufbuild/cel';
import type { RuleInput } from './expression.js';
import { compileProgram, type Program } from './regex-program.js';
import { literalOf, visitAll, type Expr, type Parsed } from './syntax-tree.js';

/** Why an expression cannot be used; `offset` counts characters of it, where the place is known. */
export class ExpressionFault extends Error {
  readonly offset: number | null;

  constructor(message: string, offset: number | null) {
    super(message);
    this.name = 'ExpressionFault';
    this.offset = offset;
  }
}

const DEPTH_BOUND = 100;
const typeNames = ['bool', 'int', 'uint', 'double', 'string', 'bytes', 'list', 'map', 'null_type', 'type'];

export const parseSource = (source: string): Parsed => {
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
export const checkTree = (
  parsed: Parsed,
  variables: readonly string[],
  isFunction: (name: string) => boolean,
): void => {
  const knownNames = new Set([...variables, ...typeNames]);
  for (const { expr, depth, bound } of visitAll(parsed.expr)) {
    const fault = (message: string): ExpressionFault =>
      new ExpressionFault(message, offsetOf(parsed, expr.id));
    if (depth > DEPTH_BOUND) throw fault('nests too deep');
    const { case: kind, value } = expr.exprKind;
    if (kind === 'identExpr' && !knownNames.has(value.name) && !bound.has(value.name))
      throw fault(`unknown name ${value.name}`);
    if (kind === 'structExpr' && value.messageName !== '') throw fault('messages cannot be made here');
    if (kind === 'callExpr' && /^[a-z]/i.test(value.function) && !isFunction(value.function))
      throw fault(`unknown function ${value.function}`);
  }
};

/** Every pattern that is written out, compiled once. */
export const compilePrograms = (parsed: Parsed): ReadonlyMap<string, Program> => {
  const programs = new Map<string, Program>();
  for (const { expr } of visitAll(parsed.expr)) {
    const { case: kind, value } = expr.exprKind;
    if (kind !== 'callExpr' || value.function !== 'matches') continue;
    const pattern = literalOf(value.args[value.target ? 0 : 1]);
    if (pattern === null || programs.has(pattern)) continue;
    try {
      programs.set(pattern, compileProgram(pattern));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw new ExpressionFault(message, offsetOf(parsed, expr.id));
    }
  }
  return programs;
};

/** Input that has everything an expression may look for; each name it looks up among the categories has a score. */
export const sampleFor = (root: Expr): RuleInput => {
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

export const offsetOf = ({ sourceInfo }: Parsed, id: bigint | undefined): number | null =>
  (id === undefined ? undefined : sourceInfo?.positions[String(id)]) ?? null;
