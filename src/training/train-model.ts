import { BUCKETS } from '../rules/moderation/hash.js';
import { Lexicon } from '../rules/moderation/lexicon.js';
import { assembleModel, modelCategories, type ModelParts } from '../rules/moderation/model.js';
import { preparePhrases } from '../rules/moderation/evidence.js';
import { alignMinors } from './align-minors.js';
import { calibrate } from './calibrate.js';
import { deriveRows, listLookalikes } from './derive.js';
import { makeExamples, type ExampleSet } from './examples.js';
import { quantise } from './quantise.js';
import { seedRandom } from './random.js';
import { fitLine, type Line } from './regression.js';
import { UNKNOWN, YES, type Row } from './rows.js';
import { makeVocabulary, markMasked } from './vocabulary.js';

const SEED = 7_919;
const COST = 4;
const ROUNDS = 14;
const IMBALANCE_BOUND = 20;

export interface TrainingOptions {
  /** Harmless rows that were kept apart. */
  readonly calibration: readonly Row[];
  readonly say: (line: string) => void;
}

/** Six regressions over the same features, each on the rows whose label in its category is known. */
export const trainModel = (rows: readonly Row[], { calibration, say }: TrainingOptions): ModelParts => {
  const vocabulary = makeVocabulary(rows);
  const lexicon = new Lexicon(vocabulary.words);
  preparePhrases(lexicon, vocabulary.explicitPhrases);
  const all = [...rows, ...deriveRows(rows)];
  say(`${all.length} rows, ${vocabulary.words.length} words`);
  const examples = makeExamples(all, lexicon);
  say(`${examples.count} examples, ${examples.features.length} features`);
  const lines = modelCategories.map((category, index) => {
    const line = fitCategory(all, examples, index);
    say(`${category}: fitted`);
    return line;
  });
  const quantised = quantise(lines);
  const words = markMasked(vocabulary.words, quantised);
  const raw = { ...vocabulary, ...quantised, words, thresholds: [], slopes: [], suspicions: [] };
  const model = assembleModel(raw, 'in training');
  const lookalikes = listLookalikes();
  const biases = alignMinors(model, [calibration, lookalikes]);
  return { ...raw, biases, ...calibrate({ ...model, biases }, calibration, lookalikes) };
};

const fitCategory = (rows: readonly Row[], examples: ExampleSet, category: number): Line => {
  const known: number[] = [];
  let positives = 0;
  let negatives = 0;
  for (let example = 0; example < examples.count; example++) {
    const row = rows[examples.rowOf[example]!]!;
    const label = row.labels[category]!;
    if (label === UNKNOWN) continue;
    known.push(example);
    if (label === YES) positives += row.weight;
    else negatives += row.weight;
  }
  const raise = Math.min(IMBALANCE_BOUND, Math.sqrt(negatives / Math.max(1, positives)));
  const rowOf = (index: number): Row => rows[examples.rowOf[known[index]!]!]!;
  return fitLine({
    examples,
    rows: Uint32Array.from(known),
    sides: Int8Array.from(known, (_, index) => (rowOf(index).labels[category] === YES ? 1 : -1)),
    costs: Float64Array.from(known, (_, index) => {
      const { labels, weight } = rowOf(index);
      return COST * weight * (labels[category] === YES ? raise : 1);
    }),
    size: BUCKETS,
    rounds: ROUNDS,
    random: seedRandom(SEED + category),
  });
};
