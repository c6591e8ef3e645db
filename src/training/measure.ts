import type { Scores } from '../core/review.js';
import type { Engine } from '../rules/moderation/engine.js';
import { modelCategories } from '../rules/moderation/model.js';
import { NO, UNKNOWN, YES, type Row } from './rows.js';

export const DEFAULT = 0.5;

/** Area under precision and recall: the mean precision at each positive, from the highest score down. */
export const averagePrecision = (
  scored: readonly { readonly score: number; readonly yes: boolean }[],
): number => {
  let found = 0;
  let sum = 0;
  [...scored]
    .sort((one, other) => other.score - one.score)
    .forEach(({ yes }, index) => {
      if (!yes) return;
      found++;
      sum += found / (index + 1);
    });
  return found === 0 ? Number.NaN : sum / found;
};

export interface Quality {
  readonly positives: number;
  readonly known: number;
  readonly averagePrecision: number;
  readonly precision: number;
  readonly recall: number;
}

export const judgeAll = (engine: Engine, rows: readonly Row[]): Promise<Scores[]> =>
  Promise.all(rows.map(({ text }) => engine.judge(text)));

/** On the rows whose label in the category is known. */
export const measureCategory = (
  rows: readonly Row[],
  scores: readonly Scores[],
  category: number,
): Quality => {
  const scored = rows.flatMap(({ labels }, index) =>
    labels[category] === UNKNOWN
      ? []
      : [{ score: scores[index]!.get(modelCategories[category]!)!, yes: labels[category] === YES }],
  );
  const flagged = scored.filter(({ score }) => score >= DEFAULT);
  const right = flagged.filter(({ yes }) => yes).length;
  const positives = scored.filter(({ yes }) => yes).length;
  return {
    positives,
    known: scored.length,
    averagePrecision: averagePrecision(scored),
    precision: right / flagged.length,
    recall: right / positives,
  };
};

/** Share of texts that reach a score. */
export const shareAbove = (scores: readonly Scores[], category: number, score: number): number =>
  scores.filter((each) => each.get(modelCategories[category]!)! >= score).length / Math.max(1, scores.length);

export const positivesOf = (rows: readonly Row[], category: number): Row[] =>
  rows.filter(({ labels }) => labels[category] === YES);

export const harmlessOf = (rows: readonly Row[]): Row[] =>
  rows.filter(({ labels }) => labels.every((label) => label === NO));

export const percent = (share: number): string =>
  Number.isNaN(share) ? '-' : `${(share * 100).toFixed(1)}%`;

/** Rows of cells as a Markdown table. */
export const printTable = (head: readonly string[], rows: readonly (readonly string[])[]): void => {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  console.log([line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n'));
};
