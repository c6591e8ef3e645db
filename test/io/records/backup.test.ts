import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { backupEmbedded, restoreEmbedded } from '../../../src/io/records/backup.js';
import { openEmbeddedRecords } from '../../../src/io/records/embedded.js';
import { lockFolder } from '../../../src/io/records/folder-lock.js';
import { backupRedis, restoreRedis } from '../../../src/io/records/redis-backup.js';
import { openRedisRecords } from '../../../src/io/records/redis.js';
import type { Records, Step } from '../../../src/io/records/records.js';
import { checkLeaks } from '../../support/leaks.js';
import { plainClient, startCluster, startRedis } from '../../support/redis.js';

const companions = ['pepper', 'limits.snapshot'];

const put = (id: string, n: number): Step => ({
  op: 'put',
  collection: 'things',
  id,
  value: { n },
  expect: 'any',
});

/** Writes pairs that always agree, until told to stop. */
function keepWriting(records: Records) {
  let isOver = false;
  const done = (async () => {
    for (let n = 0; !isOver; n++)
      await records.commit('org', [put('left', n), put('right', n), put(`new-${n}`, n)]);
  })();
  return async () => {
    isOver = true;
    await done;
  };
}

async function holdTogether(records: Records): Promise<boolean> {
  const { items } = await records.list('org', 'things', { limit: 100_000 });
  const [left, right] = [
    await records.get('org', 'things', 'left'),
    await records.get('org', 'things', 'right'),
  ];
  return left?.value['n'] === right?.value['n'] && items.length === Number(left?.value['n']) + 3;
}

t.test('D45 an embedded store is copied whole while it is being written', async (t) => {
  checkLeaks(t);
  const path = t.testdir({ pepper: 'pfeffer' });
  const to = join(t.testdirName, 'backups', 'one');
  const records = await openEmbeddedRecords({ path });
  await records.commit('org', [put('left', 0), put('right', 0)]);
  const stop = keepWriting(records);
  t.ok(backupEmbedded({ path, to, companions }).bytes > 0);
  await stop();
  await records.close();

  t.strictSame(readdirSync(to).sort(), ['pepper', 'sluice.db']);
  t.equal(readFileSync(join(to, 'pepper'), 'utf8'), 'pfeffer');
  for (const file of readdirSync(to)) t.equal(statSync(join(to, file)).mode & 0o777, 0o600);
  const copy = await openEmbeddedRecords({ path: to });
  t.ok((await copy.generation('org')) > 0);
  const left = await copy.get('org', 'things', 'left');
  t.strictSame(await copy.get('org', 'things', 'right'), { ...left!, id: 'right' });
  await copy.close();

  t.throws(() => backupEmbedded({ path, to, companions }), /exists already/);
  t.throws(() => backupEmbedded({ path: join(path, 'none'), to: `${to}2`, companions }), /no store/);
  t.strictSame(readdirSync(join(t.testdirName, 'backups')), ['one'], 'nothing half done stays');
});

t.test('D45 an embedded backup is put in the place of a store, which is set aside', async (t) => {
  checkLeaks(t);
  const path = t.testdir({ pepper: 'pfeffer', 'limits.snapshot': 'balances' });
  const write = async (n: number): Promise<void> => {
    const records = await openEmbeddedRecords({ path });
    await records.commit('org', [put('a', n)]);
    await records.close();
  };
  const read = async (folder: string): Promise<unknown> => {
    const records = await openEmbeddedRecords({ path: folder });
    const found = await records.get('org', 'things', 'a');
    await records.close();
    return found?.value['n'];
  };
  await write(1);
  const from = `${path}-backup`;
  t.teardown(() => rmSync(from, { recursive: true, force: true }));
  backupEmbedded({ path, to: from, companions });
  await write(2);
  writeFileSync(join(path, 'limits.snapshot'), 'later balances');

  t.throws(() => restoreEmbedded({ path, from, companions, replace: false }), /already/);
  t.throws(() => restoreEmbedded({ path, from: path + '-none', companions, replace: true }), /no backup/);
  const unlock = lockFolder(path);
  t.throws(() => restoreEmbedded({ path, from, companions, replace: true }), /in use by another Sluice/);
  unlock();
  t.equal(await read(path), 2, 'nothing has changed so far');

  const { setAside } = restoreEmbedded({ path, from, companions, replace: true });
  t.equal(await read(path), 1);
  t.equal(readFileSync(join(path, 'limits.snapshot'), 'utf8'), 'balances');
  t.equal(await read(setAside!), 2, 'what was there is still there');
  const empty = join(path, 'empty');
  t.same(restoreEmbedded({ path: empty, from, companions, replace: false }), { setAside: null });
  t.equal(await read(empty), 1);
});

