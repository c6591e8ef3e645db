import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { ConfigInput } from '../../src/config/schema.js';
import { ADMIN_KEY, APP_KEY, runGateway, until, type Running } from '../support/gateway.js';
import { simulated } from '../support/inference.js';
import { startRedis } from '../support/redis.js';
import { testOnEachStore } from '../support/stores.js';
import { sluiceHere } from '../commands/sluice.js';

const BANK_KEY = 'sk-test-admin-key-that-makes-credits';
const models = [{ name: 'sim-small', provider: 'sim', price: { input_per_mtok: 0, output_per_mtok: 100 } }];
const bootstrap = (credits: number | null = 1_000): ConfigInput['bootstrap'] => ({
  organizations: [
    {
      id: 'org_test',
      name: 'Test',
      credits,
      admin_keys: [
        { name: 'root', value: ADMIN_KEY },
        { name: 'bank', value: BANK_KEY, permissions: ['credits.write', 'limits.read'] },
      ],
      projects: [{ id: 'proj_app', name: 'App', keys: [{ name: 'app', value: APP_KEY }] }],
    },
  ],
});

/** A token costs exactly one credit here. */
const spend = async ({ post }: Running, tokens: number): Promise<number | null> => {
  const response = await post('/v1/messages', simulated(`[[tokens=${tokens}]]`));
  const body = (await response.json()) as { remaining_credits: number | null };
  if (response.status !== 200) throw new Error(JSON.stringify(body));
  return body.remaining_credits;
};
const balance = async ({ call }: Running): Promise<unknown> => {
  const response = await call('GET', '/v1/credits', { key: APP_KEY });
  return ((await response.json()) as { remaining_credits: unknown }).remaining_credits;
};

testOnEachStore('2.10 the balance is what was granted less what was spent', async (t, changes) => {
  const running = await runGateway(t, { ...changes, models, bootstrap: bootstrap() });
  t.equal(await balance(running), 1_000, 'also before the first request');
  t.equal(await spend(running, 10), 990);
  t.equal(await balance(running), 990);
  const response = await running.call('GET', '/v1/credits', { key: APP_KEY });
  t.match(await response.json(), { object: 'credit_balance', remaining_credits: 990, as_of: Number });

  const headers = { 'idempotency-key': 'grant-1' };
  const grant = () =>
    running.call('POST', '/v1/organization/credits', {
      key: BANK_KEY,
      body: { amount: 500, reason: 'invoice 7' },
      headers,
    });
  const made = await grant();
  t.equal(made.status, 200);
  const shown = await made.json();
  t.match(shown, { id: /^cred_/, amount: 500, reason: 'invoice 7', remaining_credits: 1_490 });
  const again = await grant();
  t.equal(again.headers.get('idempotent-replayed'), 'true');
  t.strictSame(await again.json(), shown, 'D10 the first answer, to the last field');
  t.equal(await balance(running), 1_490, 'once, however often it is sent');
  const other = { key: BANK_KEY, body: { amount: 1, reason: 'x' }, headers };
  t.equal((await running.call('POST', '/v1/organization/credits', other)).status, 409);
  t.equal(await spend(running, 90), 1_400);
  const lacking = await running.call('POST', '/v1/organization/credits', {
    body: { amount: 1, reason: 'x' },
  });
  t.equal(lacking.status, 403, 'every permission is not the one that makes money');
  const nothing = await running.call('POST', '/v1/organization/credits', {
    key: BANK_KEY,
    body: { amount: 0, reason: 'x' },
  });
  t.equal(nothing.status, 422);
});

testOnEachStore('8.2 a payment raises the tier with the next request', async (t, changes) => {
  const running = await runGateway(t, { ...changes, models, limits: {}, bootstrap: bootstrap() });
  const limit = async (): Promise<string | null> => {
    const response = await running.post('/v1/messages', simulated('hi'));
    await response.arrayBuffer();
    return response.headers.get('x-ratelimit-limit-requests');
  };
  t.equal(await limit(), '60');
  const pay = () =>
    running.call('POST', '/v1/organization/payments', {
      key: BANK_KEY,
      body: { usd: 20 },
      headers: { 'idempotency-key': 'payment-1' },
    });
  t.match(await (await pay()).json(), { usd: 20, lifetime_paid_usd: 20, tier: 'tier_1' });
  t.match(await (await pay()).json(), { lifetime_paid_usd: 20 }, 'a replay pays nothing');
  const other = { key: BANK_KEY, body: { usd: 1 }, headers: { 'idempotency-key': 'payment-1' } };
  t.equal((await running.call('POST', '/v1/organization/payments', other)).status, 409);
  const elsewhere = (key: string) =>
    running.call('POST', '/v1/organization/projects', {
      body: { name: 'Other' },
      headers: { 'idempotency-key': key },
    });
  const reused = await elsewhere('payment-1');
  t.match(await reused.json(), { error: { code: 'idempotency_key_reuse' } }, 'D10 on any other door');
  t.equal((await elsewhere('project-1')).status, 200);
  const late = { key: BANK_KEY, body: { usd: 1 }, headers: { 'idempotency-key': 'project-1' } };
  t.equal((await running.call('POST', '/v1/organization/payments', late)).status, 409, 'and the other way');
  const faulty = { key: BANK_KEY, body: { usd: 0 } };
  t.equal((await running.call('POST', '/v1/organization/payments', faulty)).status, 422);
  t.equal(await limit(), '120');
});

