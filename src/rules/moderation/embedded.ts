import { setImmediate } from 'node:timers/promises';
import type { Category, Scores } from '../../core/review.js';
import { scoresOf, suspicionOf } from './calibration.js';
import { JUDGE_NOW_BOUND, type Engine, type Follower, type FollowOptions } from './engine.js';
import { readsAsEnglish } from './language.js';
import { modelCategories, type Model } from './model.js';
import { CATEGORY_COUNT } from './segments.js';
import { TextScan } from './text-scan.js';

/** Characters read at a stretch; then others have their turn. */
const SLICE = 16_384;
/** Of what was said before, only the end matters. */
const CONTEXT_CHARACTERS = 125;

const logits = new Float64Array(CATEGORY_COUNT);

/** The classifier of the project itself: no network, no waiting, English only. */
export const createEmbeddedEngine = (model: Model): Engine => {
  const scratch = new TextScan(model);

  const conclude = (scan: TextScan): Scores => {
    scan.finish();
    scan.blendInto(logits);
    return scoresOf(model, logits);
  };

  const judgeNow = (text: string): Scores => {
    scratch.reset();
    scratch.read(text.length > JUDGE_NOW_BOUND ? text.slice(0, JUDGE_NOW_BOUND) : text);
    return conclude(scratch);
  };

  return {
    judgeNow,
    async judge(text, { signal } = {}) {
      signal?.throwIfAborted();
      if (text.length <= SLICE) return judgeNow(text);
      const scan = new TextScan(model);
      for (let from = 0; from < text.length; from += SLICE) {
        if (from > 0) await setImmediate(undefined, signal && { signal });
        scan.read(text.slice(from, from + SLICE));
      }
      return conclude(scan);
    },
    follow: (context, options) => new EmbeddedFollower(model, context, options),
    reads: readsAsEnglish,
  };
};

class EmbeddedFollower implements Follower {
  readonly #model: Model;
  readonly #scan: TextScan;
  readonly #categories: readonly number[];
  #scores: Scores | null = null;

  constructor(model: Model, context: string, { categories = modelCategories }: FollowOptions = {}) {
    this.#model = model;
    this.#scan = new TextScan(model);
    const wanted = new Set<Category>(categories);
    this.#categories = modelCategories.flatMap((category, index) => (wanted.has(category) ? [index] : []));
    if (context !== '') this.#scan.precede(lastPart(context));
  }

  write(text: string): boolean {
    const before = this.#scan.verdicts;
    this.#scan.read(text);
    if (this.#scan.verdicts === before) return false;
    this.#scores = null;
    return true;
  }

  end(): void {
    this.#scan.finish();
    this.#scores = null;
  }

  get judged(): number {
    return this.#scan.judged;
  }

  get scores(): Scores {
    if (this.#scores === null) {
      this.#scan.blendInto(logits);
      this.#scores = scoresOf(this.#model, logits);
    }
    return this.#scores;
  }

  suspicion(): number {
    const features = this.#scan.peek(logits);
    return suspicionOf(this.#model, logits, features, this.#categories);
  }
}

/** The last segment's worth, from the beginning of a word. */
const lastPart = (context: string): string => {
  if (context.length <= CONTEXT_CHARACTERS) return context;
  const part = context.slice(-CONTEXT_CHARACTERS);
  return part.slice(part.indexOf(' ') + 1);
};
