import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import t from 'tap';
import { newId } from '../../../src/core/ids.js';
import { openRedisRecords } from '../../../src/io/records/redis.js';
import { StoreUnavailable } from '../../../src/io/records/records.js';
import type { Change, Step } from '../../../src/io/records/records.js';
import { checkLeaks } from '../../support/leaks.js';
import { freePort } from '../../support/ports.js';
import { plainClient, startRedis, startSentinelFamily, until } from '../../support/redis.js';

const put = (id: string, expect: 'absent' | 'any' = 'any'): Step => {
  return { op: 'put', collection: 'things', id, value: { id }, expect };
};

t.test('every write acknowledged before Redis is killed is there after its restart', async (t) => {
  const server = await startRedis({ appendfsync: 'always' });
  t.teardown(() => server.stop());
  const records = await openRedisRecords({ url: server.url, keyPrefix: 'sl:', commandTimeoutMs: 5_000 });
  t.teardown(() => records.close());
  const acknowledged: string[] = [];
  let killed: Promise<void> | undefined;
  const write = async (writer: number): Promise<void> => {
    for (let n = 0; !killed; n++) {
      const id = `w${writer}-${n}`;
      const committed = await records.commit('org', [put(id, 'absent')]);
      if (committed.ok) acknowledged.push(id);
      if (acknowledged.length === 1_000) killed = server.kill();
    }
  };
  await Promise.allSettled(Array.from({ length: 32 }, (_, writer) => write(writer)));
  await killed;
  t.ok(acknowledged.length >= 1_000);

  await server.restart();
  await until(() =>
    records.ping().then(
      () => true,
      () => false,
    ),
  );
  const found = await Promise.all(acknowledged.map((id) => records.get('org', 'things', id)));
  t.strictSame(
    acknowledged.filter((_, i) => found[i] === null),
    [],
  );
});

t.test('while Redis is away every call fails, and all is well when it returns', async (t) => {
  checkLeaks(t);
  const server = await startRedis({ appendfsync: 'everysec' });
  t.teardown(() => server.stop());
  const records = await openRedisRecords({ url: server.url, keyPrefix: 'sl:' });
  t.teardown(() => records.close());
  const heard: Change[] = [];
  records.watch((change) => heard.push(change));
  await records.commit('org', [put('a')]);
  await until(() => heard.length === 1);

  await server.kill();
  await t.rejects(records.ping(), StoreUnavailable);
  await t.rejects(records.get('org', 'things', 'a'), StoreUnavailable);
  await t.rejects(records.list('org', 'things', { limit: 1 }), StoreUnavailable);
  await t.rejects(records.commit('org', [put('b')]), StoreUnavailable);
  await t.rejects(
    records.commit('org', [
      { op: 'point', digest: 'd', to: { partition: 'org', collection: 'things', id: 'a' } },
    ]),
    StoreUnavailable,
  );
  await t.rejects(records.claim('name', 1_000), StoreUnavailable);
  await t.rejects(records.unclaim('name'), StoreUnavailable);
  await t.rejects(records.find('d'), StoreUnavailable);
  await t.rejects(records.generation('org'), StoreUnavailable);
  await t.rejects(records.noteUses('org', new Map([['a', 1]])), StoreUnavailable);
  await t.rejects(records.lastUses('org', ['a']), StoreUnavailable);

  await server.restart();
  await until(() =>
    records.ping().then(
      () => true,
      () => false,
    ),
  );
  await until(() => heard.includes(null));
  t.match(await records.get('org', 'things', 'a'), { revision: 1 });
  const before = heard.length;
  await records.commit('org', [put('c')]);
  await until(() => heard.length > before);
  t.strictSame(heard.at(-1), { partition: 'org', collection: 'things', id: 'c' });
});

t.test('a Redis that hangs is given up on, and found again when it moves', async (t) => {
  const server = await startRedis();
  t.teardown(() => server.stop());
  const records = await openRedisRecords({ url: server.url, keyPrefix: 'sl:', commandTimeoutMs: 100 });
  t.teardown(() => records.close());
  await records.ping();
  server.signal('SIGSTOP');
  await t.rejects(records.get('org', 'things', 'a'), StoreUnavailable);
  server.signal('SIGCONT');
  await until(() =>
    records.ping().then(
      () => true,
      () => false,
    ),
  );
});

t.test(
  'a store that cannot be reached is said to be so, with its reason and without its password',
  async (t) => {
    checkLeaks(t);
    const port = await freePort();
    const away = openRedisRecords({
      url: `redis://:geheim@127.0.0.1:${port}`,
      keyPrefix: 'sl:',
      readyTimeoutMs: 200,
    });
    const error = await away.then(
      () => null,
      (thrown: unknown) => thrown as StoreUnavailable,
    );
    t.ok(error instanceof StoreUnavailable);
    t.match(error?.cause, { message: /ECONNREFUSED/ });

    const server = await startRedis({ args: ['--requirepass', 'geheim'] });
    t.teardown(() => server.stop());
    const wrong = openRedisRecords({
      url: `redis://:falsch@127.0.0.1:${server.port}`,
      keyPrefix: 'sl:',
      readyTimeoutMs: 500,
    });
    const refused = await wrong.then(
      () => null,
      (thrown: unknown) => thrown as StoreUnavailable,
    );
    t.match(refused?.cause, { message: /WRONGPASS/ });
    t.notMatch(JSON.stringify([refused, refused?.cause, String(refused?.cause)]), /falsch/);

    const right = await openRedisRecords({
      url: `redis://:geheim@127.0.0.1:${server.port}/3`,
      keyPrefix: 'sl:',
    });
    await right.commit('org', [put('a')]);
    await right.close();
    const client = plainClient(server.port, { password: 'geheim', db: 3 });
    t.ok(await client.exists('sl:{org}:r:things'), 'the password and the database of the URL are used');
    client.disconnect();
  },
);

