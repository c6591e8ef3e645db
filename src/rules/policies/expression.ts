import { celEnv, CelScalar, isCelError, listType, mapType, plan } from '@bufbuild/cel';
import { runAtOnce, type Sliced } from '../../text/sliced.js';
import { budgetFunctions, meter, refillBudget } from './budget.js';
import {
  checkTree,
  compilePrograms,
  ExpressionFault,
  offsetOf,
  parseSource,
  sampleFor,
} from './check-expression.js';
import { Pattern } from './pattern.js';
import { PatternRun } from './pattern-run.js';
import type { Program } from './regex-program.js';
import { requiredLiterals } from './required-literals.js';
import type { Required } from './requirement.js';
import type { Expr, Parsed } from './syntax-tree.js';

export { ExpressionFault } from './check-expression.js';

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

/** The same in the expression's own types: made once, however many expressions read it. */
export type Bindings = Omit<RuleInput, 'categories' | 'terms' | 'tokens'> & {
  readonly categories: Map<string, number>;
  readonly terms: string[];
  readonly tokens: bigint;
};

/** An expression that was checked, as data: it can travel between threads. */
export interface Prepared {
  readonly expr: Expr;
  readonly programs: ReadonlyMap<string, Program>;
  /** What `text` contains wherever the expression matches. */
  readonly required: Required;
}

export interface Expression {
  readonly required: Required;
  /** Pauses where a pattern takes long; throws an ExpressionFault. */
  readonly review: (bindings: Bindings) => Sliced<boolean | number>;
}

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
const noPatterns = new PatternRun(new Map());

/** Evaluations are synchronous, so one place tells the patterns of the one that runs. */
let running = noPatterns;

const environment = celEnv({
  variables,
  funcs: [...budgetFunctions],
  re2: { compile: (source) => ({ test: (text) => running.test(source, text) }) },
});

export const bindInput = (input: RuleInput): Bindings => ({
  ...input,
  categories: new Map(input.categories),
  terms: [...input.terms],
  tokens: BigInt(input.tokens),
});

/** Checks an expression and tries it on sample input; throws an ExpressionFault. */
export const prepareExpression = (source: string, thresholdBasisPoints: number): Prepared => {
  const parsed = parseSource(source);
  checkTree(parsed, Object.keys(variables), (name) => environment.funcs.find(name) !== undefined);
  const programs = compilePrograms(parsed);
  const required = requiredLiterals(parsed.expr, thresholdBasisPoints, programs);
  const sample = sampleFor(parsed.expr);
  meter(parsed.expr);
  const prepared: Prepared = { expr: parsed.expr, programs, required };
  const { review } = planExpression(prepared, parsed);
  for (const direction of ['request', 'response'] as const)
    runAtOnce(review(bindInput({ ...sample, direction })));
  return prepared;
};

/** Makes an expression of what was prepared, quickly; with the source, faults know their place. */
export const planExpression = ({ expr, programs, required }: Prepared, parsed?: Parsed): Expression => {
  const run = planTree(expr);
  const patterns = new Map([...programs].map(([source, program]) => [source, new Pattern(program)]));
  function* review(bindings: Bindings): Sliced<boolean | number> {
    const searches = new PatternRun(patterns);
    for (;;) {
      refillBudget();
      running = searches;
      const result = run(bindings);
      running = noPatterns;
      if (typeof result === 'boolean' || typeof result === 'number') return result;
      if (!isCelError(result)) throw new ExpressionFault('must give a bool or a double', null);
      if (!searches.paused)
        throw new ExpressionFault(result.message, parsed ? offsetOf(parsed, result.exprId) : null);
      searches.resume();
      yield;
    }
  }
  return { required, review };
};

const planTree = (expr: Expr): ReturnType<typeof plan<typeof variables>> => {
  try {
    return plan(environment, expr);
  } catch (error) {
    throw new ExpressionFault(error instanceof Error ? error.message : String(error), null);
  }
};
