import type { Direction } from '../../core/review.js';
import type { Expression } from './expression.js';
import type { PublishedPolicy } from './published-policy.js';
import type { Rule } from './rule.js';

export interface CompiledPolicy extends PublishedPolicy {
  readonly compiled: Rule;
  readonly projects: ReadonlySet<string>;
}

export interface ExpressionPolicy {
  readonly policy: CompiledPolicy;
  readonly expression: Expression;
  /** Its place in the order of the set. */
  readonly order: number;
}

export interface ProsePolicy {
  readonly policy: CompiledPolicy;
  readonly text: string;
}

/** What reads a text: nothing, something that only records, or something that refuses. */
export type Reading = 'no' | 'monitoring' | 'enforcing';

/** What applies to a project, on one side. */
export interface Group {
  /** Whether any expression applies, filtered by literals or not. */
  readonly hasExpressions: boolean;
  readonly unfiltered: readonly ExpressionPolicy[];
  readonly prose: readonly ProsePolicy[];
  readonly reading: Reading;
  readonly proseReading: Reading;
}

/** Found by project before any text is read. */
export interface Groups {
  of(projectId: string | null): Group;
  /** With the policies that are attached to nothing, which only a simulation asks (D30). */
  readonly simulated: (projectId: string | null) => Group;
}

const readsSide = ({ direction }: PublishedPolicy, side: Direction): boolean =>
  direction === 'both' || direction === side;

export const appliesTo = (
  policy: CompiledPolicy,
  projectId: string | null,
  isSimulated: boolean,
): boolean => {
  if (policy.scope === 'organization') return true;
  if (policy.scope === 'unattached') return isSimulated;
  return projectId !== null && policy.projects.has(projectId);
};

export const expressionsOf = (
  policies: readonly CompiledPolicy[],
  side: Direction,
): readonly ExpressionPolicy[] =>
  policies.flatMap((policy, order) => {
    if (policy.compiled.kind !== 'expression' || !readsSide(policy, side)) return [];
    return [{ policy, order, expression: policy.compiled.expression }];
  });

export const groupPolicies = (
  policies: readonly CompiledPolicy[],
  side: Direction,
  unfiltered: readonly ExpressionPolicy[],
): Groups => {
  const reading = policies.filter((policy) => readsSide(policy, side));
  const groupFor = (projectId: string | null, isSimulated: boolean): Group => {
    const applying = reading.filter((policy) => appliesTo(policy, projectId, isSimulated));
    const prose = applying.flatMap((policy) =>
      policy.compiled.kind === 'prose' ? [{ policy, text: policy.compiled.text }] : [],
    );
    return {
      hasExpressions: applying.length > prose.length,
      unfiltered: unfiltered.filter(({ policy }) => appliesTo(policy, projectId, isSimulated)),
      prose,
      reading: strongest(applying),
      proseReading: strongest(prose.map(({ policy }) => policy)),
    };
  };
  const everyone = groupFor(null, false);
  const named = new Set(reading.flatMap(({ projects }) => [...projects]));
  const byProject = new Map<string, Group>();
  return {
    of: (projectId) => {
      if (projectId === null || !named.has(projectId)) return everyone;
      const known = byProject.get(projectId);
      if (known) return known;
      const group = groupFor(projectId, false);
      byProject.set(projectId, group);
      return group;
    },
    simulated: (projectId) => groupFor(projectId, true),
  };
};

const strongest = (policies: readonly PublishedPolicy[]): Reading => {
  if (policies.some(({ mode }) => mode === 'enforcing')) return 'enforcing';
  return policies.length > 0 ? 'monitoring' : 'no';
};
