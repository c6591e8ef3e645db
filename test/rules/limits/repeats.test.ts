import t from 'tap';
import type { AdmitReply, Metric } from '../../../src/rules/limits/limiter.js';
import { openBoth, requestWith, settleOf } from './setting.js';

const usedBy = ({ readings }: AdmitReply, metric: Metric): number[] =>
  readings.filter((each) => each.metric === metric).map(({ used }) => used);

t.test('an attempt that is sent again because its reply was lost counts once', async (t) => {
  let orgs = 0;
  for (const { name, clock, limiter } of await openBoth(t)) {
    const ids = () => ({ org: `org_${name}_${orgs++}` });

    t.test(`${name}: 8.1 refused, in its key`, async (t) => {
      const given = { ids: ids(), org: { rpm: 1 }, key: { rpm: 5 } };
      await limiter.admit(requestWith(given));
      const request = requestWith(given);
      for (let n = 0; n < 3; n++) {
        const reply = await limiter.admit(request);
        t.match(reply, { outcome: 'refused', binding: { scope: 'organization', metric: 'rpm' } });
        t.same(usedBy(reply, 'rpm'), [1, 1, 2], 'organization, project, key');
      }
      t.same(usedBy(await limiter.admit(requestWith(given)), 'rpm'), [1, 1, 3], 'another attempt counts');
    });

    t.test(`${name}: the first answer stands, also where there would be room by now`, async (t) => {
      const given = { ids: ids(), org: { concurrent: 1 } };
      const running = requestWith(given);
      await limiter.admit(running);
      const request = requestWith(given);
      const first = await limiter.admit(request);
      await limiter.settle(settleOf(running, 0));
      const second = await limiter.admit(request);
      t.match(second, { outcome: 'refused', binding: first.binding && { metric: 'concurrent' } });
      t.equal(second.retryMs, 1, 'the next attempt fits');
      t.same(usedBy(second, 'rpm'), usedBy(first, 'rpm'));
      clock.advance(30_000);
      t.equal((await limiter.admit(request)).outcome, 'admitted', 'it is remembered for half a minute');
    });

    t.test(`${name}: one that left no trace is decided anew`, async (t) => {
      const given = { ids: ids(), org: { concurrent: 1 }, countRefused: 'none' } as const;
      const running = requestWith(given);
      await limiter.admit(running);
      const request = requestWith(given);
      t.equal((await limiter.admit(request)).outcome, 'refused');
      await limiter.settle(settleOf(running, 0));
      t.equal((await limiter.admit(request)).outcome, 'admitted');
    });

    t.test(`${name}: 402, in all scopes, and its own count does not turn it into a 429`, async (t) => {
      const given = { ids: ids(), key: { rpm: 1 }, credits: { hold: 10, keyBudget: null } };
      await limiter.credits.setBalance(given.ids.org, 5);
      const request = requestWith(given);
      for (let n = 0; n < 2; n++) {
        const reply = await limiter.admit(request);
        t.match(reply, { outcome: 'short_of_credits', binding: null, retryMs: 0 });
        t.same(usedBy(reply, 'rpm'), [1, 1, 1]);
      }
    });

    t.test(`${name}: admitted without a lease`, async (t) => {
      const request = requestWith({ ids: ids(), space: 'credits', takesLease: false });
      t.equal((await limiter.admit(request)).outcome, 'admitted');
      const again = await limiter.admit(request);
      t.equal(again.outcome, 'repeated');
      t.same(usedBy(again, 'rpm'), [1, 1, 1]);
    });

    t.test(`${name}: a refused attempt that is disowned charges nothing`, async (t) => {
      const given = { ids: ids(), org: { rpm: 0 }, tokens: 50 };
      const request = requestWith(given);
      await limiter.admit(request);
      t.match(await limiter.settle(settleOf(request, 0)), { outcome: 'unknown', overdraft: 0 });
      const told = await limiter.admit(request);
      t.equal(told.outcome, 'settled');
      t.same(usedBy(told, 'rpm'), [0, 0, 1]);
    });
  }
});
