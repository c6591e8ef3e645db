import type { Category } from '../../core/review.js';

/** Where nothing is said. */
export const DEFAULT_THRESHOLD = 0.5;

/**
 * What a category needs where the operator names no threshold. `illicit` cannot tell a harmless question about a crime
 * or a process from the other kind well enough: unless it is named, it acts only when it is nearly sure.
 */
export const defaultThresholds: Readonly<Partial<Record<Category, number>>> = {
  illicit: 0.9,
  'illicit/violent': 0.9,
};

/** The threshold of each category: the given one, else the default. A number beyond 1 counts as 1: nothing is switched off. */
export const thresholds =
  (given: Readonly<Record<string, number>>): ((category: Category) => number) =>
  (category) =>
    Math.min(
      1,
      (Object.hasOwn(given, category) ? given[category] : defaultThresholds[category]) ?? DEFAULT_THRESHOLD,
    );
