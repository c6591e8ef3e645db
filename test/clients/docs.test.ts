import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { APP_KEY, runGateway } from '../support/gateway.js';
import { readDocBlocks, runBlock } from './doc-blocks.js';

const blocks = readDocBlocks();
const installed = ['@anthropic-ai/sdk', 'openai'];
/** Run by test/clients/newest, which has these. */
const elsewhere = [
  'ai',
  '@ai-sdk/openai',
  '@ai-sdk/anthropic',
  '@ai-sdk/openai-compatible',
  '@langchain/anthropic',
  '@langchain/openai',
];

const runnable = blocks.filter(
  ({ language, packages }) =>
    language === 'sh' || (language === 'js' && packages.some((name) => installed.includes(name))),
);

for (const [index, { language, code, heading }] of runnable.entries())
  t.test(`docs/clients.md: ${heading}, example ${index + 1} works as it stands`, async (t) => {
    const { url } = await runGateway(t);
    const file = join(t.testdir(), language === 'js' ? 'example.mjs' : 'example.sh');
    writeFileSync(file, code);
    const program = language === 'js' ? process.execPath : 'bash';
    const { code: status, out, err } = await runBlock(program, file, url, APP_KEY);
    t.equal(status, 0, err);
    t.match(out, /[a-z]{3}/, 'it prints an answer');
    const wrongKey = await runBlock(program, file, url, 'sk-not-a-key-anybody-knows');
    t.not(wrongKey.code, 0, 'it fails where the key is wrong, so it can fail');
  });

t.test(
  'docs/clients.md: every example is run here or with the newest clients, and changes two lines',
  async (t) => {
    const examples = blocks.filter(({ language }) => language === 'js');
    t.ok(examples.length >= 8);
    for (const { heading, code, packages } of examples) {
      t.same(
        packages.filter((name) => !installed.includes(name) && !elsewhere.includes(name)),
        [],
        heading,
      );
      t.equal(code.split('// changed').length - 1, 2, heading);
    }
    const shown = examples.flatMap(({ packages }) => packages);
    for (const name of [...installed, ...elsewhere]) t.ok(shown.includes(name), `${name} is shown`);
  },
);
