import t, { type Test } from 'tap';
import { APP_KEY, runGateway, until } from '../support/gateway.js';
import { readExposition } from '../support/exposition.js';
import { simulated } from '../support/inference.js';
import { startRedis } from '../support/redis.js';

t.setTimeout(120_000);

const open = async (t: Test, mode: 'local' | 'closed' | 'open', replicas = 1) => {
  const redis = await startRedis({ appendfsync: 'always' });
  t.teardown(() => redis.stop());
  const running = await runGateway(t, {
    store: {
      kind: 'redis',
      redis: { url: redis.url, command_timeout: '250ms', on_unavailable: mode, replicas_hint: replicas },
    },
    auth: { pepper: 'the-pepper-of-the-test-suite-of-32-or-more-characters' },
    models: [{ name: 'sim-small', provider: 'sim', price: { input_per_mtok: 0, output_per_mtok: 100 } }],
    limits: { overrides: [{ scope: 'key', id: '*', rpm: 8 }] },
  });
  const ask = async () => {
    const response = await running.post('/v1/messages', simulated('[[tokens=10]]'));
    const { status, headers } = response;
    return { status, headers, body: (await response.json()) as { remaining_credits?: number } };
  };
  const first = await ask();
  t.equal(first.status, 200);
  t.equal(first.body.remaining_credits, 99_990);
  t.equal(first.headers.get('x-sluice-degraded'), null);
  const metric = async (name: string, labels: Record<string, string> = {}): Promise<number> => {
    const samples = readExposition(await (await fetch(`${running.url}/metrics`)).text());
    return samples
      .filter((each) => each.name === name && Object.entries(labels).every(([k, v]) => each.labels[k] === v))
      .reduce((sum, { value }) => sum + value, 0);
  };
  return { redis, ask, metric, running };
};

t.test('8 local: a share of the limits and of the balance, posted once Redis is back', async (t) => {
  const { redis, ask, metric, running } = await open(t, 'local', 2);
  await redis.kill();
  const replies = [];
  for (let i = 0; i < 6; i++) replies.push(await ask());
  const admitted = replies.filter(({ status }) => status === 200);
  t.equal(admitted.length, 4, 'half of the eight, as there may be two of us');
  t.ok(replies.every(({ headers }) => headers.get('x-sluice-degraded') === 'limits'));
  t.equal(replies.at(-1)!.status, 429);
  t.equal(await metric('sluice_degraded', { what: 'limits' }), 1);
  t.equal(await metric('sluice_limit_fallback_decisions_total', { outcome: 'admitted' }), 4);
  t.equal(await metric('sluice_limit_settlements_waiting'), 4);

  await redis.restart();
  await until(
    async () => (await metric('sluice_limit_settlements_waiting')) === 0,
    'usage is posted',
    20_000,
  );
  await until(async () => {
    const response = await running.call('GET', '/v1/credits', { key: APP_KEY });
    return ((await response.json()) as { remaining_credits?: number }).remaining_credits === 99_950;
  }, 'the balance shows what was spent without Redis');
  const told = await running.call('GET', '/v1/limits', { key: APP_KEY });
  const { limits } = (await told.json()) as { limits: { scope: string; metric: string; used: number }[] };
  for (const metric of ['requests_per_minute', 'requests_per_day'])
    t.equal(
      limits.find((each) => each.scope === 'key' && each.metric === metric)?.used,
      5,
      'one before, four without Redis',
    );
  await until(async () => (await metric('sluice_degraded', { what: 'limits' })) === 0, 'all is well again');
});

t.test('8 closed: nothing is admitted without Redis', async (t) => {
  const { redis, ask } = await open(t, 'closed');
  await redis.kill();
  const refused = await ask();
  t.equal(refused.status, 503);
  t.equal(refused.headers.get('x-error-code'), 'store_unavailable');
  t.ok(Number(refused.headers.get('retry-after')) >= 1);
  await redis.restart();
  await until(async () => (await ask()).status === 200, 'it admits again', 20_000);
});

t.test('8 open: everything is admitted, and counted once Redis is back', async (t) => {
  const { redis, ask, metric, running } = await open(t, 'open');
  await redis.kill();
  for (let i = 0; i < 12; i++) {
    const reply = await ask();
    t.equal(reply.status, 200);
    t.equal(reply.headers.get('x-sluice-degraded'), 'limits');
  }
  await redis.restart();
  await until(
    async () => (await metric('sluice_limit_settlements_waiting')) === 0,
    'usage is posted',
    20_000,
  );
  await until(async () => {
    const response = await running.call('GET', '/v1/credits', { key: APP_KEY });
    return ((await response.json()) as { remaining_credits?: number }).remaining_credits === 99_870;
  }, 'all of it is charged');
});

t.test('an eviction policy that would forgive usage is warned of', async (t) => {
  const redis = await startRedis({ args: ['--maxmemory-policy', 'allkeys-lru'] });
  t.teardown(() => redis.stop());
  const warnings: string[] = [];
  const say = (): void => undefined;
  await runGateway(
    t,
    {
      store: { kind: 'redis', redis: { url: redis.url } },
      auth: { pepper: 'the-pepper-of-the-test-suite-of-32-or-more-characters' },
    },
    {
      debug: say,
      info: say,
      error: say,
      warn: (_: object, text: string) => void warnings.push(text),
    },
  );
  t.match(warnings, [/noeviction/]);
});
