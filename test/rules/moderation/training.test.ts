import t from 'tap';
import { averagePrecision } from '../../../src/training/measure.js';
import { deriveRows } from '../../../src/training/derive.js';
import { seedRandom } from '../../../src/training/random.js';
import { fitLine } from '../../../src/training/regression.js';
import { splitRows, type Row } from '../../../src/training/rows.js';

t.test('the regression finds what tells two sides apart', async (t) => {
  const random = seedRandom(3);
  const rows = Array.from({ length: 400 }, (_, index) => {
    const yes = index % 4 === 0;
    // Feature 0 tells, feature 1 tells the opposite, the rest is noise.
    return { yes, features: [yes ? 0 : 1, ...Array.from({ length: 6 }, () => 2 + random.below(50))] };
  });
  const starts = Uint32Array.from({ length: rows.length + 1 }, (_, index) => index * 7);
  const line = fitLine({
    examples: {
      count: rows.length,
      starts,
      features: Uint32Array.from(rows.flatMap(({ features }) => features)),
      values: new Float32Array(rows.length).fill(1 / Math.sqrt(7)),
    },
    rows: Uint32Array.from(rows.keys()),
    sides: Int8Array.from(rows, ({ yes }) => (yes ? 1 : -1)),
    costs: new Float64Array(rows.length).fill(4),
    size: 64,
    rounds: 50,
    random: seedRandom(5),
  });
  const logit = ({ features }: (typeof rows)[number]): number =>
    line.bias + features.reduce((sum, feature) => sum + line.weights[feature]!, 0) / Math.sqrt(7);
  t.ok(rows.every((row) => logit(row) > 0 === row.yes));
  t.ok(line.weights[0]! > 1 && line.weights[1]! < -1);
});

t.test(
  'average precision is one for a perfect order and the share of positives for a hopeless one',
  async (t) => {
    const scored = (order: string) =>
      Array.from(order, (side, index) => ({ score: -index, yes: side === '+' }));
    t.equal(averagePrecision(scored('++--')), 1);
    t.equal(averagePrecision(scored('-+')), 0.5);
    t.equal(averagePrecision(scored('+-+')), (1 + 2 / 3) / 2);
    t.ok(Number.isNaN(averagePrecision(scored('--'))));
  },
);

const row = (text: string, yes: boolean): Row => ({
  text,
  source: yes ? 'x' : 'moby-dick',
  weight: 1,
  labels: [yes ? 1 : 0, 0, 0, 0, 0, 0],
});

t.test('a row lies always on the same side, and only harmless rows set thresholds', async (t) => {
  const rows = Array.from({ length: 1_000 }, (_, index) => row(`Sentence number ${index}.`, index % 2 === 0));
  const split = splitRows(rows);
  t.same(split, splitRows(rows));
  t.equal(split.train.length + split.calibration.length + split.heldOut.length, rows.length);
  t.ok(split.calibration.length > 10 && split.calibration.every(({ labels }) => !labels.includes(1)));
  t.ok(split.heldOut.length > 50);
});

t.test('derived rows are the same in every run', async (t) => {
  const rows = [
    row('You there, stop that at once.', true),
    row('The whale went down again in silence.', false),
  ];
  t.same(deriveRows(rows).slice(0, 500), deriveRows(rows).slice(0, 500));
  t.ok(
    deriveRows(rows).every(({ text }) => !/\{\w+\}/.test(text)),
    'no slot is left open',
  );
});
