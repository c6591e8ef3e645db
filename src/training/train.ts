import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { encodeModel } from '../rules/moderation/model-file.js';
import { readRows, splitRows, type Row } from './rows.js';
import { trainModel } from './train-model.js';

export const SHIPPED_MODEL = 'config/moderation/model.bin';
export const TRAIN_ONLY_MODEL = 'dist/moderation-train-only.bin';

/** The model that `moderation:eval` measures: it has seen neither the test file nor the rows held out. */
export const trainOnly = async (data: string, say: (line: string) => void): Promise<Buffer> => {
  const { train, calibration } = splitRows(await readRows(data, 'train'));
  return encodeModel(trainModel(train, { calibration, say }));
};

/** The model that is shipped: it has seen everything but the harmless rows that set its thresholds. */
export const trainShipped = async (data: string, say: (line: string) => void): Promise<Buffer> => {
  const { train, heldOut, calibration } = splitRows(await readRows(data, 'train'));
  const rows: Row[] = [...train, ...heldOut, ...(await readRows(data, 'test'))];
  return encodeModel(trainModel(rows, { calibration, say }));
};

export const save = async (file: string, bytes: Buffer): Promise<void> => {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, bytes);
};
