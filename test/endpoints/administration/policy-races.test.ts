import t from 'tap';
import { startRedis } from '../../support/redis.js';
import { folderFor, onBoth, openDesk, stores, type Answer, type Ask } from './desk.js';

const codes = (answers: readonly Answer[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const code = status === 200 ? '200' : `${status} ${body.error.code}`;
    counts[code] = (counts[code] ?? 0) + 1;
  }
  return counts;
};

/** Opens the connections first, so that what follows arrives at once. */
const warmUp = async (ask: Ask): Promise<void> => {
  await Promise.all(Array.from({ length: 64 }, () => ask('GET', '/policies?limit=1')));
};

onBoth(
  'D8 of 64 writers with one revision exactly one wins, and the others learn the current one',
  async (t, desk) => {
    const { id } = await desk.create();
    await warmUp(desk.ask);
    const writes = Array.from({ length: 64 }, (_, i) =>
      desk.ask('PATCH', `/policies/${id}`, { revision: 1, name: `Writer ${i}` }),
    );
    const answers = await Promise.all(writes);
    t.same(codes(answers), { '200': 1, '409 revision_conflict': 63 });
    for (const { status, body } of answers)
      if (status === 409) t.match(body.error.message, /revision 2\b/, 'the message names it');
    const winner = answers.find(({ status }) => status === 200)!.body;
    t.same((await desk.ask('GET', `/policies/${id}`)).body, winner);
  },
);

onBoth(
  'D8 64 racing publications cut one version; deletion against publication leaves all or nothing',
  async (t, desk) => {
    const { id } = await desk.create();
    await warmUp(desk.ask);
    const publish = () => desk.ask('POST', `/policies/${id}/publish`, { revision: 1 });
    t.equal(codes(await Promise.all(Array.from({ length: 64 }, publish)))['200'], 1);
    t.equal((await desk.ask('GET', `/policies/${id}/versions`)).body.data.length, 1);

    for (let round = 0; round < 10; round++) {
      const made = await desk.create();
      const [published, deleted] = await Promise.all([
        desk.ask('POST', `/policies/${made.id}/publish`, { revision: 1 }),
        desk.ask('DELETE', `/policies/${made.id}?revision=1`),
      ]);
      t.not(published.status === 200, deleted.status === 200, 'one of the two');
      const left = await desk.ask('GET', `/policies/${made.id}/versions`);
      t.equal(left.status, published.status === 200 ? 200 : 404);
    }
  },
);

onBoth('D10 the first success is replayed, whatever happened since', async (t, desk) => {
  const key = { 'idempotency-key': 'create-1' };
  const body = { name: 'Once', rule: 'r', description: 'd' };
  const first = await desk.ask('POST', '/policies', body, key);
  t.equal(first.headers.get('idempotent-replayed'), null);
  const { id } = first.body;
  await desk.ask('PATCH', `/policies/${id}`, { revision: 1, name: 'Changed since' });
  const again = await desk.ask('POST', '/policies', { description: 'd', rule: 'r', name: 'Once' }, key);
  t.equal(again.status, 200);
  t.equal(again.headers.get('idempotent-replayed'), 'true');
  t.same(again.body, first.body, 'the order of keys does not matter');
  t.not(again.headers.get('x-request-id'), first.headers.get('x-request-id'));
  t.equal(
    (await desk.ask('POST', '/policies', body, { 'idempotency-key': '"create-1"' })).body.id,
    id,
    'quoted',
  );
  t.equal((await desk.ask('GET', '/policies')).body.data.length, 1);

  for (const [method, path, other] of [
    ['POST', '/policies', { ...body, name: 'Other' }],
    ['PATCH', `/policies/${id}`, { revision: 2 }],
    ['DELETE', `/policies/${id}?revision=2`, undefined],
  ] as const)
    t.equal(
      codes([await desk.ask(method, path, other, key)])['409 idempotency_key_reuse'],
      1,
      `${method} ${path}`,
    );

  const publish = () =>
    desk.ask('POST', `/policies/${id}/publish`, { revision: 2 }, { 'idempotency-key': 'p' });
  t.equal((await publish()).body.current_version, 1);
  t.equal((await publish()).body.current_version, 1, 'no second version');
  const noChange = () => desk.ask('PATCH', `/policies/${id}`, { revision: 3 }, { 'idempotency-key': 'n' });
  t.equal((await noChange()).headers.get('idempotent-replayed'), null);
  t.equal(
    (await noChange()).headers.get('idempotent-replayed'),
    'true',
    'a change that changes nothing is kept too',
  );
  const remove = () =>
    desk.ask('DELETE', `/policies/${id}?revision=3`, undefined, { 'idempotency-key': 'd' });
  t.equal((await remove()).status, 200);
  const replayed = await remove();
  t.match([replayed.status, replayed.body], [200, { id, deleted: true }]);
});

