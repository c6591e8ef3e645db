import t from 'tap';
import { readConfig } from '../../../src/rules/policy-gateway/config.js';
import { quotasOf } from '../../../src/rules/policy-gateway/quotas.js';
import {
  bucketOf,
  sampledStanding,
  standingOf,
  standings,
  type Subject,
} from '../../../src/rules/policy-gateway/rollout.js';
import type { Quota } from '../../../src/rules/limits/limiter.js';

const SUBJECTS = 10_000;

const who = (subject: string, more: Partial<Subject> = {}): Subject => ({
  subject,
  target: null,
  projectId: 'proj_app',
  model: 'sim-small',
  ...more,
});

const rollout = (given: object, policyId = 'gw') => readConfig({ policy_id: policyId, rollout: given });

const sampleOf = (percent: number, policyId: string, kind: 'canary' | 'shadow' = 'canary'): Set<string> => {
  const config = rollout({ [kind]: { enabled: true, sample_percent: percent } }, policyId);
  const names = Array.from({ length: SUBJECTS }, (_, i) => `user-${i}`);
  const inside = kind === 'canary' ? standings.canary : standings.shadow;
  return new Set(names.filter((name) => standingOf(config, who(name), false) === inside));
};

t.test('D22 a canary at 10 % hits 10 % ± 1 of 10,000 subjects, always the same ones', async (t) => {
  for (const policyId of ['default', 'gw', 'pol_x', 'größer']) {
    const sample = sampleOf(10, policyId);
    t.ok(sample.size >= SUBJECTS * 0.09 && sample.size <= SUBJECTS * 0.11, `${policyId}: ${sample.size}`);
    t.strictSame(sampleOf(10, policyId), sample);
  }
});

t.test('D22 whoever is in a sample stays in it when it grows; another policy draws others', async (t) => {
  const [ten, twenty] = [sampleOf(10, 'gw'), sampleOf(20, 'gw')];
  t.ok([...ten].every((name) => twenty.has(name)));
  const other = sampleOf(10, 'gx');
  const both = [...ten].filter((name) => other.has(name)).length;
  t.ok(both < ten.size / 4, `${both} of ${ten.size} are in both`);
  t.equal(sampleOf(0, 'gw').size, 0);
  t.equal(sampleOf(100, 'gw').size, SUBJECTS);
  t.strictSame(sampleOf(10, 'gw', 'shadow'), ten, 'a shadow draws as a canary does');
});

t.test('D22 a hundredth of a percent is one bucket of ten thousand', async (t) => {
  const name = Array.from({ length: 100_000 }, (_, i) => `u${i}`).find((one) => bucketOf('gw', one) === 6)!;
  const at = (percent: number) =>
    standingOf(rollout({ canary: { enabled: true, sample_percent: percent } }), who(name), false);
  t.equal(at(0.06), standings.canaryOutside);
  t.equal(at(0.07), standings.canary);
});

t.test('D22 rollback comes before canary, canary before shadow', async (t) => {
  const on = { enabled: true };
  const of = (given: object, rolledBack = false) => standingOf(rollout(given), who('a'), rolledBack);
  t.equal(of({}), standings.enforced);
  t.equal(of({ shadow: on }), standings.shadow);
  t.equal(of({ shadow: { ...on, sample_percent: 0 } }), standings.shadowOutside);
  t.equal(of({ shadow: on, canary: on }), standings.canary);
  t.equal(of({ shadow: on, canary: { ...on, sample_percent: 0 } }), standings.canaryOutside);
  t.equal(of({ shadow: on, canary: on, rollback_on_spike: true }, true), standings.rollback);
  t.equal(of({ rollback_on_spike: true }, true), standings.rollback);
  t.equal(of({}, true), standings.enforced, 'a rollback ends with the wish for one');
});

t.test('D22 targets are a policy target, a project or a model; none means all', async (t) => {
  const of = (targets: string[], subject: Partial<Subject>) =>
    standingOf(rollout({ canary: { enabled: true, targets } }), who('a', subject), false);
  t.equal(of([], {}), standings.canary);
  t.equal(of(['chat'], { target: 'chat' }), standings.canary);
  t.equal(of(['proj_app'], {}), standings.canary);
  t.equal(of(['sim-small'], {}), standings.canary);
  t.equal(of(['chat', 'proj_b'], { target: 'search' }), standings.canaryOutside);
  t.equal(of(['chat'], { projectId: null, model: null }), standings.canaryOutside);
  const shadow = rollout({ shadow: { enabled: true, targets: ['chat'] } });
  t.equal(standingOf(shadow, who('a'), false), standings.shadowOutside);
  t.equal(standingOf(shadow, who('a', { target: 'chat' }), false), standings.shadow);
});

t.test('D20 a simulation stands as somebody inside every sample', async (t) => {
  const none = { enabled: true, sample_percent: 0, targets: ['nobody'] };
  t.equal(sampledStanding(rollout({}), false), standings.enforced);
  t.equal(sampledStanding(rollout({ shadow: none }), false), standings.shadow);
  t.equal(sampledStanding(rollout({ shadow: none, canary: none }), false), standings.canary);
  t.equal(sampledStanding(rollout({ canary: none, rollback_on_spike: true }), true), standings.rollback);
});

t.test(
  'D24 quotas: of the user while they are on, of the project always, none where there is no bound',
  async (t) => {
    const holder = { user: 'ann', projectId: 'proj_app', keyId: 'key_1' };
    const quotas = (
      controls: object,
      more: Partial<typeof holder> | { user: null } | { projectId: null } = {},
    ) => {
      const specs = quotasOf(readConfig({ org_controls: controls }), { ...holder, ...more });
      return specs satisfies readonly Quota[]; // what the limiter takes
    };
    const quota = { requests: 10, tokens: 500, window: 'weekly' };
    const ann = { subject: 'user', id: 'ann', window: 'weekly', requests: 10, tokens: 500 };
    const app = { subject: 'project', id: 'proj_app', window: 'weekly', requests: 10, tokens: 500 };
    t.strictSame(quotas({}), []);
    t.strictSame(quotas({ user_quota: quota }), [], 'user_quotas is off');
    t.strictSame(quotas({ user_quotas: true, user_quota: quota }), [ann]);
    t.strictSame(quotas({ user_quotas: true, user_quota: quota }, { user: null }), [{ ...ann, id: 'key_1' }]);
    t.strictSame(quotas({ project_quota: quota }), [app]);
    t.strictSame(quotas({ project_quota: quota }, { projectId: null }), []);
    t.strictSame(quotas({ user_quotas: true, user_quota: quota, project_quota: quota }), [ann, app]);
    t.strictSame(quotas({ user_quotas: true, user_quota: { requests: 0, tokens: 7 } }), [
      { subject: 'user', id: 'ann', window: 'daily', requests: null, tokens: 7 },
    ]);
    t.strictSame(quotas({ project_quota: { requests: 3, window: 'monthly' } }), [
      { subject: 'project', id: 'proj_app', window: 'monthly', requests: 3, tokens: null },
    ]);
  },
);
