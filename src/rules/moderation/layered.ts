import type { Category, Scores } from '../../core/review.js';
import { EngineUnavailable, type Engine } from './engine.js';
import type { RemoteEngine } from './remote.js';

export interface LayeredOptions {
  /** Always asked, and never overruled downwards. */
  readonly floor: Engine;
  /** Asked for whole texts. */
  readonly remote: RemoteEngine;
  /** Without an answer of the remote: `block` rejects with EngineUnavailable, `allow` leaves it at the floor. */
  readonly onError: 'block' | 'allow';
  /** Told of each failure, whatever is done about it. */
  readonly onUnavailable?: (error: EngineUnavailable) => void;
}

export const createLayeredEngine = ({ floor, remote, onError, onUnavailable }: LayeredOptions): Engine => ({
  async judge(text, options) {
    const [own, theirs] = await Promise.all([
      floor.judge(text, options),
      remote.judge(text, options).catch((error: unknown) => {
        if (!(error instanceof EngineUnavailable)) throw error;
        onUnavailable?.(error);
        if (onError === 'block') throw error;
        return null;
      }),
    ]);
    return theirs === null ? own : highest(own, theirs);
  },
  judgeNow: (text) => floor.judgeNow(text),
  follow: (context, options) => floor.follow(context, options),
  // Whoever is asked outside is taken to know more languages.
  reads: () => true,
});

const highest = (one: Scores, other: Scores): Scores => {
  const scores = new Map<Category, number>(one);
  for (const [category, score] of other) scores.set(category, Math.max(score, scores.get(category) ?? 0));
  return scores;
};
