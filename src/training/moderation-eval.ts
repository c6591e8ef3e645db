import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { createEmbeddedEngine } from '../rules/moderation/embedded.js';
import { loadModel } from '../rules/moderation/model-file.js';
import { listLookalikes } from './derive.js';
import { printEvasion } from './evaluate-evasion.js';
import { printLookalikes, printOperatingPoints, printQuality } from './evaluate-quality.js';
import { printStreams } from './evaluate-streams.js';
import { harmlessOf } from './measure.js';
import { readRows, splitRows } from './rows.js';
import { save, TRAIN_ONLY_MODEL, trainOnly } from './train.js';

// npm run moderation:eval -- --data DIR [--model FILE]: a model trained without the rows it is measured on.
const { values } = parseArgs({ options: { data: { type: 'string' }, model: { type: 'string' } } });
if (values.data === undefined) {
  console.error('Say where the data is: npm run moderation:eval -- --data DIR');
  process.exit(2);
}
const { data, model: file = TRAIN_ONLY_MODEL } = values;

/** The model is trained here where no one has done so yet. */
const readModel = async (): Promise<Buffer> => {
  try {
    return await readFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || values.model !== undefined) throw error;
  }
  const bytes = await trainOnly(data, (line) => {
    console.error(line);
  });
  await save(file, bytes);
  return bytes;
};

const model = loadModel(await readModel());
const engine = createEmbeddedEngine(model);
const test = await readRows(data, 'test');
const { heldOut } = splitRows(await readRows(data, 'train'));
console.log(`# Model ${model.fingerprint}, trained without any row below`);
await printQuality(engine, 'Test file: sources the model never saw', test);
await printQuality(engine, 'Held-out rows: sources it knows', heldOut);
await printOperatingPoints(engine, heldOut);
await printLookalikes(engine, listLookalikes());
// Lists of words and single words say nothing about disguises of text.
const isProse = ({ source, text }: { source: string; text: string }): boolean =>
  !/^(lexicon|lemma|identity)/.test(source) && text.length >= 12;
const prose = [...test, ...heldOut].filter(isProse);
const harmless = harmlessOf(prose);
await printEvasion(
  engine,
  prose,
  harmless.filter((_, index) => index % 4 === 0),
);
printStreams(engine, prose, harmless);