onBoth('D10 only successes are kept: a refusal is judged afresh', async (t, desk) => {
  const { id } = await desk.create();
  const key = { 'idempotency-key': 'later' };
  const pause = () => desk.ask('POST', `/policies/${id}/pause`, { revision: 2 }, key);
  t.equal(codes([await pause()])['409 revision_conflict'], 1);
  await desk.ask('POST', `/policies/${id}/publish`, { revision: 1 });
  t.equal((await pause()).body.state, 'paused');
  const bad = await desk.ask('POST', '/policies', { name: '' }, { 'idempotency-key': 'bad' });
  t.equal(bad.status, 422);
  t.equal(
    (await desk.ask('POST', '/policies', { name: 'n', rule: 'r' }, { 'idempotency-key': 'bad' })).status,
    200,
  );
});

onBoth('D10 a key has 1 to 255 visible characters', async (t, desk) => {
  const send = (key: string) =>
    desk.ask('POST', '/policies', { name: 'n', rule: 'r' }, { 'idempotency-key': key });
  for (const key of ['k', 'k'.repeat(255)]) t.equal((await send(key)).status, 200);
  for (const key of ['', 'k'.repeat(256), 'a b', '\u{e9}']) {
    const refused = await send(key);
    t.equal(refused.status, 400, JSON.stringify(key.slice(0, 5)));
    t.match(refused.body.error, { code: 'invalid_header', param: 'idempotency-key' });
  }
});

onBoth('D10 identical requests at once execute once', async (t, desk) => {
  for (let round = 0; round < 5; round++) {
    const answers = await Promise.all(
      Array.from({ length: 16 }, () =>
        desk.ask('POST', '/policies', { name: 'n', rule: 'r' }, { 'idempotency-key': `at-once-${round}` }),
      ),
    );
    t.equal((await desk.ask('GET', '/policies?limit=100')).body.data.length, round + 1);
    const fresh = answers.filter(
      ({ status, headers }) => status === 200 && !headers.has('idempotent-replayed'),
    );
    t.equal(fresh.length, 1, 'one acts');
    for (const { status, headers, body } of answers) {
      if (status === 200) t.same(body, fresh[0]!.body);
      else {
        t.equal(body.error.code, 'idempotency_key_in_flight');
        t.equal(headers.get('retry-after'), '1');
      }
    }
  }
});

t.test('D10 a kept answer survives a restart', async (t) => {
  const store = { kind: 'embedded' as const, path: folderFor(t) };
  const send = { 'idempotency-key': 'kept' };
  const before = await openDesk(t, store);
  const first = await before.ask('POST', '/policies', { name: 'n', rule: 'r' }, send);
  await before.close();
  const after = await openDesk(t, store);
  const again = await after.ask('POST', '/policies', { name: 'n', rule: 'r' }, send);
  t.equal(again.headers.get('idempotent-replayed'), 'true');
  t.same(again.body, first.body);
});

t.test('D10 and D8 hold between two gateways on one Redis', async (t) => {
  const redis = await startRedis();
  t.teardown(() => redis.stop());
  const store = { kind: 'redis' as const, redis: { url: redis.url, command_timeout: '5s' } };
  const desks = [await openDesk(t, store), await openDesk(t, store)];
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      desks[i % 2]!.ask('POST', '/policies', { name: 'n', rule: 'r' }, { 'idempotency-key': 'shared' }),
    ),
  );
  const ids = new Set(answers.filter(({ status }) => status === 200).map(({ body }) => body.id));
  t.equal(ids.size, 1);
  const again = await desks[1]!.ask(
    'POST',
    '/policies',
    { name: 'n', rule: 'r' },
    { 'idempotency-key': 'shared' },
  );
  t.equal(again.headers.get('idempotent-replayed'), 'true');
  const writes = Array.from({ length: 64 }, (_, i) =>
    desks[i % 2]!.ask('PATCH', `/policies/${[...ids][0]!}`, { revision: 1, name: `Writer ${i}` }),
  );
  t.same(codes(await Promise.all(writes)), { '200': 1, '409 revision_conflict': 63 });
});

t.equal(stores.length, 2, 'both stores are walked');
