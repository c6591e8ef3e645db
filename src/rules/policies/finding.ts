import type { PublishedPolicy } from './published-policy.js';

export interface PolicyFinding {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly mode: 'monitoring' | 'enforcing';
  /** Seconds; findings stand in this order. */
  readonly createdAt: number;
  /** From 0 to 1. */
  readonly score: number;
  readonly matched: boolean;
  /** The judge did not answer, and this is what was declared for that case. */
  readonly fallback?: true;
}

export const findingOf = (
  { id, name, version, mode, createdAt }: PublishedPolicy,
  score: number,
): PolicyFinding => ({ id, name, version, mode, createdAt, score, matched: true });
