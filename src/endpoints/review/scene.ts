import { alwaysBlocked, covers, nameable, type Category, type Scores } from '../../core/review.js';
import type { CompiledConfig } from '../../rules/policy-gateway/compile.js';
import type { Standing } from '../../rules/policy-gateway/rollout.js';
import type { PolicySet, Subject } from '../../rules/policies/policy-set.js';

/** All that one exchange is judged by, settled when it begins: a change made meanwhile acts on the next. */
export interface Scene {
  readonly compiled: CompiledConfig;
  readonly policies: PolicySet;
  readonly standing: Standing;
  readonly subject: Subject;
  /** Categories the request itself wants blocked. */
  readonly flagged: readonly string[];
}

/** Whether personal data is looked for. */
export const looksForData = ({ compiled, standing }: Scene): boolean =>
  compiled.config.rules.redact && standing.decides;

/** Whether what is found of it is masked. */
export const masksData = (scene: Scene): boolean => looksForData(scene) && scene.standing.enforces;

/** The categories whose score reaches their threshold. */
export const reached = (scores: Scores, threshold: (category: string) => number): string[] => {
  const found: string[] = [];
  for (const [category, score] of scores) if (score >= threshold(category)) found.push(category);
  return found;
};

const unconditional: ReadonlySet<Category> = new Set(nameable.filter((one) => covers(alwaysBlocked, one)));

/** The categories that would do something to this exchange. */
export const stoppers = ({ compiled, standing, flagged }: Scene): Iterable<Category> => {
  const listed: ReadonlySet<Category> = standing.decides ? compiled.blocked : unconditional;
  return flagged.length === 0 ? listed : nameable.filter((one) => listed.has(one) || covers(flagged, one));
};
