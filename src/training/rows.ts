import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { modelCategories } from '../rules/moderation/model.js';
import { hashWord, spread } from '../rules/moderation/hash.js';
import { normalise } from '../text/normalise.js';

/** Labels are three-valued: what nobody looked at is not a no. */
export const YES = 1;
export const NO = 0;
export const UNKNOWN = -1;

export interface Row {
  readonly text: string;
  readonly source: string;
  readonly weight: number;
  /** One per category of the model. */
  readonly labels: readonly number[];
}

interface Line {
  readonly text: string;
  readonly source: string;
  readonly weight: number;
  readonly labels: Readonly<Record<string, number | null>>;
}

export const readRows = async (folder: string, name: 'train' | 'test'): Promise<Row[]> => {
  const bytes = await promisify(gunzip)(await readFile(join(folder, `${name}.jsonl.gz`)));
  return bytes
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const { text, source, weight, labels } = JSON.parse(line) as Line;
      return {
        text,
        source,
        weight,
        labels: modelCategories.map((category) => labels[category] ?? UNKNOWN),
      };
    });
};

export const isHarmless = ({ labels }: Row): boolean => labels.every((label) => label === NO);

export interface Split {
  readonly train: readonly Row[];
  /** Harmless rows that set the thresholds. */
  readonly calibration: readonly Row[];
  /** Rows of every kind that only `moderation:eval` reads. */
  readonly heldOut: readonly Row[];
}

/** By the text itself, so that the same row is always on the same side and twins stay together. */
export const splitRows = (rows: readonly Row[]): Split => {
  const split = { train: [] as Row[], calibration: [] as Row[], heldOut: [] as Row[] };
  for (const row of rows) {
    const place = (spread(hashWord(normalise(row.text))) >>> 0) % 100;
    if (place < 8 && isHarmless(row)) split.calibration.push(row);
    else if (place >= 8 && place < 18) split.heldOut.push(row);
    else split.train.push(row);
  }
  return split;
};
