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
import { trainOnly } from './train.js';

// npm run moderation:eval -- --data DIR [--model FILE]: of a model trained without the rows it is measured on, here and
// now, or before by moderation:train -- --train-only.
const { values } = parseArgs({ options: { data: { type: 'string' }, model: { type: 'string' } } });
if (values.data === undefined) {
  console.error('Say where the data is: npm run moderation:eval -- --data DIR');
  process.exit(2);
}
const { data, model: file } = values;
const say = (line: string): void => {
  console.error(line);
};
const model = loadModel(file === undefined ? await trainOnly(data, say) : await readFile(file));
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
