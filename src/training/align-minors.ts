import { modelCategories, type Model } from '../rules/moderation/model.js';
import { LOWEST } from '../rules/moderation/peaks.js';
import { logitsOf, quantile } from './logits.js';
import type { Row } from './rows.js';

const SEXUAL = modelCategories.indexOf('sexual');
const MINORS = modelCategories.indexOf('sexual/minors');
const OUT_OF_REACH = -100;
const FALSE_ALARMS = 0.01;

/** Too few harmless texts speak of children to tell: by hand, a sexual text with one sure sign or several weak ones. */
export const MINORS_THRESHOLD = 1.3;

/**
 * Two ways lead to `sexual/minors`, and they meet at one threshold: what the rule finds has its own scale, so what was
 * learned from requests is moved until only one in a hundred harmless texts about children reaches the threshold by it.
 */
export const alignMinors = (model: Model, sets: readonly (readonly Row[])[]): number[] => {
  const withoutRule = {
    ...model,
    biases: model.biases.map((bias, category) => (category === SEXUAL ? OUT_OF_REACH : bias)),
  };
  const highest = sets.map((rows) => {
    const learned = logitsOf(withoutRule, rows).map((logits) => logits[MINORS]!);
    return quantile(
      learned.filter((logit) => logit > LOWEST).sort((one, other) => one - other),
      1 - FALSE_ALARMS,
    );
  });
  return model.biases.map((bias, category) =>
    category === MINORS ? bias + MINORS_THRESHOLD - Math.max(...highest) : bias,
  );
};