/** A wire that loses the answer to the first request that carries the marker, after Redis has done what it asks. */
async function startForgetfulWire(port: number, marker: string) {
  let losses = 0;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    let isMarked = false;
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(socket);
          near.destroy();
          far.destroy();
        });
    }
    near.on('data', (bytes) => {
      isMarked ||= losses === 0 && bytes.includes(marker);
      far.write(bytes);
    });
    far.on('data', (bytes) => {
      if (!isMarked || losses > 0) return void near.write(bytes);
      losses++;
      return void near.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    losses: () => losses,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

t.test('D50 a commit whose answer is lost is sent again and is no conflict with itself', async (t) => {
  const server = await startRedis();
  t.teardown(() => server.stop());
  const marker = newId('marked');
  for (const kind of ['commit', 'claim', 'point'] as const) {
    const wire = await startForgetfulWire(server.port, `${marker}-${kind}`);
    const records = await openRedisRecords({ url: wire.url, keyPrefix: 'sl:', commandTimeoutMs: 2_000 });
    const id = `${marker}-${kind}`;
    if (kind === 'claim') {
      t.equal(await records.claim(id, 60_000), true);
      t.equal(await records.claim(id, 60_000), false);
    } else {
      const to = { partition: kind, collection: 'things', id: 'x' };
      const steps: Step[] =
        kind === 'commit' ? [put(id, 'absent')] : [put('x', 'absent'), { op: 'point', digest: id, to }];
      t.match(await records.commit(kind, steps), { ok: true, revisions: [1] });
      t.equal(await records.generation(kind), 1, 'applied once');
    }
    t.equal(wire.losses(), 1);
    await records.close();
    await wire.stop();
  }
});

t.test('scripts that Redis has forgotten are taught again', async (t) => {
  const server = await startRedis();
  t.teardown(() => server.stop());
  const records = await openRedisRecords({ url: server.url, keyPrefix: 'sl:' });
  t.teardown(() => records.close());
  await records.commit('org', [put('a')]);
  const client = plainClient(server.port);
  await client.script('FLUSH');
  client.disconnect();
  t.match(await records.commit('org', [put('a')]), { ok: true, revisions: [2] });
  t.match(await records.get('org', 'things', 'a'), { revision: 2 });
});

t.test('a message that is not ours is heard as a gap', async (t) => {
  const server = await startRedis();
  t.teardown(() => server.stop());
  const records = await openRedisRecords({ url: server.url, keyPrefix: 'sl:' });
  t.teardown(() => records.close());
  const heard: Change[] = [];
  records.watch((change) => heard.push(change));
  const client = plainClient(server.port);
  await client.publish('sl:changes', 'nonsense');
  client.disconnect();
  await until(() => heard.length === 1);
  t.strictSame(heard, [null]);
});

t.test('what a finished commit leaves behind is its records and nothing that stays for ever', async (t) => {
  const server = await startRedis();
  t.teardown(() => server.stop());
  const records = await openRedisRecords({ url: server.url, keyPrefix: 'sl:' });
  t.teardown(() => records.close());
  await records.commit('org', [put('a'), { ...put('b'), ttlMs: 60_000 } as Step]);
  await records.commit('org', [{ op: 'delete', collection: 'things', id: 'a', expect: 1 }]);
  const client = plainClient(server.port);
  const lasting: string[] = [];
  for (const key of await client.keys('*')) if ((await client.pttl(key)) < 0) lasting.push(key);
  client.disconnect();
  t.strictSame(lasting, ['sl:{org}:g']);
});

t.test('after a failover the records are found at the new master', async (t) => {
  const family = await startSentinelFamily();
  t.teardown(() => family.stop());
  const records = await openRedisRecords({
    url: 'redis://',
    sentinel: { name: family.name, nodes: family.sentinels },
    keyPrefix: 'sl:',
  });
  t.teardown(() => records.close());
  const heard: Change[] = [];
  records.watch((change) => heard.push(change));
  await records.commit('org', [put('before')]);
  const replica = plainClient(family.replica.port);
  await until(async () => (await replica.exists('sl:{org}:r:things')) === 1);
  replica.disconnect();

  await family.master.kill();
  await t.rejects(records.commit('org', [put('during')]), StoreUnavailable);
  await until(
    () =>
      records.commit('org', [put('after')]).then(
        ({ ok }) => ok,
        () => false,
      ),
    25_000,
  );
  t.match(await records.get('org', 'things', 'before'), { revision: 1 });
  await until(() => heard.includes(null));
});
