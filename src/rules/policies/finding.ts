import type { PolicyFinding } from '../../core/review.js';
import type { PublishedPolicy } from './published-policy.js';

export const findingOf = (
  { id, name, version, mode, createdAt }: PublishedPolicy,
  score: number,
): PolicyFinding => ({ id, name, version, mode, createdAt, score, matched: true });
