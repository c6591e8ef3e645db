import type { Category, Scores } from '../../core/review.js';

/** Whoever judges text. Scores are calibrated: 0.5 is the default threshold of every category. */
export interface Engine {
  judge(text: string, options?: JudgeOptions): Promise<Scores>;
  /** Of a short text at once; of a longer one, only the first `JUDGE_NOW_BOUND` characters are read. */
  judgeNow(text: string): Scores;
  /** Judges text that is still being written; `context` is what was said just before it. */
  follow(context: string, options?: FollowOptions): Follower;
  /** False where the text is in a language or script the engine cannot read: its scores mean little then. */
  reads(text: string): boolean;
}

export interface JudgeOptions {
  readonly signal?: AbortSignal;
}

export interface FollowOptions {
  /** The categories that would stop the text; all of the engine's when absent. */
  readonly categories?: Iterable<Category>;
}

/** One text on its way. */
export interface Follower {
  /** True = a verdict was added, so that `scores` and `judged` may have changed. */
  write(text: string): boolean;
  /** The text is whole. */
  end(): void;
  /** Characters of the written text that verdicts cover. */
  readonly judged: number;
  /** Of the text so far. */
  readonly scores: Scores;
  /** From 0 to 1, how likely it is that what verdicts do not cover yet will be stopped: from `SUSPICION` on, let it wait. */
  suspicion(): number;
}

export const JUDGE_NOW_BOUND = 16_384;

/**
 * Low on purpose: it is reached by unfinished windows long before a verdict would be. Four of ten harmless texts reach
 * it with their first characters, one of twenty after the first line.
 */
export const SUSPICION = 0.5;

/** The engine gave no verdict. */
export class EngineUnavailable extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.name = 'EngineUnavailable';
  }
}
