import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { loadPepper } from '../../../src/rules/auth/pepper.js';

t.test(
  'D48 an empty pepper is generated into the store’s folder, readable by its owner only, and kept',
  async (t) => {
    const folder = join(t.testdir(), 'store');
    const first = await loadPepper({ given: '', keep: { folder } });
    t.ok(first.length >= 32);
    t.equal(statSync(join(folder, 'pepper')).mode & 0o777, 0o600);
    t.same(await loadPepper({ given: '', keep: { folder } }), first);
    const content = readFileSync(join(folder, 'pepper'), 'utf8');
    t.same(await loadPepper({ given: content, keep: 'nowhere' }), first, 'its content works as auth.pepper');
  },
);

t.test('several processes that start at once agree on one pepper and leave no drafts', async (t) => {
  const folder = t.testdir();
  const all = await Promise.all(Array.from({ length: 8 }, () => loadPepper({ given: '', keep: { folder } })));
  for (const pepper of all) t.same(pepper, all[0]);
  t.same(readdirSync(folder), ['pepper']);
});

t.test('D48 with a shared store a pepper must be given', async (t) => {
  await t.rejects(loadPepper({ given: '', keep: 'nowhere' }), /auth\.pepper must be set/);
  t.equal((await loadPepper({ given: 'p'.repeat(32), keep: 'nowhere' })).length, 32);
});

t.test('a pepper of less than 32 bytes is refused, given or read, and never shown', async (t) => {
  const folder = t.testdir();
  writeFileSync(join(folder, 'pepper'), 'short-secret\n');
  for (const options of [
    { given: 'short-secret', keep: 'memory' as const },
    { given: '', keep: { folder } },
  ]) {
    const error = await loadPepper(options).then(
      () => null,
      (thrown: unknown) => thrown as Error,
    );
    t.match(error?.message, /at least 32 bytes/);
    t.notMatch(error?.message, /short-secret/);
  }
});

t.test('a store that keeps nothing has a pepper of its own each time', async (t) => {
  const [a, b] = [
    await loadPepper({ given: '', keep: 'memory' }),
    await loadPepper({ given: '', keep: 'memory' }),
  ];
  t.ok(a.length >= 32);
  t.notSame(a, b);
});
