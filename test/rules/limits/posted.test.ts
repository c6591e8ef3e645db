import t from 'tap';
import type { AdmitReply, Metric, Scope } from '../../../src/rules/limits/limiter.js';
import { openBoth, requestWith, settleOf } from './setting.js';

const used = ({ readings }: AdmitReply, scope: Scope['kind'] | 'user', metric: Metric): number =>
  readings.find((each) => each.scope === scope && each.metric === metric)!.used;

t.test(
  '8 usage of requests that were admitted without the limiter is counted where it belongs',
  async (t) => {
    let orgs = 0;
    for (const { name, clock, limiter } of await openBoth(t)) {
      const ids = () => ({ org: `org_${name}_${orgs++}` });

      t.test(`${name}: as requests and tokens of all scopes, once`, async (t) => {
        const quotas = [{ subject: 'user', id: 'ann', window: 'daily', requests: 9, tokens: 900 } as const];
        const request = requestWith({ ids: ids(), quotas });
        for (const outcome of ['unknown', 'repeated'])
          t.equal(
            (await limiter.settle(settleOf(request, 70, null, { startedAgoMs: 5_000 }))).outcome,
            outcome,
          );
        const told = await limiter.read(request);
        for (const scope of ['organization', 'project', 'key'] as const) {
          t.equal(used(told, scope, 'rpm'), 1);
          t.equal(used(told, scope, 'rpd'), 1);
          t.equal(used(told, scope, 'tpm'), 70);
        }
        t.equal(used(told, 'organization', 'tpd'), 70);
        t.equal(used(told, 'user', 'quota_requests'), 1);
        t.equal(used(told, 'user', 'quota_tokens'), 70);
      });

      t.test(`${name}: from their own start on, or with the next one after them`, async (t) => {
        const given = { ids: ids(), key: { rpm: 2 } };
        await limiter.settle(settleOf(requestWith(given), 0, null, { startedAgoMs: 50_000 }));
        await limiter.settle(settleOf(requestWith(given), 0, null, { startedAgoMs: 30_000 }));
        const full = await limiter.admit(requestWith(given));
        t.match(full, { outcome: 'refused', retryMs: 10_000 });
        clock.advance(10_000);
        t.equal((await limiter.admit(requestWith(given))).outcome, 'admitted');
        // Began 35 s ago: there is none between it and the one of 40 s ago, so it goes with the one of now.
        await limiter.settle(settleOf(requestWith(given), 0, null, { startedAgoMs: 35_000 }));
        t.equal(
          used(await limiter.read(requestWith(given)), 'key', 'rpm'),
          3,
          'the truth may lie above the limit',
        );
        clock.advance(20_000);
        t.equal(used(await limiter.read(requestWith(given)), 'key', 'rpm'), 2);
        clock.advance(39_999);
        t.equal(used(await limiter.read(requestWith(given)), 'key', 'rpm'), 2);
        clock.advance(1);
        t.equal(used(await limiter.read(requestWith(given)), 'key', 'rpm'), 0);
      });

      t.test(`${name}: what began more than a minute ago counts in the day only`, async (t) => {
        const request = requestWith({ ids: ids() });
        await limiter.settle(settleOf(request, 70, null, { startedAgoMs: 3_600_000 }));
        const told = await limiter.read(request);
        t.equal(used(told, 'key', 'rpm'), 0);
        t.equal(used(told, 'key', 'tpm'), 0);
        t.equal(used(told, 'key', 'rpd'), 1);
        t.equal(used(told, 'organization', 'tpd'), 70);
      });

      t.test(`${name}: one that was refused here before counts no more in its key`, async (t) => {
        const request = requestWith({ ids: ids(), org: { rpm: 0 } });
        t.equal((await limiter.admit(request)).outcome, 'refused');
        await limiter.settle(settleOf(request, 70, null, { startedAgoMs: 400 }));
        const told = await limiter.read(request);
        for (const scope of ['organization', 'project', 'key'] as const) {
          t.equal(used(told, scope, 'rpm'), 1);
          t.equal(used(told, scope, 'tpm'), 70);
        }
      });

      t.test(`${name}: an admission that had reached the limiter after all counts once`, async (t) => {
        const request = requestWith({ ids: ids(), tokens: 100 });
        await limiter.admit(request);
        t.equal(
          (await limiter.settle(settleOf(request, 70, null, { startedAgoMs: 400 }))).outcome,
          'settled',
        );
        const told = await limiter.read(request);
        t.equal(used(told, 'key', 'rpm'), 1);
        t.equal(used(told, 'key', 'tpm'), 70);
      });
    }
  },
);
