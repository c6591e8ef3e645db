import { compilePublished } from '../../../src/rules/policies/published.js';
import type { PublishedPolicy } from '../../../src/rules/policies/published-policy.js';
import type { Piece, Subject } from '../../../src/rules/policies/policy-set.js';

let made = 0;

export const published = (rule: string, changes: Partial<PublishedPolicy> = {}): PublishedPolicy => ({
  id: `pol_${String(++made).padStart(6, '0')}`,
  name: 'A policy',
  version: 1,
  rule,
  direction: 'both',
  mode: 'enforcing',
  scope: 'organization',
  projectIds: [],
  thresholdBasisPoints: 5_000,
  createdAt: 1_900_000_000,
  ...changes,
});

export const subject: Subject = {
  projectId: 'proj_app',
  model: 'claude-x',
  endpoint: '/v1/messages',
  user: 'kim',
};

export const piece = (text: string, changes: Partial<Piece> = {}): Piece => ({
  text,
  direction: 'request',
  categories: new Map(),
  terms: [],
  tokens: 10,
  ...changes,
});

/** Says which of the rules match a text, by their place. */
export const matcher = (rules: readonly string[]): ((text: string) => number[]) => {
  const set = compilePublished(rules.map((rule, index) => published(rule, { name: String(index) })));
  return (text) => set.evaluate(subject, piece(text)).map(({ name }) => Number(name));
};
