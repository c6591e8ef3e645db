import { BUCKETS } from '../rules/moderation/hash.js';
import type { ModelParts } from '../rules/moderation/model.js';
import type { Line } from './regression.js';

const CLIPPED_SHARE = 0.0001;
const HIGHEST = 127;

/** Weights as bytes, bucket by bucket; the few largest are cut so that the others keep their shape. */
export const quantise = (lines: readonly Line[]): Pick<ModelParts, 'weights' | 'scales' | 'biases'> => {
  const scales = lines.map(({ weights }) => {
    const sizes = Float32Array.from(weights, Math.abs).sort();
    return Math.max(1e-9, sizes[Math.floor(sizes.length * (1 - CLIPPED_SHARE))]!) / HIGHEST;
  });
  const weights = new Int8Array(BUCKETS * lines.length);
  lines.forEach((line, category) => {
    const scale = scales[category]!;
    line.weights.forEach((weight, bucket) => {
      const level = Math.round(weight / scale);
      weights[bucket * lines.length + category] = Math.max(-HIGHEST, Math.min(HIGHEST, level));
    });
  });
  return { weights, scales, biases: lines.map(({ bias }) => bias) };
};
