import t from 'tap';
import type { AdmitReply, Metric, Progress, Reading } from '../../../src/rules/limits/limiter.js';
import { openBoth, requestWith, settleOf } from './setting.js';

const used = (reply: AdmitReply, scope: Reading['scope'], metric: Metric): number =>
  reply.readings.find((reading) => reading.scope === scope && reading.metric === metric)!.used;

const progressOf = (
  request: ReturnType<typeof requestWith>,
  tokens: number,
  creditsUsed: number,
): Progress => ({
  ...request,
  tokens,
  creditsUsed,
  hold: request.credits?.hold ?? null,
});

t.test('what both limiters promise', async (t) => {
  const both = await openBoth(t);
  let orgs = 0;
  for (const { name, clock, limiter } of both) {
    const org = (): string => `org_${name}_${orgs++}`;
    const alone =
      (given: Parameters<typeof requestWith>[0] = {}, id = org()) =>
      (more: Parameters<typeof requestWith>[0] = {}) =>
        requestWith({ ids: { org: id }, ...given, ...more });

    t.test(`${name}: 8.1 one request counts against key, project and organization`, async (t) => {
      const make = alone({ tokens: 100 });
      const reply = await limiter.admit(make());
      t.equal(reply.outcome, 'admitted');
      for (const scope of ['organization', 'project', 'key'] as const) {
        t.equal(used(reply, scope, 'rpm'), 1);
        t.equal(used(reply, scope, 'rpd'), 1);
        t.equal(used(reply, scope, 'tpm'), 100);
        t.equal(used(reply, scope, 'concurrent'), 1);
      }
      t.equal(used(reply, 'organization', 'tpd'), 100);
    });

    t.test(`${name}: a limit of 3 lets exactly 3 start in any minute`, async (t) => {
      const make = alone({ org: { rpm: 3 } });
      for (let n = 0; n < 3; n++) {
        t.equal((await limiter.admit(make())).outcome, 'admitted');
        clock.advance(10_000);
      }
      const refused = await limiter.admit(make());
      t.equal(refused.outcome, 'refused');
      t.match(refused.binding, { scope: 'organization', metric: 'rpm', limit: 3, used: 3, waitMs: 30_000 });
      t.equal(refused.retryMs, 30_000);
      clock.advance(29_999);
      t.equal((await limiter.admit(make())).outcome, 'refused');
      clock.advance(1);
      t.equal((await limiter.admit(make())).outcome, 'admitted');
    });

    t.test(
      `${name}: 8.1 a refused attempt counts in its key where there is room, and nowhere else`,
      async (t) => {
        const make = alone({ org: { rpm: 1 }, key: { rpm: 3 } });
        await limiter.admit(make());
        for (let n = 0; n < 5; n++) {
          const reply = await limiter.admit(make());
          t.equal(reply.outcome, 'refused');
          t.equal(used(reply, 'key', 'rpm'), Math.min(3, n + 2));
          t.equal(used(reply, 'organization', 'rpm'), 1);
          t.equal(used(reply, 'project', 'rpm'), 1);
        }
        const other = await limiter.admit(
          make({ countRefused: 'none', ids: { org: make().organizationId, key: 'key_b' } }),
        );
        t.equal(other.outcome, 'refused');
        t.equal(used(other, 'key', 'rpm'), 0);
      },
    );

    t.test(`${name}: a limit of 0 refuses everything, none at all refuses nothing`, async (t) => {
      for (const limits of [{ rpm: 0 }, { rpd: 0 }, { tpm: 0 }, { concurrent: 0 }])
        t.equal(
          (await limiter.admit(alone({ key: limits, tokens: 5 })())).outcome,
          'refused',
          JSON.stringify(limits),
        );
      t.equal((await limiter.admit(alone({ key: { tpm: 0 }, tokens: 0 })())).outcome, 'admitted');
      t.equal((await limiter.admit(alone({ tokens: 1e9 })())).outcome, 'admitted');
    });

    t.test(`${name}: a request larger than the limit starts when its window is empty`, async (t) => {
      const make = alone({ key: { tpm: 100 }, tokens: 500 });
      t.equal((await limiter.admit(make())).outcome, 'admitted');
      const refused = await limiter.admit(make());
      t.match(refused, { outcome: 'refused', retryMs: 60_000 });
      clock.advance(60_000);
      t.equal((await limiter.admit(make())).outcome, 'admitted');
    });

    t.test(`${name}: every violated limit is told, and the longest wait counts`, async (t) => {
      const make = alone({ org: { rpd: 1 }, key: { rpm: 1, concurrent: 1 } });
      await limiter.admit(make());
      const { readings, binding, retryMs } = await limiter.admit(make());
      t.same(
        readings.filter(({ waitMs }) => waitMs > 0).map(({ scope, metric }) => `${scope} ${metric}`),
        ['organization rpd', 'key rpm', 'key concurrent'],
      );
      t.match(binding, { scope: 'organization', metric: 'rpd', waitMs: 86_400_000 });
      t.equal(retryMs, 86_400_000);
    });

    t.test(
      `${name}: settling gives back what was reserved and not used, and takes what was used beyond`,
      async (t) => {
        const make = alone({ tokens: 1_000 });
        const [small, large] = [make(), make()];
        await limiter.admit(small);
        await limiter.admit(large);
        clock.advance(5_000);
        t.match(await limiter.settle(settleOf(small, 300)), { outcome: 'settled', overdraft: 0 });
        t.match(await limiter.settle(settleOf(large, 1_800)), { outcome: 'settled', overdraft: 800 });
        const reading = await limiter.read(make());
        for (const scope of ['organization', 'project', 'key'] as const) {
          t.equal(used(reading, scope, 'tpm'), 2_100);
          t.equal(used(reading, scope, 'concurrent'), 0);
          t.equal(used(reading, scope, 'rpm'), 2);
        }
        t.equal(used(reading, 'organization', 'tpd'), 2_100);
        clock.advance(56_000);
        t.equal(
          used(await limiter.read(make()), 'key', 'tpm'),
          800,
          'the reservation slid out, the overdraft stays',
        );
      },
    );

    t.test(`${name}: settling twice is settling once`, async (t) => {
      const make = alone({ tokens: 100, credits: { hold: 10, keyBudget: null } });
      const request = make();
      await limiter.credits.setBalance(request.organizationId, 1_000);
      await limiter.admit(request);
      t.match(await limiter.settle(settleOf(request, 50, 7)), { outcome: 'settled', balance: 993 });
      t.match(await limiter.settle(settleOf(request, 50, 7)), { outcome: 'repeated', balance: 993 });
      t.equal(await limiter.credits.balance(request.organizationId), 993);
      t.equal((await limiter.admit(request)).outcome, 'settled', 'nor does a late copy of the admission act');
    });

    t.test(`${name}: the same admission twice counts once`, async (t) => {
      const make = alone({ tokens: 100 });
      const request = make();
      await limiter.admit(request);
      const again = await limiter.admit(request);
      t.equal(again.outcome, 'repeated');
      t.equal(used(again, 'key', 'rpm'), 1);
      t.equal(used(again, 'key', 'concurrent'), 1);
    });

    t.test(`${name}: reading counts nothing`, async (t) => {
      const make = alone({ key: { rpm: 1 } });
      for (let n = 0; n < 3; n++) await limiter.read(make());
      t.equal((await limiter.admit(make())).outcome, 'admitted');
      t.match((await limiter.read(make())).binding, { scope: 'key', metric: 'rpm' });
    });

    t.test(`${name}: without enforcement everything is counted and nothing refused`, async (t) => {
      const make = alone({ key: { rpm: 1 }, enforce: false });
      await limiter.admit(make());
      const reply = await limiter.admit(make());
      t.equal(reply.outcome, 'admitted');
      t.equal(used(reply, 'key', 'rpm'), 2);
      t.match(reply.binding, { metric: 'rpm', limit: 1 });
    });

    t.test(`${name}: credits are held while a request runs and charged once`, async (t) => {
      const make = alone({ tokens: 10, credits: { hold: 60, keyBudget: null } });
      const [one, two] = [make(), make()];
      t.equal((await limiter.admit(one)).outcome, 'no_balance');
      t.equal(await limiter.credits.setBalanceIfAbsent(one.organizationId, 100), true);
      t.equal(await limiter.credits.setBalanceIfAbsent(one.organizationId, 900), false);
      t.match((await limiter.admit(one)).credits, { balance: 100, available: 40 });
      const short = await limiter.admit(two);
      t.equal(short.outcome, 'short_of_credits');
      t.equal(used(short, 'organization', 'rpm'), 2, 'the attempt counts');
      t.equal(used(short, 'organization', 'tpm'), 10, 'its tokens do not');
      t.equal(used(short, 'organization', 'concurrent'), 1, 'nor does it take a place');
      t.match(await limiter.settle(settleOf(one, 5, 25)), { balance: 75 });
      t.equal((await limiter.admit(make())).outcome, 'admitted');
    });

    t.test(`${name}: a key's budget bounds what it spends`, async (t) => {
      const make = alone({ credits: { hold: 40, keyBudget: 100 } });
      const first = make();
      await limiter.credits.setBalance(first.organizationId, 10_000);
      await limiter.admit(first);
      await limiter.settle(settleOf(first, 0, 70, { keyBudgeted: true }));
      t.match(await limiter.admit(make()), { outcome: 'short_of_credits', credits: { keyAvailable: 30 } });
      const other = make({ ids: { org: first.organizationId, key: 'key_b' } });
      t.equal((await limiter.admit(other)).outcome, 'admitted');
    });

    t.test(`${name}: adding credits acts once per id`, async (t) => {
      const id = org();
      t.equal(await limiter.credits.balance(id), null);
      t.equal(await limiter.credits.addCredits(id, 500, 'top-up 1'), 500);
      t.equal(await limiter.credits.addCredits(id, 500, 'top-up 1'), 500);
      t.equal(await limiter.credits.addCredits(id, -100, 'top-up 2'), 400);
      await t.rejects(limiter.credits.addCredits(id, 0.5, 'half'), RangeError);
    });

    t.test(`${name}: a lease nobody renews is over after 30 s; one that is renewed is not`, async (t) => {
      const make = alone({ key: { concurrent: 2 } });
      const [kept, lost] = [make(), make()];
      await limiter.admit(kept);
      await limiter.admit(lost);
      t.equal((await limiter.admit(make())).binding?.metric, 'concurrent');
      clock.advance(20_000);
      t.same(await limiter.renew([progressOf(kept, 0, 0)]), { missing: 0, pruned: 0 });
      clock.advance(10_000);
      const reply = await limiter.admit(make());
      t.match(reply, { outcome: 'admitted', pruned: 1 });
      t.equal(used(reply, 'key', 'concurrent'), 2);
    });

    t.test(
      `${name}: a crashed request is charged its progress; its late settlement only the rest`,
      async (t) => {
        const make = alone({ tokens: 1_000, credits: { hold: 50, keyBudget: null } });
        const request = make();
        await limiter.credits.setBalance(request.organizationId, 1_000);
        await limiter.admit(request);
        clock.advance(10_000);
        await limiter.renew([progressOf(request, 200, 20)]);
        clock.advance(30_000);
        const after = await limiter.admit(make());
        t.equal(after.pruned, 1);
        t.match(after.credits, { balance: 980, available: 930 });
        t.equal(
          used(after, 'organization', 'tpd'),
          1_200,
          'the day keeps what was used, and the new reservation',
        );
        t.match(await limiter.settle(settleOf(request, 300, 33)), { outcome: 'late', balance: 967 });
        t.match(await limiter.settle(settleOf(request, 300, 33)), { outcome: 'repeated', balance: 967 });
        t.equal(used(await limiter.read(make()), 'organization', 'tpd'), 1_300);
      },
    );

    t.test(`${name}: a lease that was pruned while running comes back with its next renewal`, async (t) => {
      const make = alone({ tokens: 500, credits: { hold: 50, keyBudget: null } });
      const request = make();
      await limiter.credits.setBalance(request.organizationId, 1_000);
      await limiter.admit(request);
      await limiter.renew([progressOf(request, 100, 10)]);
      clock.advance(30_000);
      t.equal((await limiter.read(make())).pruned, 1);
      t.same(await limiter.renew([progressOf(request, 200, 20)]), { missing: 1, pruned: 0 });
      t.match((await limiter.read(make())).credits, { balance: 990, available: 940 });
      t.match(await limiter.settle(settleOf(request, 400, 40)), { outcome: 'settled', balance: 960 });
      const reading = await limiter.read(make());
      t.equal(used(reading, 'key', 'concurrent'), 0);
      t.equal(used(reading, 'organization', 'tpd'), 400);
    });

    t.test(
      `${name}: a settlement of an unknown lease is charged, unless it may have been before`,
      async (t) => {
        const make = alone({ credits: { hold: 0, keyBudget: null } });
        const request = make();
        await limiter.credits.setBalance(request.organizationId, 100);
        t.match(await limiter.settle(settleOf(request, 10, 5, { again: true })), {
          outcome: 'ignored',
          balance: 100,
        });
        t.match(await limiter.settle(settleOf(request, 10, 5)), { outcome: 'unknown', balance: 95 });
        clock.advance(121_000);
        t.match(await limiter.settle(settleOf(request, 10, 5, { again: true })), {
          outcome: 'ignored',
          balance: 95,
        });
      },
    );

    t.test(`${name}: D24 quotas are calendar windows of requests and tokens`, async (t) => {
      const quota = {
        subject: 'user',
        id: 'ann@example',
        window: 'daily',
        requests: 2,
        tokens: 1_000,
      } as const;
      const make = alone({ quotas: [quota], tokens: 400 });
      const first = make();
      await limiter.admit(first);
      await limiter.admit(make());
      const refused = await limiter.admit(make());
      t.match(refused.binding, { scope: 'user', metric: 'quota_requests', window: 'daily', used: 2 });
      t.equal(refused.retryMs, 86_400_000 - (refused.nowMs % 86_400_000), 'until midnight UTC');
      await limiter.settle(settleOf(first, 100));
      t.equal(used(await limiter.read(make()), 'user', 'quota_tokens'), 500);
      clock.advance(refused.retryMs);
      t.equal((await limiter.admit(make())).outcome, 'admitted');
    });

    t.test(`${name}: the administration counts apart from inference`, async (t) => {
      const make = alone({ key: { rpm: 1, concurrent: 1 }, project: null });
      t.equal((await limiter.admit(make())).outcome, 'admitted');
      t.equal((await limiter.admit(make({ space: 'admin' }))).outcome, 'admitted');
      t.equal((await limiter.admit(make({ space: 'admin' }))).outcome, 'refused');
    });

    t.test(
      `${name}: a clock that falls back a little stands still; further, the minute begins anew`,
      async (t) => {
        const make = alone({ key: { rpm: 2 } });
        const before = await limiter.admit(make());
        clock.advance(-4_000);
        const small = await limiter.admit(make());
        t.match(small, { outcome: 'admitted', nowMs: before.nowMs, clockStepped: false });
        t.equal((await limiter.admit(make())).outcome, 'refused');
        clock.advance(-3_600_000);
        const large = await limiter.admit(make());
        t.match(large, { outcome: 'admitted', clockStepped: true });
        t.equal(used(large, 'key', 'rpm'), 1);
        t.equal(used(large, 'key', 'concurrent'), 3);
        clock.advance(30_000);
        t.equal((await limiter.admit(make())).pruned, 3, 'leases do not outlive their time by the step');
        clock.advance(3_700_000);
      },
    );

    t.test(`${name}: ids of any kind keep their own counts`, async (t) => {
      const id = org();
      for (const key of ['a\nk:b', 'a}b{c', 'x'.repeat(5_000), 'ключ', ' ']) {
        const make = alone({ key: { rpm: 1 } }, id);
        t.equal((await limiter.admit(make({ ids: { org: id, key } }))).outcome, 'admitted');
        t.equal((await limiter.admit(make({ ids: { org: id, key } }))).outcome, 'refused');
      }
    });

    t.test(`${name}: 5,000 requests in flight in one organization are counted to the last`, async (t) => {
      const make = alone({ org: { concurrent: 5_000 }, credits: { hold: 2, keyBudget: null } });
      const requests = Array.from({ length: 5_000 }, (_, n) =>
        make({ ids: { org: make().organizationId, key: `key_${n % 50}` } }),
      );
      await limiter.credits.setBalance(make().organizationId, 1_000_000);
      for (let at = 0; at < requests.length; at += 500)
        await Promise.all(requests.slice(at, at + 500).map((request) => limiter.admit(request)));
      const full = await limiter.admit(make());
      t.match(full, { outcome: 'refused', concurrencyLeft: 0, credits: { available: 990_000 } });
      for (let at = 0; at < 2_500; at += 500)
        await Promise.all(
          requests.slice(at, at + 500).map((request) => limiter.settle(settleOf(request, 0, 0))),
        );
      const reading = await limiter.read(make({ ids: { org: make().organizationId, key: 'key_7' } }));
      t.equal(used(reading, 'organization', 'concurrent'), 2_500);
      t.equal(used(reading, 'key', 'concurrent'), 50);
      clock.advance(30_000);
      let left = 2_500;
      for (let n = 0; left > 0 && n < 10; n++) left -= (await limiter.read(make())).pruned;
      const after = await limiter.read(make());
      t.equal(used(after, 'organization', 'concurrent'), 0);
      t.match(after.credits, { balance: 1_000_000, available: 1_000_000 });
    });
  }
});