t.test('D45 the keys of a Redis are written to a file while it is being written, and put back', async (t) => {
  checkLeaks(t);
  const [source, target] = await Promise.all([startRedis(), startRedis()]);
  t.teardown(() => Promise.all([source.stop(), target.stop()]));
  const [from, to] = [join(t.testdir(), 'keys.ndjson'), 'sl*:'];
  const records = await openRedisRecords({ url: source.url, keyPrefix: to, commandTimeoutMs: 5_000 });
  await records.commit('org', [
    put('left', 0),
    put('right', 0),
    put('new-0', 0),
    { op: 'put', collection: 'brief', id: 'b', value: {}, expect: 'any', ttlMs: 600_000 },
    { op: 'point', digest: 'd', to: { partition: 'org', collection: 'things', id: 'left' } },
  ]);
  await records.noteUses('org', new Map([['left', 5]]));
  const other = plainClient(source.port);
  await other.set('slx:foreign', 'not ours');
  other.disconnect();

  const stop = keepWriting(records);
  const { keys } = await backupRedis({ url: source.url, keyPrefix: to, to: from });
  await stop();
  await records.close();
  t.equal(statSync(from).mode & 0o777, 0o600);
  t.notMatch(readFileSync(from, 'utf8'), /foreign/);
  await t.rejects(backupRedis({ url: source.url, keyPrefix: to, to: from }), /exists already/);

  t.strictSame(await restoreRedis({ url: target.url, keyPrefix: to, from }), { keys });
  const copy = await openRedisRecords({ url: target.url, keyPrefix: to });
  t.ok(await holdTogether(copy), 'list and records agree');
  t.strictSame(await copy.find('d'), { partition: 'org', collection: 'things', id: 'left' });
  t.strictSame(await copy.lastUses('org', ['left']), [5]);
  t.match(await copy.get('org', 'brief', 'b'), { revision: 1 });
  await copy.close();
  const client = plainClient(target.port);
  t.ok((await client.pttl('sl*:{org}:t:brief:b')) > 0, 'what expires still does');
  client.disconnect();

  await t.rejects(restoreRedis({ url: target.url, keyPrefix: to, from }), /there already/);
  t.strictSame(await restoreRedis({ url: target.url, keyPrefix: to, from, replace: true }), { keys });
});

t.test('D45 a cut or foreign backup is refused before anything is written', async (t) => {
  checkLeaks(t);
  const server = await startRedis();
  t.teardown(() => server.stop());
  const folder = t.testdir();
  const records = await openRedisRecords({ url: server.url, keyPrefix: 'sl:' });
  await records.commit('org', [put('a', 1), put('b', 2)]);
  await records.close();
  const whole = join(folder, 'whole');
  await backupRedis({ url: server.url, keyPrefix: 'sl:', to: whole });
  const client = plainClient(server.port);
  await client.flushall();
  const lines = readFileSync(whole, 'utf8').trimEnd().split('\n');
  const bad = {
    cut: lines.slice(0, -1).join('\n'),
    'with a line lost': lines.filter((_, i) => i !== 1).join('\n'),
    'half a line': lines.join('\n').slice(0, -4),
    foreign: '{"dump":"x"}\n{"keys":1}\n',
    empty: '',
  };
  for (const [name, text] of Object.entries(bad)) {
    writeFileSync(join(folder, 'bad'), text);
    await t.rejects(
      restoreRedis({ url: server.url, keyPrefix: 'sl:', from: join(folder, 'bad') }),
      /backup/,
      name,
    );
  }
  await t.rejects(restoreRedis({ url: server.url, keyPrefix: 'sl:', from: join(folder, 'none') }), /ENOENT/);
  await t.rejects(
    restoreRedis({ url: server.url, keyPrefix: 'other:', from: whole }),
    /made under the key prefix sl:, not other:/,
  );
  t.equal(await client.dbsize(), 0);
  client.disconnect();
  await t.rejects(
    backupRedis({ url: server.url, keyPrefix: 'sl:', to: join(folder, 'no', 'such') }),
    /ENOENT/,
  );
  t.notOk(existsSync(join(folder, 'no')));
});

t.test('D45 every master of a Cluster is in the backup', async (t) => {
  checkLeaks(t);
  const cluster = await startCluster();
  t.teardown(() => cluster.stop());
  const options = { url: 'redis://', cluster: cluster.nodes, keyPrefix: 'sl:', commandTimeoutMs: 5_000 };
  const records = await openRedisRecords(options);
  const orgs = Array.from({ length: 20 }, (_, n) => `org_${n}`);
  for (const [n, org] of orgs.entries()) await records.commit(org, [put('a', n)]);
  await records.close();
  const file = join(t.testdir(), 'cluster.ndjson');
  await backupRedis({ ...options, to: file });

  const single = await startRedis();
  t.teardown(() => single.stop());
  await restoreRedis({ url: single.url, keyPrefix: 'sl:', from: file });
  const copy = await openRedisRecords({ url: single.url, keyPrefix: 'sl:' });
  for (const [n, org] of orgs.entries())
    t.match(await copy.list(org, 'things', { limit: 1 }), { items: [{ value: { n } }] });
  await copy.close();
});
