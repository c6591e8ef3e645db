import t from 'tap';
import type { AdmitReply, AdmitRequest, Metric, Reading } from '../../../src/rules/limits/limiter.js';
import { MOST_SUMMED } from '../../../src/rules/limits/limiter.js';
import { openBoth, requestWith, settleOf } from './setting.js';

const reading = ({ readings }: AdmitReply, scope: Reading['scope'], metric: Metric): Reading =>
  readings.find((each) => each.scope === scope && each.metric === metric)!;

const progressOf = (request: AdmitRequest) => ({ ...request, tokens: 0, creditsUsed: 0, hold: null });

t.test('9 of what is used, both limiters tell what requests under way hold', async (t) => {
  for (const { name, clock, limiter } of await openBoth(t)) {
    const make = (given: Parameters<typeof requestWith>[0] = {}) =>
      requestWith({ ids: { org: `org_${name}` }, org: { tpm: 1_000 }, tokens: 300, ...given });

    t.test(`${name}: a refusal by tokens tells what comes back when they end`, async (t) => {
      const [ended, first, other] = [
        make(),
        make(),
        make({ ids: { org: `org_${name}`, project: 'proj_b', key: 'key_b' } }),
      ];
      for (const request of [ended, first, other]) await limiter.admit(request);
      await limiter.settle(settleOf(ended, 250));
      const refused = await limiter.admit(make());
      t.equal(refused.outcome, 'refused');
      t.match(refused.binding, { scope: 'organization', metric: 'tpm', used: 850, reserved: 600 });
      t.match(reading(refused, 'organization', 'tpd'), { used: 850, reserved: 600 });
      t.match(
        reading(refused, 'project', 'tpm'),
        { used: 550, reserved: 300 },
        'not those of another project',
      );
      t.match(reading(refused, 'key', 'tpm'), { used: 550, reserved: 300 });
      t.match(reading(refused, 'key', 'concurrent'), { used: 1, reserved: 1 });
      t.match(reading(refused, 'organization', 'rpm'), { used: 3, reserved: 0 });
      for (const request of [first, other]) await limiter.settle(settleOf(request, 300));
      const after = await limiter.read(make());
      t.match(reading(after, 'organization', 'tpm'), { used: 850, reserved: 0 });
      clock.advance(120_000);
    });

    t.test(
      `${name}: what has left the minute is no longer held in it, however long its stream runs`,
      async (t) => {
        const long = make();
        await limiter.admit(long);
        for (let n = 0; n < 3; n++) {
          clock.advance(20_000);
          await limiter.renew([progressOf(long)]);
        }
        const fresh = make();
        await limiter.admit(fresh);
        const told = await limiter.read(make());
        t.match(reading(told, 'key', 'tpm'), { used: 300, reserved: 300 });
        t.match(
          reading(told, 'organization', 'tpd'),
          { used: 850 + 600, reserved: 600 },
          'but in the day it is',
        );
        t.match(reading(told, 'key', 'concurrent'), { used: 2, reserved: 2 });
        for (const request of [long, fresh]) await limiter.settle(settleOf(request, 0));
      },
    );

    t.test(`${name}: D24 of a quota likewise`, async (t) => {
      const quotas = [
        { subject: 'user', id: 'ann', window: 'daily', requests: null, tokens: 500 } as const,
        { subject: 'project', id: 'proj_a', window: 'monthly', requests: null, tokens: 9_000 } as const,
      ];
      const request = make({ quotas });
      await limiter.admit(request);
      await limiter.admit(make({ quotas: [{ ...quotas[0]!, id: 'anna' }] }));
      const refused = await limiter.admit(make({ quotas }));
      t.match(refused.binding, { scope: 'user', metric: 'quota_tokens', used: 300, reserved: 300 });
      t.match(
        refused.readings.find((each) => each.scope === 'project' && each.metric === 'quota_tokens'),
        { used: 300, reserved: 300 },
      );
      t.match(reading(refused, 'user', 'quota_requests'), { used: 1, reserved: 0 });
    });

    t.test(`${name}: a refusal by requests, and a great crowd, are not summed`, async (t) => {
      const ids = { org: `org_crowd_${name}` };
      t.equal(reading(await limiter.admit(make({ ids, org: { rpm: 0 } })), 'key', 'tpm').reserved, null);
      const crowd = Array.from({ length: MOST_SUMMED + 1 }, () => make({ ids, org: {}, tokens: 1 }));
      await Promise.all(crowd.map((request) => limiter.admit(request)));
      t.equal(reading(await limiter.read(make({ ids })), 'organization', 'tpm').reserved, null);
      await limiter.settle(settleOf(crowd[0]!, 1));
      t.equal(reading(await limiter.read(make({ ids })), 'organization', 'tpm').reserved, MOST_SUMMED);
    });
  }
});
