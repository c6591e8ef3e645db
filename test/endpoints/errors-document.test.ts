import { readFileSync } from 'node:fs';
import t from 'tap';
import { errorTable } from '../../src/core/error-table.js';

const document = readFileSync('docs/errors.md', 'utf8');

const rows = new Map(
  [...document.matchAll(/^\| `(\w+)`\s*\| (\d{3})\s*\| (\w+)\s*\| (.*?)\s*\|$/gm)].map(
    ([, code, status, type, when]) => [code!, { status: Number(status), type: type!, when: when! }],
  ),
);

t.test('7 docs/errors.md lists every code the gateway can answer with, and no other', async (t) => {
  t.strictSame([...rows.keys()], Object.keys(errorTable));
});

t.test('7 docs/errors.md gives each code its status, type and sentence', async (t) => {
  for (const [code, { status, type, when }] of Object.entries(errorTable))
    t.strictSame(rows.get(code), { status, type, when }, code);
});
