import t from 'tap';
import { openRedisLimiter } from '../../../src/rules/limits/redis.js';
import type { AdmitReply, Progress } from '../../../src/rules/limits/limiter.js';
import { ManualClock } from '../../support/manual-clock.js';
import { plainClient, startCluster, startRedis } from '../../support/redis.js';
import { requestWith, settleOf } from './setting.js';

interface Subject {
  teardown(undo: () => unknown): unknown;
}

const open = async (t: Subject, clock: ManualClock | null = null) => {
  const server = await startRedis();
  t.teardown(() => server.stop());
  const limiter = await openRedisLimiter({
    url: server.url,
    keyPrefix: 'sl:',
    clock,
    commandTimeoutMs: 5_000,
  });
  t.teardown(() => limiter.close());
  const client = plainClient(server.port);
  t.teardown(() => client.disconnect());
  return { server, limiter, client };
};

const concurrent = ({ readings }: AdmitReply): number[] =>
  readings.filter(({ metric }) => metric === 'concurrent').map(({ used }) => used);

const progressOf = (request: ReturnType<typeof requestWith>): Progress => ({
  ...request,
  tokens: 0,
  creditsUsed: 0,
  hold: request.credits?.hold ?? null,
});

t.test('all keys of an organization lie in one slot, and all but the credits expire', async (t) => {
  const { limiter, client } = await open(t);
  const quotas = [{ subject: 'user', id: 'ann', window: 'monthly', requests: 9, tokens: 90 } as const];
  await limiter.credits.setBalance('org_a', 100);
  const request = requestWith({ tokens: 5, quotas, credits: { hold: 1, keyBudget: null } });
  await limiter.admit(request);
  await limiter.admit({ ...request, leaseId: 'lease_b' });
  await limiter.settle(settleOf(request, 1, 1));
  const keys = await client.keys('*');
  t.ok(keys.length >= 8);
  for (const key of keys) {
    t.match(key, /^sl:rl:\{org_a\}:/);
    const ttlMs = await client.pttl(key);
    if (key === 'sl:rl:{org_a}:b') t.equal(ttlMs, -1);
    else t.ok(ttlMs > 0, key);
  }
});

t.test('the time is that of Redis, whatever the clock of the gateway', async (t) => {
  const { limiter, client } = await open(t);
  const { nowMs } = await limiter.admit(requestWith());
  const [seconds] = await client.time();
  t.ok(Math.abs(nowMs - Number(seconds) * 1_000) < 5_000);
});

t.test('four connections and 400 attempts at once: exactly as many as the limit are let in', async (t) => {
  const { server } = await open(t);
  const limiters = await Promise.all(
    [0, 1, 2, 3].map(() => openRedisLimiter({ url: server.url, keyPrefix: 'sl:', commandTimeoutMs: 10_000 })),
  );
  t.teardown(() => Promise.all(limiters.map((limiter) => limiter.close())));
  const flusher = plainClient(server.port);
  t.teardown(() => flusher.disconnect());
  const replies = await Promise.all([
    ...limiters.flatMap((limiter) =>
      Array.from({ length: 100 }, (_, n) =>
        limiter.admit(requestWith({ org: { rpm: 120 }, ids: { key: `key_${n % 7}` } })),
      ),
    ),
    ...Array.from({ length: 20 }, () => flusher.script('FLUSH').then(() => null)),
  ]);
  t.equal(replies.filter((reply) => reply?.outcome === 'admitted').length, 120);
});

t.test('counts that were tampered with are made anew within a minute of renewals', async (t) => {
  const clock = new ManualClock();
  const { limiter, client } = await open(t, clock);
  await limiter.credits.setBalance('org_a', 1_000);
  const requests = [0, 1, 2].map(() => requestWith({ credits: { hold: 10, keyBudget: 100 } }));
  for (const request of requests) await limiter.admit(request);
  const renewAll = () => limiter.renew(requests.map(progressOf));
  await renewAll();
  await client.hset('sl:rl:{org_a}:l:l', {
    co: '90',
    'ck:key_a': '70',
    'cp:gone': '5',
    ho: '999',
    'hk:key_a': '1',
  });
  for (let n = 0; n < 6; n++) {
    clock.advance(10_000);
    await renewAll();
  }
  const reading = await limiter.read(requestWith({ credits: { hold: 0, keyBudget: 100 } }));
  t.same(concurrent(reading), [3, 3, 3]);
  t.match(reading.credits, { available: 970, keyAvailable: 70 });
  t.equal(await client.hexists('sl:rl:{org_a}:l:l', 'cp:gone'), 0);
});

t.test('when Redis has lost everything, leases under way come back with their next renewal', async (t) => {
  const clock = new ManualClock();
  const { limiter, client } = await open(t, clock);
  const requests = [0, 1, 2].map(() => requestWith({ tokens: 50 }));
  for (const request of requests) await limiter.admit(request);
  await client.flushall();
  t.same(concurrent(await limiter.read(requestWith())), [0, 0, 0]);
  t.same(await limiter.renew(requests.map(progressOf)), { missing: 3, pruned: 0 });
  t.same(concurrent(await limiter.read(requestWith())), [3, 3, 3]);
  for (const request of requests) await limiter.settle(settleOf(request, 20));
  const reading = await limiter.read(requestWith());
  t.same(concurrent(reading), [0, 0, 0]);
  t.same(
    reading.readings.filter(({ metric }) => metric === 'tpm').map(({ used }) => used),
    [60, 60, 60],
  );
});

t.test('a set of expiries that was evicted does not leave leases for ever', async (t) => {
  const clock = new ManualClock();
  const { limiter, client } = await open(t, clock);
  await limiter.admit(requestWith());
  await client.del('sl:rl:{org_a}:l:x');
  clock.advance(30_000);
  t.same(concurrent(await limiter.read(requestWith())), [0, 0, 0]);
});

t.test('it can say what Redis evicts', async (t) => {
  const { limiter, client } = await open(t);
  t.equal(await limiter.evictionPolicy(), 'noeviction');
  await client.config('SET', 'maxmemory-policy', 'allkeys-lru');
  t.equal(await limiter.evictionPolicy(), 'allkeys-lru');
});

t.test('without memory Redis refuses an admission whole', async (t) => {
  const { limiter, client } = await open(t);
  await limiter.admit(requestWith());
  await client.config('SET', 'maxmemory', '1');
  await t.rejects(limiter.admit(requestWith()), /OOM/);
  await client.config('SET', 'maxmemory', '0');
  t.same(concurrent(await limiter.read(requestWith())), [1, 1, 1]);
});

t.test('in a Cluster every organization has its slot', async (t) => {
  const cluster = await startCluster();
  t.teardown(() => cluster.stop());
  const limiter = await openRedisLimiter({
    url: '',
    cluster: cluster.nodes,
    keyPrefix: 'sl:',
    commandTimeoutMs: 5_000,
    readyTimeoutMs: 15_000,
  });
  t.teardown(() => limiter.close());
  for (let n = 0; n < 20; n++) {
    const request = requestWith({ ids: { org: `org_${n}` }, org: { rpm: 1 }, tokens: 5 });
    t.equal((await limiter.admit(request)).outcome, 'admitted');
    t.equal((await limiter.settle(settleOf(request, 3))).outcome, 'settled');
    t.equal((await limiter.admit({ ...request, leaseId: `again_${n}` })).outcome, 'refused');
  }
});
