/** Budgets below the first bound are `low`, below the second `medium`. */
const LOW_BELOW = 4_000;
const MEDIUM_BELOW = 16_000;

export const effortOfBudget = (tokens: number): string => {
  if (tokens < LOW_BELOW) return 'low';
  return tokens < MEDIUM_BELOW ? 'medium' : 'high';
};

/** The least a model of the Messages format accepts. */
export const LEAST_BUDGET = 1_024;

export const budgetOfEffort: Readonly<Record<string, number>> = {
  minimal: LEAST_BUDGET,
  low: 2_048,
  medium: 8_192,
  high: 16_384,
  xhigh: 32_768,
  max: 63_999,
};
