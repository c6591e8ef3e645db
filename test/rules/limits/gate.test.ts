import t from 'tap';
import { GatewayError } from '../../../src/core/errors.js';
import type { Lease } from '../../../src/core/exchange.js';
import { openEmbeddedLimiter } from '../../../src/rules/limits/embedded.js';
import type { Decision } from '../../../src/rules/limits/events.js';
import { silentEvents } from '../../../src/rules/limits/events.js';
import type { RefusalFacts } from '../../../src/rules/limits/facts.js';
import type { GateOptions } from '../../../src/rules/limits/gate.js';
import { guardLimiter } from '../../../src/rules/limits/guard.js';
import type { Limiter } from '../../../src/rules/limits/limiter.js';
import { ManualClock } from '../../support/manual-clock.js';
import { callOf, demand, gateWith, price, principalWith, spent } from './gate-setting.js';

const open = async (t: { teardown(undo: () => unknown): unknown }, more: Partial<GateOptions> = {}) => {
  const clock = new ManualClock();
  const limiter = await openEmbeddedLimiter({ folder: null, clock });
  const calls = { admit: 0, renew: 0 };
  const counted: Limiter = {
    ...limiter,
    admit: (request) => (calls.admit++, limiter.admit(request)),
    renew: (leases) => (calls.renew++, limiter.renew(leases)),
  };
  const guard = guardLimiter({ limiter: counted, away: null, clock });
  const gate = gateWith(guard, { clock, ...more });
  t.teardown(() => gate.close());
  t.teardown(() => guard.close());
  return { clock, limiter, guard, gate, calls };
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

t.test('8.4 every admitted inference call carries the six headers', async (t) => {
  const { gate } = await open(t);
  const lease = await gate.admit(callOf(principalWith()), demand(100, 200));
  t.same(lease.headers, {
    'x-ratelimit-limit-requests': '60',
    'x-ratelimit-remaining-requests': '59',
    'x-ratelimit-reset-requests': '1m0s',
    'x-ratelimit-limit-tokens': '1000000',
    'x-ratelimit-remaining-tokens': '999700',
    'x-ratelimit-reset-tokens': '1m0s',
  });
});

t.test('a route without limits is left alone', async (t) => {
  const { gate, calls } = await open(t);
  const lease = await gate.admit(callOf(principalWith(), 'none'), demand(1, 1));
  t.same(lease.headers, {});
  t.same(await lease.settle(spent(1, 1, 0)), { remainingCredits: null });
  t.equal(calls.admit, 0);
});

t.test('tokens to reserve are bounded by the model and by the caller', async (t) => {
  const { gate } = await open(t);
  const left = async (principal = principalWith()) => {
    const lease = await gate.admit(callOf(principal), demand(100, 4_096));
    return Number(lease.headers['x-ratelimit-remaining-tokens']);
  };
  t.equal(await left(), 1_000_000 - 600);
  t.equal(await left(principalWith({ org: 'org_b', maxOutputTokens: 256 })), 1_000_000 - 356);
});

t.test('limits.md 11.6 counting tokens consumes requests and no tokens', async (t) => {
  const { gate } = await open(t);
  const lease = await gate.admit(callOf(principalWith({ metered: true }), 'count_tokens'), demand(5_000, 0));
  t.match(lease.headers, {
    'x-ratelimit-remaining-requests': '59',
    'x-ratelimit-remaining-tokens': '1000000',
  });
});

t.test('the fifth request at once of a free key is refused, naming the limit, and explained', async (t) => {
  const told: RefusalFacts[] = [];
  const decisions: Decision[] = [];
  const { gate } = await open(t, {
    onRefused: (facts) => told.push(facts),
    events: { ...silentEvents, decided: (decision) => decisions.push(decision) },
  });
  const principal = principalWith();
  const leases = await Promise.all([0, 1, 2, 3].map(() => gate.admit(callOf(principal), demand(10, 10))));
  const call = callOf(principal);
  const error = await failure(gate.admit(call, demand(10, 10)));
  t.match(error, { status: 429, retryAfterS: 1 });
  t.match(error.message, /concurrent requests of this API key, limit 4/);
  t.match(told, [
    {
      requestId: call.requestId,
      organizationId: 'org_a',
      keyId: 'key_a',
      outcome: 'limit',
      violated: [{ scope: 'key', metric: 'concurrent', limit: 4, used: 4, reserved: 4 }],
    },
  ]);
  t.match(decisions.at(-1), { outcome: 'refused', scope: 'key', metric: 'concurrent', degraded: false });
  t.equal(gate.underWay, 4);
  await leases[0]!.settle(spent(10, 5, 0));
  t.equal(gate.underWay, 3);
  await gate.admit(callOf(principal), demand(10, 10));
});

t.test('a lease settles once, and later calls give the first answer', async (t) => {
  const { gate, limiter } = await open(t);
  await limiter.credits.setBalance('org_a', 1_000);
  const principal = principalWith({ metered: true });
  const lease = await gate.admit(callOf(principal), demand(100, 200));
  t.same(await lease.settle(spent(100, 50, 15)), { remainingCredits: 985 });
  t.same(await lease.settle(spent(100, 50, 15)), { remainingCredits: 985 });
  t.equal(await limiter.credits.balance('org_a'), 985);
});

t.test('7.4 credits hold the price of the reservation; too few are a 402 that counts', async (t) => {
  const { gate, limiter } = await open(t, { firstBalance: async () => 350 });
  const principal = principalWith({ metered: true });
  await gate.admit(callOf(principal), demand(100, 200)); // 300 tokens at 100 USD a million: 300 credits
  t.equal(await limiter.credits.balance('org_a'), 350, 'the first balance was opened on the way');
  const error = await failure(gate.admit(callOf(principal), demand(100, 200)));
  t.match(error, { status: 402, code: 'insufficient_credits' });
  t.equal(error.headers['x-ratelimit-remaining-requests'], '58');
});

t.test('D13 the administration has limits and headers of its own', async (t) => {
  const { gate, clock } = await open(t);
  const principal = principalWith({ kind: 'admin', projectId: null });
  for (let n = 0; n < 2; n++)
    t.same((await gate.admit(callOf(principal, 'admin'), demand(0, 0))).headers, {});
  const error = await failure(gate.admit(callOf(principal, 'admin'), demand(0, 0)));
  t.match(error, { status: 429, retryAfterS: 60 });
  t.match(error.headers, {
    'x-ratelimit-limit': '2',
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': String(Math.floor(clock.nowMs() / 1_000) + 60),
    'x-ratelimit-scope': 'credential',
    'x-ratelimit-metric': 'requests',
  });
  const other = principalWith({ kind: 'admin', projectId: null, keyId: 'key_b' });
  await gate.admit(callOf(other, 'admin'), demand(0, 0));
  t.match((await failure(gate.admit(callOf(other, 'admin'), demand(0, 0)))).headers, {
    'x-ratelimit-scope': 'organization',
    'x-ratelimit-limit': '3',
  });
});

t.test('8.3 the balance may be read 60 times a minute per key', async (t) => {
  const { gate } = await open(t);
  const principal = principalWith();
  for (let n = 0; n < 60; n++) await gate.admit(callOf(principal, 'credits'), demand(0, 0));
  t.match(await failure(gate.admit(callOf(principal, 'credits'), demand(0, 0))), { status: 429 });
  t.equal(gate.underWay, 0);
});

t.test('8.2 a raised tier acts on the next request', async (t) => {
  const { gate } = await open(t);
  const before = principalWith();
  await gate.admit(callOf(before), demand(1, 1));
  const after = { ...before, organization: { ...before.organization, plan: 'scale' } as const };
  const lease = await gate.admit(callOf(after), demand(1, 1));
  t.match(lease.headers, { 'x-ratelimit-limit-requests': '500', 'x-ratelimit-remaining-requests': '498' });
});

t.test('a key whose minute is full is refused from memory, truthfully, and let in on time', async (t) => {
  const { gate, calls, clock } = await open(t, { overrides: [{ scope: 'key', id: '*', rpm: 1 }] });
  const principal = principalWith();
  await gate.admit(callOf(principal), demand(1, 1));
  await failure(gate.admit(callOf(principal), demand(1, 1)));
  t.equal(calls.admit, 2);
  clock.advance(400);
  const error = await failure(gate.admit(callOf(principal), demand(1, 1)));
  t.equal(calls.admit, 2, 'the limiter was not asked');
  t.equal(error.retryAfterS, 60);
  clock.advance(600);
  await failure(gate.admit(callOf(principal), demand(1, 1)));
  t.equal(calls.admit, 3, 'it is asked again each second');
  clock.advance(59_000);
  await gate.admit(callOf(principal), demand(1, 1));
});

t.test('a refusal that counts in the key is never answered from memory', async (t) => {
  const { gate, calls } = await open(t, { overrides: [{ scope: 'organization', id: '*', rpm: 1 }] });
  const principal = principalWith();
  await gate.admit(callOf(principal), demand(1, 1));
  for (let n = 0; n < 3; n++) await failure(gate.admit(callOf(principal), demand(1, 1)));
  t.equal(calls.admit, 4);
});

t.test('limits.enforce false counts and shows, but refuses nothing', async (t) => {
  const { gate } = await open(t, { enforce: false, overrides: [{ scope: 'key', id: '*', rpm: 1 }] });
  for (let n = 0; n < 3; n++) {
    const lease = await gate.admit(callOf(principalWith()), demand(1, 1));
    t.match(lease.headers, { 'x-ratelimit-limit-requests': '1', 'x-ratelimit-remaining-requests': '0' });
  }
});

t.test('a lease is renewed with its progress for as long as it runs', async (t) => {
  const { gate, limiter, clock, calls } = await open(t, { renewEveryMs: 5 });
  await limiter.credits.setBalance('org_a', 1_000);
  const call = callOf(principalWith({ metered: true }));
  const lease = await gate.admit(call, demand(100, 200));
  call.meter.price = price;
  call.meter.live = () => spent(100, 40, 0).usage; // as a stream tells it
  for (let n = 0; n < 3; n++) {
    const before = calls.renew;
    clock.advance(20_000);
    while (calls.renew < before + 2) await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await gate.close();
  clock.advance(30_000);
  const other = await gate.admit(callOf(principalWith({ metered: true })), demand(1, 1));
  t.equal(
    await limiter.credits.balance('org_a'),
    860,
    'left alone, it is charged what it had used: 140 credits',
  );
  t.same(await lease.settle(spent(100, 60, 160)), { remainingCredits: 840 });
  await other.settle(spent(0, 0, 0));
});
