import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { MOST_VERSIONS } from '../../src/rules/policies/layout.js';
import { folderFor, openDesk, stores } from '../endpoints/administration/desk.js';
import { ADMIN_KEY } from '../support/gateway.js';
import { readRepositoryFile } from '../support/repository.js';

const page = readRepositoryFile('docs/policies.md');
const blocks = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block!);

const runBash = async (t: Test, script: string, env: Record<string, string>) => {
  const file = join(folderFor(t), 'walk.sh');
  writeFileSync(file, script);
  const child = spawn('bash', [file], { env: { PATH: process.env['PATH'] ?? '', ...env } });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
};

for (const each of stores)
  t.test(`docs/policies.md: the walk with curl works as it stands [${each.name}]`, async (t) => {
    const { url, ask } = await openDesk(t, await each.store(t));
    const { code, output } = await runBash(t, blocks.join('\n'), { URL: url, ADMIN_KEY });
    t.equal(code, 0, output);
    t.match(output, /done\n$/, 'to its last line');
    t.same((await ask('GET', '/policies')).body.data, [], 'it cleans up after itself');
  });

t.test('docs/policies.md: a step that fails stops the walk, so the walk can fail', async (t) => {
  const { url } = await openDesk(t, { kind: 'embedded', path: ':memory:' });
  const broken = blocks.join('\n').replace('= enforcing ]', '= monitoring ]');
  t.not(broken, blocks.join('\n'));
  t.not((await runBash(t, broken, { URL: url, ADMIN_KEY })).code, 0);
});

t.test('docs/policies.md tells the bounds the gateway keeps', async (t) => {
  t.match(page, `at most ${MOST_VERSIONS} versions`);
  t.match(page, 'at most 500 policies');
});
