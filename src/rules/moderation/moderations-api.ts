import * as v from 'valibot';
import { categories, type Category, type Scores } from '../../core/review.js';

const DEFAULT_MODEL = 'omni-moderation-latest';
/** What a service flags is at least at the default threshold here, whatever its own scale. */
const FLAGGED = 0.5;
const JUST_BELOW = 0.499;

const Answer = v.object({
  results: v.pipe(
    v.array(
      v.object({
        categories: v.optional(v.record(v.string(), v.nullable(v.boolean())), {}),
        category_scores: v.record(v.string(), v.nullable(v.number())),
      }),
    ),
    v.minLength(1),
  ),
});

const known = new Set<string>(categories);

export const moderationRequest = (text: string, model = DEFAULT_MODEL): unknown => ({ model, input: text });

/**
 * The scores of an OpenAI-shaped answer. Each category keeps its own, and what lies below one (`hate/threatening`) counts
 * for it as well; `sexual/minors` stands apart. Null where the answer is of another shape.
 */
export const readModerations = (answer: unknown): Scores | null => {
  const read = v.safeParse(Answer, answer);
  if (!read.success) return null;
  const scores = new Map<Category, number>();
  const raise = (category: Category, score: number): void => {
    scores.set(category, Math.max(scores.get(category) ?? 0, score));
  };
  for (const { categories: flags, category_scores: given } of read.output.results)
    for (const [name, score] of Object.entries(given)) {
      if (score === null || !isCategory(name)) continue;
      const placed = place(Math.min(1, Math.max(0, score)), flags[name] ?? null);
      raise(name, placed);
      const parent = name.split('/')[0]!;
      if (isCategory(parent) && name !== 'sexual/minors') raise(parent, placed);
    }
  return scores;
};

/** The service's own flag decides on which side of the threshold a score lies. */
const place = (score: number, flagged: boolean | null): number => {
  if (flagged === null) return score;
  return flagged ? Math.max(FLAGGED, score) : Math.min(JUST_BELOW, score);
};

const isCategory = (name: string): name is Category => known.has(name);
