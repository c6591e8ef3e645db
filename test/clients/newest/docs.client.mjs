import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readDocBlocks, runBlock } from '../doc-blocks.js';

const isNewest = (name) => name === 'ai' || name.startsWith('@ai-sdk/') || name.startsWith('@langchain/');
const blocks = readDocBlocks().filter(({ packages }) => packages.some(isNewest));

describe('docs/clients.md with the newest clients', () => {
  it('has an example for each', () => assert.ok(blocks.length >= 5));
  for (const [index, { code, packages }] of blocks.entries())
    it(`${packages.join(', ')}: the example works as it stands`, async () => {
      const file = join(import.meta.dirname, `example-${index}.mjs`);
      writeFileSync(file, code);
      try {
        const { SLUICE_URL, SLUICE_API_KEY } = process.env;
        const run = await runBlock(process.execPath, file, SLUICE_URL, SLUICE_API_KEY);
        assert.equal(run.code, 0, run.err);
        assert.match(run.out, /[a-z]{3}/);
      } finally {
        rmSync(file);
      }
    });
});
