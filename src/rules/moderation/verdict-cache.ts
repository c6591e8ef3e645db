import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Scores } from '../../core/review.js';
import type { Engine } from './engine.js';

export interface CacheOptions {
  /** Verdicts that are remembered. */
  readonly entries: number;
}

/** Remembers verdicts by the hash of the text: a conversation pays for its new turn only. The text itself is not kept. */
export const createVerdictCache = (engine: Engine, { entries }: CacheOptions): Engine => {
  const kept = new LRUCache<string, Scores>({ max: Math.max(1, entries) });
  return {
    async judge(text, options) {
      const key = keyOf(text);
      const known = kept.get(key);
      if (known) return known;
      const scores = await engine.judge(text, options);
      kept.set(key, scores);
      return scores;
    },
    // Kept apart: another engine may be asked for these, and less of the text be read.
    judgeNow(text) {
      const key = `now ${keyOf(text)}`;
      const known = kept.get(key);
      if (known) return known;
      const scores = engine.judgeNow(text);
      kept.set(key, scores);
      return scores;
    },
    follow: (context, options) => engine.follow(context, options),
    reads: (text) => engine.reads(text),
  };
};

const keyOf = (text: string): string => createHash('sha256').update(text).digest('base64url');
