import type { Engine } from '../rules/moderation/engine.js';
import { modelCategories } from '../rules/moderation/model.js';
import {
  harmlessOf,
  judgeAll,
  measureCategory,
  percent,
  positivesOf,
  printTable,
  shareAbove,
} from './measure.js';
import type { Row } from './rows.js';

const fixed = (value: number): string => (Number.isNaN(value) ? '-' : value.toFixed(2));

/** Average precision, precision and recall at the default threshold, one line per category. */
export const printQuality = async (engine: Engine, name: string, rows: readonly Row[]): Promise<void> => {
  const scores = await judgeAll(engine, rows);
  console.log(`\n## ${name} (${rows.length} rows)\n`);
  printTable(
    ['category', 'positives of known', 'average precision', 'precision', 'recall'],
    modelCategories.map((category, index) => {
      const { positives, known, averagePrecision, precision, recall } = measureCategory(rows, scores, index);
      return [
        category,
        `${positives} of ${known}`,
        ...[averagePrecision, precision, recall].map((value) => fixed(positives === 0 ? Number.NaN : value)),
      ];
    }),
  );
};

/** How often harmless texts are flagged and positives found, below, at and above the default threshold. */
export const printOperatingPoints = async (engine: Engine, rows: readonly Row[]): Promise<void> => {
  const harmless = await judgeAll(engine, harmlessOf(rows));
  console.log(`\n## Operating points (${harmless.length} harmless texts; positives of all held-out rows)\n`);
  const lines = await Promise.all(
    modelCategories.map(async (category, index) => {
      const found = await judgeAll(engine, positivesOf(rows, index));
      return [
        category,
        ...[0.25, 0.5, 0.75, 0.9].map(
          (score) =>
            `${percent(shareAbove(harmless, index, score))} / ${found.length === 0 ? '-' : percent(shareAbove(found, index, score))}`,
        ),
      ];
    }),
  );
  printTable(['category: false alarms / found at', '0.25', '0.5', '0.75', '0.9'], lines);
};

/** Harmless sentences about processes, idioms, children and groups: how many are flagged. They helped to set the thresholds. */
export const printLookalikes = async (engine: Engine, rows: readonly Row[]): Promise<void> => {
  const scores = await judgeAll(engine, rows);
  console.log(`\n## Lookalikes of our own (${rows.length})\n`);
  printTable(
    ['category', 'flagged at 0.5', 'at 0.9'],
    modelCategories.map((category, index) => [
      category,
      percent(shareAbove(scores, index, 0.5)),
      percent(shareAbove(scores, index, 0.9)),
    ]),
  );
};
