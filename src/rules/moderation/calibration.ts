import type { Category, Scores } from '../../core/review.js';
import { modelCategories, type Calibration } from './model.js';

/** How many features of a window are there, in steps: few say little, so they are held against a lower bar. */
export const SUSPICION_STEPS = [10, 20, 35, 50, 70, 110, 200, Number.POSITIVE_INFINITY] as const;

const sigmoid = (value: number): number => 1 / (1 + Math.exp(-value));

export const stepOf = (features: number): number => {
  let step = 0;
  while (features >= SUSPICION_STEPS[step]!) step++;
  return step;
};

/** Logits as scores: at most one harmless text in two hundred reaches 0.5, and about one in twenty 0.1. */
export const scoresOf = ({ thresholds, slopes }: Calibration, logits: Float64Array): Scores =>
  new Map<Category, number>(
    modelCategories.map((category, index) => [
      category,
      sigmoid(slopes[index]! * (logits[index]! - thresholds[index]!)),
    ]),
  );

/** The score of an unfinished window in the category where it is highest. */
export const suspicionOf = (
  { suspicions, slopes }: Calibration,
  logits: Float64Array,
  features: number,
  categories: readonly number[],
): number => {
  const bars = suspicions[stepOf(features)]!;
  let highest = Number.NEGATIVE_INFINITY;
  for (const category of categories)
    highest = Math.max(highest, slopes[category]! * (logits[category]! - bars[category]!));
  return sigmoid(highest);
};
