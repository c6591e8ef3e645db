import type { Category } from '../../core/review.js';
import { preparePhrases, type Phrases } from './evidence.js';
import { packWeights } from './segments.js';
import { Lexicon, type LexiconWord } from './lexicon.js';

/** The categories the embedded model knows, in the order of its weights. */
export const modelCategories = [
  'harassment',
  'hate',
  'illicit',
  'sexual',
  'self-harm',
  'sexual/minors',
] as const satisfies readonly Category[];

/** How logits become scores; every list has one number per category. */
export interface Calibration {
  /** The logit that one in two hundred harmless texts reaches: score 0.5. */
  readonly thresholds: readonly number[];
  /** How fast the score rises around it. */
  readonly slopes: readonly number[];
  /** For each step of `SUSPICION_STEPS`, the logits at which an unfinished window waits for its verdict. */
  readonly suspicions: readonly (readonly number[])[];
}

/** All that training finds out. */
export interface ModelParts extends Calibration {
  /** One weight in the table, in logits. */
  readonly scales: readonly number[];
  readonly biases: readonly number[];
  /** Bucket by bucket, so that one feature costs one line of the cache. */
  readonly weights: Int8Array;
  readonly words: readonly LexiconWord[];
  readonly explicitPhrases: readonly string[];
}

export interface Model extends Omit<ModelParts, 'weights'> {
  /** The weights as they are read: see `packWeights`. */
  readonly table: Int32Array;
  readonly lexicon: Lexicon;
  readonly phrases: Phrases;
  /** Names this very model: a verdict kept from another one is worth nothing. */
  readonly fingerprint: string;
}

export const assembleModel = ({ weights, ...parts }: ModelParts, fingerprint: string): Model => {
  const lexicon = new Lexicon(parts.words);
  return {
    ...parts,
    table: packWeights(weights),
    lexicon,
    phrases: preparePhrases(lexicon, parts.explicitPhrases),
    fingerprint,
  };
};
