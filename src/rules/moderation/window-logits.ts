import { modelCategories, type Model } from './model.js';
import type { Evidence } from './evidence.js';
import { LOWEST } from './peaks.js';
import { CATEGORY_COUNT } from './segments.js';

const SEXUAL = modelCategories.indexOf('sexual');
const SELF_HARM = modelCategories.indexOf('self-harm');
const MINORS = modelCategories.indexOf('sexual/minors');

/** How far the findings of rules move a window, in logits. */
const EXPLICIT_WEIGHT = 1.5;
const SELF_HARM_WEIGHT = 1;
const CHILDHOOD_WEIGHT = 1.2;
const CHILDHOOD_BOUND = 4;
/** Between these logits of `sexual` a text turns from one about children to one that must not be. */
const SEXUAL_GATE = -1.5;
const SEXUAL_BOUND = 1;
const BEYOND_BOUND = 0.05;
/** Fewer features than this say too little to be judged at full strength. */
export const FEATURES_MIN = 12;

/** The logit of a window in each category, from the weights of its features and from what the rules found in it. */
export const windowLogits = (
  { biases, scales }: Model,
  sums: Float64Array,
  features: number,
  evidence: Evidence,
  logits: Float64Array,
): void => {
  const share = 1 / Math.sqrt(Math.max(FEATURES_MIN, features));
  for (let category = 0; category < CATEGORY_COUNT; category++)
    logits[category] = biases[category]! + scales[category]! * sums[category]! * share;
  logits[SEXUAL]! += EXPLICIT_WEIGHT * Math.min(2, evidence.explicitness());
  logits[SELF_HARM]! += SELF_HARM_WEIGHT * evidence.selfHarm();
  logits[MINORS] = minorsLogit(logits[SEXUAL]!, logits[MINORS]!, evidence.childhood());
};

/**
 * Without a sign of a child there is nothing to find. With one, it is found as far as the text is sexual, up to a point:
 * no explicit word makes anyone younger, and no number of children makes a text sexual. Or it reads like such requests.
 */
const minorsLogit = (sexual: number, learned: number, childhood: number): number => {
  if (childhood === 0) return LOWEST;
  const bounded = sexual > SEXUAL_BOUND ? SEXUAL_BOUND + (sexual - SEXUAL_BOUND) * BEYOND_BOUND : sexual;
  const both = bounded + CHILDHOOD_WEIGHT * Math.min(CHILDHOOD_BOUND, childhood);
  return Math.max(both - 2 * Math.max(0, SEXUAL_GATE - sexual), learned);
};
