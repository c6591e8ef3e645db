import { parseArgs } from 'node:util';
import { save, SHIPPED_MODEL, TRAIN_ONLY_MODEL, trainOnly, trainShipped } from './train.js';

// npm run moderation:train -- --data DIR [--train-only] [--out FILE]
const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    'train-only': { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});
if (values.data === undefined) {
  console.error('Say where the data is: npm run moderation:train -- --data DIR');
  process.exit(2);
}
const begunMs = Date.now();
const say = (line: string): void => {
  console.log(`${((Date.now() - begunMs) / 1_000).toFixed(0).padStart(4)} s  ${line}`);
};
const file = values.out ?? (values['train-only'] ? TRAIN_ONLY_MODEL : SHIPPED_MODEL);
const bytes = await (values['train-only'] ? trainOnly : trainShipped)(values.data, say);
await save(file, bytes);
say(`${file}: ${bytes.length} bytes`);
