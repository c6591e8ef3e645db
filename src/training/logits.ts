import { modelCategories, type Model } from '../rules/moderation/model.js';
import { Scan } from '../rules/moderation/scan.js';
import type { Row } from './rows.js';

/** Text logits of the model, row by row. */
export const logitsOf = (model: Model, rows: readonly Row[]): Float64Array[] => {
  const scan = new Scan(model);
  return rows.map(({ text }) => {
    scan.reset();
    scan.read(text);
    scan.finish();
    const logits = new Float64Array(modelCategories.length);
    scan.peaks.blendInto(logits);
    return logits;
  });
};

/** Of values in rising order. */
export const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.max(0, Math.floor(sorted.length * share)))] ?? 0;
