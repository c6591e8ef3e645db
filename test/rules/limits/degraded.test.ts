import t from 'tap';
import { GatewayError } from '../../../src/core/errors.js';
import type { Lease } from '../../../src/core/exchange.js';
import { silentEvents } from '../../../src/rules/limits/events.js';
import type { Limiter } from '../../../src/rules/limits/limiter.js';
import { guardLimiter, type GuardOptions } from '../../../src/rules/limits/guard.js';
import { shareLimits } from '../../../src/rules/limits/local-share.js';
import { openRedisLimiter } from '../../../src/rules/limits/redis.js';
import { checkLeaks } from '../../support/leaks.js';
import { startRedis, until } from '../../support/redis.js';
import { callOf, demand, gateWith, principalWith, spent } from './gate-setting.js';

type Away = NonNullable<GuardOptions['away']>;

const open = async (t: { teardown(undo: () => unknown): unknown }, away: Away) => {
  checkLeaks(t);
  const server = await startRedis({ appendfsync: 'always' });
  t.teardown(() => server.stop());
  const limiter = await openRedisLimiter({ url: server.url, keyPrefix: 'sl:', commandTimeoutMs: 100 });
  const degraded: boolean[] = [];
  const decided: boolean[] = [];
  const calls = { admit: 0 };
  const counted: Limiter = { ...limiter, admit: (request) => (calls.admit++, limiter.admit(request)) };
  const guard = guardLimiter({
    limiter: counted,
    away,
    events: { ...silentEvents, degraded: (on) => degraded.push(on) },
  });
  t.teardown(() => guard.close());
  const gate = gateWith(guard, {
    overrides: [
      { scope: 'key', id: '*', rpm: 8, concurrent: 8 },
      { scope: 'project', id: '*', concurrent: null },
      { scope: 'organization', id: '*', concurrent: null },
    ],
    events: { ...silentEvents, decided: (decision) => decided.push(decision.degraded) },
  });
  t.teardown(() => gate.close());
  const recovered = () => until(() => guard.waiting === 0 && !guard.isDegraded);
  return { server, limiter, guard, gate, calls, degraded, decided, recovered };
};

