import { GatewayError } from '../../core/errors.js';
import type { RuleCompiler } from './compiler.js';
import { compileSide, compileSideSlowly } from './policy-side.js';
import { expressionsOf, type CompiledPolicy, type ExpressionPolicy } from './policy-groups.js';
import { PolicySet } from './policy-set.js';
import type { PublishedPolicy } from './published-policy.js';
import { compileRule, type Rule } from './rule.js';

export interface PublishedOptions {
  /** A rule could not be compiled, or failed on what it read: its policy does not match. */
  readonly onFault?: (policyId: string) => void;
  /** What was compiled before: rules that stayed the same are taken over. */
  readonly previous?: PolicySet | null;
}

/** Compiles all at once: for few policies and short rules. */
export const compilePublished = (
  policies: readonly PublishedPolicy[],
  { onFault = () => {}, previous = null }: PublishedOptions = {},
): PolicySet => {
  const compiled = inOrder(policies).flatMap((policy) => {
    try {
      const { rule, thresholdBasisPoints } = policy;
      return [compiledPolicy(policy, previous?.ruleLike(policy) ?? compileRule(rule, thresholdBasisPoints))];
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      onFault(policy.id);
      return [];
    }
  });
  return new PolicySet(compiled, { onFault, sides: sidesOf(compiled, compileSide) });
};

/** The same result without holding up the loop, whatever the rules. */
export const compilePublishedSlowly = async (
  policies: readonly PublishedPolicy[],
  compiler: RuleCompiler,
  { onFault = () => {}, previous = null }: PublishedOptions = {},
): Promise<PolicySet> => {
  const compiled: CompiledPolicy[] = [];
  for (const policy of inOrder(policies)) {
    const known = previous?.ruleLike(policy);
    const rule = known ?? (await compileNext(compiler, policy));
    if (rule) compiled.push(compiledPolicy(policy, rule));
    else onFault(policy.id);
  }
  const { request, response } = sidesOf(compiled, compileSideSlowly);
  return new PolicySet(compiled, { onFault, sides: { request: await request, response: await response } });
};

const compileNext = async (
  compiler: RuleCompiler,
  { rule, thresholdBasisPoints }: PublishedPolicy,
): Promise<Rule | null> => {
  await new Promise((resolve) => setImmediate(resolve));
  try {
    return await compiler.compile(rule, thresholdBasisPoints);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return null;
  }
};

const compiledPolicy = (policy: PublishedPolicy, compiled: Rule): CompiledPolicy => ({
  ...policy,
  compiled,
  projects: new Set(policy.projectIds),
});

/** The order in which ties are decided (D31). */
const inOrder = (policies: readonly PublishedPolicy[]): PublishedPolicy[] =>
  [...policies].sort((one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1));

const sidesOf = <T>(
  compiled: readonly CompiledPolicy[],
  compile: (items: readonly ExpressionPolicy[]) => T,
): { readonly request: T; readonly response: T } => ({
  request: compile(expressionsOf(compiled, 'request')),
  response: compile(expressionsOf(compiled, 'response')),
});
