/** What counts as a match where a policy does not say (D30). */
export const DEFAULT_THRESHOLD_BASIS_POINTS = 5_000;

/** 0.57 is 5700 basis points, though its product with 10000 is a hair less. */
const ROUNDING = 1e-6;

export const meetsThreshold = (score: number, thresholdBasisPoints: number): boolean =>
  score * 10_000 + ROUNDING >= thresholdBasisPoints;