const failure = async (admission: Promise<Lease>): Promise<GatewayError> => {
  try {
    await admission;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('It was admitted.');
};

const metered = principalWith({ metered: true });

t.test('a share of a limit is never less than one, and none stays none', async (t) => {
  t.same(shareLimits({ rpm: 10, rpd: 3, tpm: null, tpd: 0, concurrent: 2 }, 4), {
    rpm: 2,
    rpd: 1,
    tpm: null,
    tpd: 0,
    concurrent: 1,
  });
});

t.test(
  'local: while Redis is killed each replica enforces its share, and posts the usage afterwards',
  async (t) => {
    const { server, limiter, guard, gate, degraded, decided, recovered } = await open(t, {
      mode: 'local',
      replicasHint: 2,
    });
    await limiter.credits.setBalance('org_a', 10_000);
    const before = await gate.admit(callOf(metered), demand(10, 10));
    t.notOk('x-sluice-degraded' in before.headers);
    await server.kill();

    const leases: Lease[] = [];
    for (let n = 0; n < 4; n++) leases.push(await gate.admit(callOf(metered), demand(10, 10)));
    for (const lease of leases) t.equal(lease.headers['x-sluice-degraded'], 'limits');
    t.equal(leases[0]!.headers['x-ratelimit-limit-requests'], '4', 'half of 8');
    const error = await failure(gate.admit(callOf(metered), demand(10, 10)));
    t.match(error, { status: 429, headers: { 'x-sluice-degraded': 'limits' } });
    t.same(degraded, [true]);
    t.same(decided, [false, true, true, true, true, true]);

    // One that began before is settled now, as are those that began without Redis.
    t.same(await before.settle(spent(10, 5, 100)), { remainingCredits: 9_900 }, 'as far as it is known here');
    for (const lease of leases) await lease.settle(spent(10, 5, 100));
    t.ok(guard.waiting >= 5);

    await server.restart();
    await recovered();
    t.equal(await limiter.credits.balance('org_a'), 9_500, 'each was charged once');
    const after = await gate.admit(callOf(metered), demand(10, 10));
    t.notOk('x-sluice-degraded' in after.headers);
    t.equal(after.headers['x-ratelimit-remaining-requests'], '2', 'one before, four meanwhile, one now');
    t.same(degraded, [true, false]);
  },
);

t.test('local: credits are spent up to the share of the last known balance, then 503', async (t) => {
  const { server, limiter, gate } = await open(t, { mode: 'local', replicasHint: 2, creditCap: 50 });
  await limiter.credits.setBalance('org_a', 10_000);
  await (await gate.admit(callOf(metered), demand(10, 10))).settle(spent(0, 0, 0));
  await server.kill();
  const lease = await gate.admit(callOf(metered), demand(20, 20)); // holds 40 of 50
  const error = await failure(gate.admit(callOf(metered), demand(10, 10)));
  t.match(error, { status: 503, code: 'store_unavailable', retryAfterS: 1 });
  await lease.settle(spent(0, 0, 0));
  const stranger = principalWith({ org: 'org_b', metered: true });
  t.match(await failure(gate.admit(callOf(stranger), demand(1, 1))), { status: 503 }, 'a balance never seen');
  t.equal(
    (await gate.admit(callOf(principalWith({ org: 'org_c' })), demand(1, 1))).headers['x-sluice-degraded'],
    'limits',
  );
  await server.restart();
});

t.test('closed: without Redis nothing is admitted', async (t) => {
  const { server, gate, recovered } = await open(t, { mode: 'closed', replicasHint: 1 });
  await server.kill();
  for (let n = 0; n < 5; n++)
    t.match(await failure(gate.admit(callOf(principalWith()), demand(1, 1))), {
      status: 503,
      retryAfterS: 1,
      headers: { 'x-sluice-degraded': 'limits' },
    });
  await server.restart();
  await recovered();
  await gate.admit(callOf(principalWith()), demand(1, 1));
});

t.test('open: without Redis everything is admitted, and charged afterwards', async (t) => {
  const { server, limiter, gate, recovered } = await open(t, { mode: 'open', replicasHint: 1 });
  await limiter.credits.setBalance('org_a', 1_000);
  await server.kill();
  const leases = await Promise.all(
    Array.from({ length: 20 }, () => gate.admit(callOf(metered), demand(1, 1))),
  );
  t.same(leases[0]!.headers, { 'x-sluice-degraded': 'limits' });
  await Promise.all(leases.map((lease) => lease.settle(spent(1, 1, 7))));
  await server.restart();
  await recovered();
  t.equal(await limiter.credits.balance('org_a'), 1_000 - 140);
  const { readings } = await gate.read(metered);
  for (const scope of ['organization', 'project', 'key'])
    for (const metric of ['rpm', 'rpd'])
      t.match(
        readings.find((reading) => reading.scope === scope && reading.metric === metric),
        { used: 20 },
        `${scope}: all of them count, also above the limit`,
      );
});

t.test('an admission that timed out, and may have acted, leaves nothing behind', async (t) => {
  const { server, gate, recovered } = await open(t, { mode: 'closed', replicasHint: 1 });
  const principal = principalWith();
  await (await gate.admit(callOf(principal), demand(100, 100))).settle(spent(0, 0, 0));
  server.signal('SIGSTOP');
  t.match(await failure(gate.admit(callOf(principal), demand(100, 100))), { status: 503 });
  server.signal('SIGCONT');
  await recovered();
  const { readings } = await gate.read(principal);
  const used = (metric: string) =>
    readings.filter((reading) => reading.metric === metric).map((reading) => reading.used);
  t.same(used('concurrent'), [0, 0, 0]);
  t.same(used('tpm'), [0, 0, 0]);
});

t.test('after three failures Redis is left alone for a second: a refusal costs no timeout', async (t) => {
  const { server, gate, guard, calls } = await open(t, { mode: 'local', replicasHint: 1 });
  server.signal('SIGSTOP');
  const admitIn = (org: string) => gate.admit(callOf(principalWith({ org })), demand(1, 1));
  for (let n = 0; n < 3; n++) await admitIn(`org_${n}`);
  t.equal(calls.admit, 3);
  const more = await Promise.all(Array.from({ length: 8 }, (_, n) => admitIn(`org_more_${n}`)));
  t.ok(calls.admit <= 4, 'at most one probe');
  for (const lease of more) t.equal(lease.headers['x-sluice-degraded'], 'limits');
  server.signal('SIGCONT');
  let n = 0;
  await until(async () => !('x-sluice-degraded' in (await admitIn(`org_after_${n++}`)).headers));
  t.equal(guard.isDegraded, false);
});
