import type { Direction } from '../../core/review.js';
import type { PolicyFinding } from '../../core/review.js';
import { findingOf } from './finding.js';
import type { ProsePolicy } from './policy-groups.js';
import { meetsThreshold } from './threshold.js';

export interface ProseRule {
  readonly id: string;
  readonly text: string;
}

export interface JudgedPiece {
  readonly text: string;
  readonly direction: Direction;
}

/** Says how far a text does what each rule describes: scores from 0 to 1 by the id of the rule (D29). */
export interface Judge {
  /** Throws JudgeUnavailable. */
  score(
    rules: readonly ProseRule[],
    piece: JudgedPiece,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, number>>;
}

/** The judge gave no answer that can be used, or none in time. */
export class JudgeUnavailable extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'JudgeUnavailable';
  }
}

export interface JudgeOptions {
  readonly signal: AbortSignal;
  /** Without an answer an enforcing policy counts as matched (`closed`) or as not matched (`open`). */
  readonly onJudgeError: 'closed' | 'open';
  /** Told when the judge gave no answer. */
  readonly onUnavailable?: (error: JudgeUnavailable) => void;
}

/** Those that matched; and, marked as fallback, every policy the judge said nothing about. */
export const judgePolicies = async (
  policies: readonly ProsePolicy[],
  piece: JudgedPiece,
  judge: Judge,
  { onJudgeError, signal, onUnavailable = () => {} }: JudgeOptions,
): Promise<readonly PolicyFinding[]> => {
  if (policies.length === 0 || piece.text.trim() === '') return [];
  const scores = await askJudge(policies, piece, judge, signal, onUnavailable);
  return policies.flatMap(({ policy }): PolicyFinding[] => {
    const score = scores.get(policy.id);
    if (score !== undefined)
      return meetsThreshold(score, policy.thresholdBasisPoints) ? [findingOf(policy, score)] : [];
    const matched = onJudgeError === 'closed' && policy.mode === 'enforcing';
    return [{ ...findingOf(policy, matched ? 1 : 0), matched, fallback: true }];
  });
};

const askJudge = async (
  policies: readonly ProsePolicy[],
  piece: JudgedPiece,
  judge: Judge,
  signal: AbortSignal,
  onUnavailable: (error: JudgeUnavailable) => void,
): Promise<ReadonlyMap<string, number>> => {
  try {
    return await judge.score(
      policies.map(({ policy, text }) => ({ id: policy.id, text })),
      piece,
      signal,
    );
  } catch (error) {
    // Whoever asked has left: there is nobody to decide for.
    if (signal.aborted) throw error;
    onUnavailable(
      error instanceof JudgeUnavailable ? error : new JudgeUnavailable('The judge failed.', error),
    );
    return new Map();
  }
};