t.test('D40 an organization that is not metered has no balance', async (t) => {
  const running = await runGateway(t, { models, bootstrap: bootstrap(null) });
  t.equal(await balance(running), null);
  t.equal(await spend(running, 3), null);
});

testOnEachStore('usage is told by day, project, key and model', async (t, changes) => {
  const running = await runGateway(t, { ...changes, models, bootstrap: bootstrap() });
  await spend(running, 10);
  await spend(running, 5);
  const read = async (query: string): Promise<{ status: number; body: unknown }> => {
    const response = await running.call('GET', `/v1/organization/usage${query}`);
    return { status: response.status, body: await response.json() };
  };
  const row = {
    day: new Date().toISOString().slice(0, 10),
    project_id: 'proj_app',
    api_key_id: /^key_/,
    requests: 2,
    output_tokens: 15,
    credits: 15,
    cost_usd: 0.0015,
    models: [{ model: 'sim-small', requests: 2, credits: 15 }],
  };
  t.match(await read(''), { status: 200, body: { object: 'list', data: [row], has_more: false } });
  t.match(await read('?model=sim-small&project_id=proj_app'), { body: { data: [row] } });
  for (const query of ['?model=other', '?project_id=proj_x', '?to=2020-01-01', '?from=2999-01-01'])
    t.strictSame((await read(query)).body, { object: 'list', data: [], has_more: false }, query);
  t.equal((await read('?from=yesterday')).status, 422);
});

const folderFor = (t: Test): string => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-credits-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

t.test('embedded: a command beside the gateway adds to the very balance it spends', async (t) => {
  const folder = folderFor(t);
  const store = { kind: 'embedded', path: join(folder, 'store') } as const;
  const running = await runGateway(t, { store, models, bootstrap: bootstrap() });
  t.equal(await spend(running, 100), 900);
  const file = join(folder, 'gateway.yaml');
  writeFileSync(file, JSON.stringify({ version: 1, store }));
  const added = await sluiceHere(['credits', 'add', 'org_test', '50', '--config', file]);
  t.equal(added.code, 0, added.err);
  await until(async () => (await balance(running)) === 950, 'the gateway has taken the grant over');
  t.equal(await spend(running, 1), 949);
});

t.test('embedded: the balance and the windows of the day survive a restart', async (t) => {
  const folder = folderFor(t);
  const config = {
    store: { kind: 'embedded', path: join(folder, 'store') } as const,
    models,
    limits: { overrides: [{ scope: 'key' as const, id: '*', rpm: null, rpd: 3 }] },
    bootstrap: bootstrap(),
  };
  const first = await runGateway(t, config);
  t.equal(await spend(first, 10), 990);
  t.equal(await spend(first, 10), 980);
  await first.gateway.close();
  const file = join(folder, 'gateway.yaml');
  writeFileSync(file, JSON.stringify({ version: 1, store: config.store }));
  const added = await sluiceHere(['credits', 'add', 'org_test', '5', '--config', file]);
  t.match(added, { code: 0, out: 'org_test has 985 credits.\n' }, 'a command knows what was spent');
  const second = await runGateway(t, config);
  t.equal(await spend(second, 10), 975, 'what was granted while no gateway ran is there');
  t.equal((await second.post('/v1/messages', simulated('hi'))).status, 429, 'the fourth of the day');
});

t.test('Redis: every gateway and a command share one balance', async (t) => {
  const redis = await startRedis();
  t.teardown(() => redis.stop());
  const changes = {
    store: { kind: 'redis' as const, redis: { url: redis.url, command_timeout: '5s' } },
    auth: { pepper: 'the-pepper-of-the-test-suite-of-32-or-more-characters' },
    models,
    bootstrap: bootstrap(),
  };
  const [one, two] = [await runGateway(t, changes), await runGateway(t, changes)];
  t.equal(await spend(one, 100), 900);
  t.equal(await spend(two, 100), 800);
  const file = join(folderFor(t), 'gateway.yaml');
  writeFileSync(file, JSON.stringify({ version: 1, store: changes.store, auth: changes.auth }));
  const added = await sluiceHere(['credits', 'add', 'org_test', '50', '--config', file]);
  t.match(added, { code: 0, out: 'org_test has 850 credits.\n' });
  t.equal(await balance(one), 850);
  t.equal(await balance(two), 850);
});

t.test('2.10 without its store the balance is told for 5 seconds, then it is a 503', async (t) => {
  const redis = await startRedis();
  t.teardown(() => redis.stop());
  const running = await runGateway(t, {
    store: { kind: 'redis', redis: { url: redis.url, command_timeout: '250ms' } },
    auth: { pepper: 'the-pepper-of-the-test-suite-of-32-or-more-characters' },
    models,
    bootstrap: bootstrap(),
  });
  t.equal(await spend(running, 100), 900);
  t.equal(await balance(running), 900);
  const readMs = Date.now();
  await redis.kill();
  let last: Response;
  await until(async () => {
    await sleep(200); // seldom enough for the limit of 60 a minute
    last = await running.call('GET', '/v1/credits', { key: APP_KEY });
    if (last.status === 200) {
      const { remaining_credits: credits, as_of: asOf } = (await last.json()) as Record<string, number>;
      t.equal(credits, 900);
      t.ok(Date.now() / 1_000 - asOf! < 7, 'not older than it may be');
    }
    return last.status === 503;
  }, 'the balance is too old to be shown');
  t.ok(Date.now() - readMs >= 5_000, 'and not before');
  t.ok(Number(last!.headers.get('retry-after')) >= 1);
  t.match(await last!.json(), { error: { code: 'credit_balance_unavailable' } });
  await redis.restart();
});
