import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { openEmbeddedLimiter } from '../../../src/rules/limits/embedded.js';
import { ManualClock } from '../../support/manual-clock.js';
import { until } from '../../support/redis.js';
import { requestWith, settleOf } from './setting.js';

const folderOf = (t: { teardown(undo: () => unknown): unknown }): string => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-limits-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

t.test('days, quotas and credits survive a restart', async (t) => {
  const folder = folderOf(t);
  const clock = new ManualClock();
  const quotas = [{ subject: 'user', id: 'ann', window: 'monthly', requests: 2, tokens: null } as const];
  const make = () => requestWith({ key: { rpd: 3 }, quotas, credits: { hold: 5, keyBudget: null } });
  const first = await openEmbeddedLimiter({ folder, clock });
  await first.credits.addCredits('org_a', 500, 'once');
  const ended = make();
  await first.admit(ended);
  await first.settle(settleOf(ended, 0, 7));
  await first.admit(make());
  await first.close();

  const second = await openEmbeddedLimiter({ folder, clock });
  t.equal(await second.credits.balance('org_a'), 493);
  t.equal(await second.credits.addCredits('org_a', 500, 'once'), 493);
  t.equal((await second.settle(settleOf(ended, 0, 7))).outcome, 'repeated');
  clock.advance(60_000);
  const reply = await second.admit(make());
  t.match(reply, { outcome: 'refused', pruned: 1, binding: { metric: 'quota_requests', used: 2 } });
  await second.close();
  t.same(readdirSync(folder), ['limits.snapshot']);
});

t.test('a change is in the file within moments, without closing', async (t) => {
  const folder = folderOf(t);
  const limiter = await openEmbeddedLimiter({ folder });
  t.teardown(() => limiter.close());
  await limiter.credits.setBalance('org_a', 77);
  await until(() => readdirSync(folder).includes('limits.snapshot'));
  const copy = await openEmbeddedLimiter({ folder: null });
  copy.restore(readFileSync(join(folder, 'limits.snapshot')));
  t.equal(await copy.credits.balance('org_a'), 77);
});

t.test('a snapshot that cannot be read stops the start: balances are in it', async (t) => {
  const folder = folderOf(t);
  writeFileSync(join(folder, 'limits.snapshot'), 'broken');
  await t.rejects(openEmbeddedLimiter({ folder }), /snapshot of the limits/);
});

t.test('memory is bounded: idle scopes are forgotten, and beyond the bound the longest unused', async (t) => {
  const clock = new ManualClock();
  const limiter = await openEmbeddedLimiter({ folder: null, clock, maxScopes: 100 });
  for (let n = 0; n < 400; n++) {
    clock.advance(10);
    const request = requestWith({ ids: { org: 'org_a', key: `key_${n}` } });
    await limiter.admit(request);
    await limiter.settle(settleOf(request, 0));
  }
  t.ok(limiter.size <= 101, `${limiter.size} scopes`);
  const recent = await limiter.read(requestWith({ ids: { org: 'org_a', key: 'key_399' } }));
  t.equal(recent.readings.find(({ scope, metric }) => scope === 'key' && metric === 'rpm')?.used, 1);
  clock.advance(26 * 3_600_000);
  await limiter.admit(requestWith({ ids: { org: 'org_b' } }));
  t.equal(limiter.size, 3, 'a day later only the new ones are left');
});
