import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { openEmbeddedRecords } from '../../../src/io/records/embedded.js';
import { StoreUnavailable } from '../../../src/io/records/records.js';
import type { Change, Step } from '../../../src/io/records/records.js';
import { openDatabase } from '../../../src/io/records/sqlite.js';
import { checkLeaks } from '../../support/leaks.js';
import { until } from '../../support/redis.js';

const put = (id: string, ttlMs?: number): Step => {
  return { op: 'put', collection: 'things', id, value: {}, expect: 'any', ...(ttlMs ? { ttlMs } : {}) };
};

t.test('every write acknowledged before SIGKILL is there after the restart', async (t) => {
  const path = t.testdir();
  const child = fork(new URL('./burst-child.js', import.meta.url), [path]);
  const acknowledged: string[] = [];
  child.on('message', (id: string) => {
    acknowledged.push(id);
    if (acknowledged.length === 1_000) child.kill('SIGKILL');
  });
  await once(child, 'exit');
  t.ok(acknowledged.length >= 1_000);

  const database = openDatabase(join(path, 'sluice.db'));
  t.match(database.prepare('PRAGMA integrity_check').get(), { integrity_check: 'ok' });
  database.close();

  const records = await openEmbeddedRecords({ path });
  t.teardown(() => records.close());
  const found = new Set<string>();
  for (let after = ''; ;) {
    const page = await records.list('org', 'things', { limit: 500, ...(after ? { after } : {}) });
    for (const { id, value } of page.items) {
      found.add(id);
      if (value['text'] !== id.repeat(20)) t.fail(`${id} is damaged`);
    }
    if (!page.hasMore) break;
    after = page.items.at(-1)!.id;
  }
  t.strictSame(
    acknowledged.filter((id) => !found.has(id)),
    [],
  );
  t.equal(await records.generation('org'), found.size);
});

t.test('a change by another process is told as a gap', async (t) => {
  const path = t.testdir();
  const records = await openEmbeddedRecords({ path });
  t.teardown(() => records.close());
  const heard: Change[] = [];
  records.watch((change) => heard.push(change));
  await records.commit('org', [put('own')]);
  t.strictSame(heard, [{ partition: 'org', collection: 'things', id: 'own' }]);

  const child = fork(new URL('./touch-child.js', import.meta.url), [path]);
  const [code] = (await once(child, 'exit')) as [number];
  t.equal(code, 0, 'a process with an idle store ends by itself');
  await until(() => heard.includes(null));
  t.match(await records.get('org', 'things', 'foreign'), { revision: 1 });
});

t.test('writes that wait together share one transaction', async (t) => {
  const path = t.testdir();
  const records = await openEmbeddedRecords({ path });
  await Promise.all(Array.from({ length: 300 }, (_, n) => records.commit('org', [put(`t${n}`)])));
  // Each transaction ends in one commit frame: without grouping there are at least 300 of several pages each.
  const walBytes = statSync(join(path, 'sluice.db-wal')).size;
  t.ok(walBytes < 300 * 4 * 4_096, `${walBytes} bytes in the log`);
  await records.close();
});

t.test('the files belong to their owner alone, and closing leaves one of them', async (t) => {
  const path = join(t.testdir(), 'deep', 'store');
  const records = await openEmbeddedRecords({ path });
  await records.commit('org', [put('a')]);
  t.equal(statSync(path).mode & 0o777, 0o700);
  for (const file of readdirSync(path)) t.equal(statSync(join(path, file)).mode & 0o777, 0o600, file);
  await records.close();
  t.strictSame(readdirSync(path), ['sluice.db']);
});

t.test('a closed store answers nothing more and holds nothing', async (t) => {
  checkLeaks(t);
  const records = await openEmbeddedRecords({ path: t.testdir() });
  const last = records.commit('org', [put('a')]);
  await records.close();
  t.match(await last, { ok: true }, 'what was asked before the end is answered');
  await t.rejects(records.get('org', 'things', 'a'), StoreUnavailable);
  await t.rejects(records.ping(), StoreUnavailable);
  await records.close();
});

t.test('a file that is no store is refused with its reason', async (t) => {
  checkLeaks(t);
  const path = t.testdir({ 'sluice.db': 'not a database'.repeat(1_000) });
  await t.rejects(openEmbeddedRecords({ path }), /not a database/);
  const folder = t.testdir();
  mkdirSync(join(folder, 'sluice.db'));
  await t.rejects(openEmbeddedRecords({ path: folder }));
  writeFileSync(join(folder, 'file'), '');
  await t.rejects(openEmbeddedRecords({ path: join(folder, 'file') }));
});

t.test('when the file fails, callers are told and the process lives', async (t) => {
  const path = t.testdir();
  const records = await openEmbeddedRecords({ path });
  t.teardown(() => records.close());
  await records.commit('org', [put('a')]);
  const other = openDatabase(join(path, 'sluice.db'));
  other.exec('DROP TABLE records');
  other.close();
  await t.rejects(records.commit('org', [put('b')]), StoreUnavailable);
  await t.rejects(records.get('org', 'things', 'a'), StoreUnavailable);
  t.equal(await records.generation('org'), 1, 'what is whole still answers');
});

t.test('when the worker dies, the waiting calls fail and so do the later ones', async (t) => {
  checkLeaks(t);
  const records = await openEmbeddedRecords({ path: ':memory:' });
  // The questions are swallowed, so they still wait when the worker ends.
  const post = t.capture(Worker.prototype, 'postMessage', () => {});
  const waiting = [records.commit('org', [put('a')]), records.get('org', 'things', 'a')];
  post.restore();
  const worker = post()[0]!.receiver as Worker;
  const refused = Promise.all(waiting.map((call: Promise<unknown>) => t.rejects(call, StoreUnavailable)));
  await worker.terminate();
  await refused;
  await t.rejects(records.ping(), StoreUnavailable);
  await records.close();
});

t.test('what expired is removed by later writes', async (t) => {
  const path = t.testdir();
  const first = await openEmbeddedRecords({ path });
  await first.commit('org', [put('brief', 1), put('long', 600_000), put('plain')]);
  await first.claim('name', 1);
  await until(async () => (await first.get('org', 'things', 'brief')) === null);
  await first.close();

  const second = await openEmbeddedRecords({ path });
  await second.commit('org', [put('other')]);
  await second.close();
  const database = openDatabase(join(path, 'sluice.db'));
  t.strictSame(
    database
      .prepare('SELECT id FROM records ORDER BY id')
      .all()
      .map((row) => (row as { id: string }).id),
    ['long', 'other', 'plain'],
  );
  t.strictSame(database.prepare('SELECT * FROM claims').all(), []);
  database.close();
});

t.test('D2 a page deep in a list is found by its index, not by walking there', async (t) => {
  const path = t.testdir();
  await (await openEmbeddedRecords({ path })).close();
  const database = openDatabase(join(path, 'sluice.db'));
  t.teardown(() => database.close());
  for (const [comparison, order] of [
    ['>', 'ASC'],
    ['<', 'DESC'],
  ] as const) {
    const plan = database
      .prepare(
        `EXPLAIN QUERY PLAN SELECT id, revision, value FROM records
         WHERE partition = 'p' AND collection = 'c' AND expires_at IS NULL AND id ${comparison} 'x'
         ORDER BY id ${order} LIMIT 3`,
      )
      .all() as { detail: string }[];
    t.strictSame(
      plan.map(({ detail }) => detail),
      [`SEARCH records USING INDEX records_listed (partition=? AND collection=? AND id${comparison}?)`],
    );
  }
});
