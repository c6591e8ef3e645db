import { alwaysBlocked, covers, nameable } from '../../core/review.js';

export interface ThresholdOptions {
  readonly engine: string;
  /** By category; one that is not named takes that of the category above it. */
  readonly thresholds: Readonly<Record<string, number>>;
}

/** The score from which a category counts. */
export type Threshold = (category: string) => number;

const DEFAULT = 0.5;
/** An operator may tune what is always blocked, not switch it off. */
const HIGHEST_ALWAYS = 0.9;
/**
 * The classifier cannot tell a harmless question about a crime or a process from the other kind well enough: where
 * nobody asked for this category, it counts only when it is nearly sure.
 */
const UNASKED: Readonly<Record<string, number>> = { illicit: 0.9 };

const named = (by: Readonly<Record<string, number>>, category: string): number | undefined => {
  const above = category.split('/')[0]!;
  if (Object.hasOwn(by, category)) return by[category];
  return Object.hasOwn(by, above) ? by[above] : undefined;
};

/** Found once for each category there is: it is asked for with every text. */
const settled = (threshold: Threshold): Threshold => {
  const known = new Map<string, number>(nameable.map((category) => [category, threshold(category)]));
  return (category) => known.get(category) ?? threshold(category);
};

/** For categories that somebody named: in a request, in a configuration (D18). */
export const askedThresholds = ({ engine, thresholds }: ThresholdOptions): Threshold =>
  settled((category) => {
    const given = named(thresholds, category) ?? DEFAULT;
    if (covers(alwaysBlocked, category)) return Math.min(given, HIGHEST_ALWAYS);
    return engine === 'off' ? Infinity : given;
  });

/** For whoever wants to know about all categories at once. */
export const unaskedThresholds = (options: ThresholdOptions): Threshold => {
  const asked = askedThresholds(options);
  return (category) =>
    named(options.thresholds, category) === undefined
      ? Math.max(asked(category), named(UNASKED, category) ?? 0)
      : asked(category);
};
