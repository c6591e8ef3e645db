import fc from 'fast-check';
import t from 'tap';
import { covers } from '../../../src/core/review.js';
import { decide, noFindings, type Findings } from '../../../src/rules/policy-gateway/decide.js';
import { readConfig } from '../../../src/rules/policy-gateway/config.js';
import { sampledStanding, standingOf } from '../../../src/rules/policy-gateway/rollout.js';
import { anyCategories, anyConfigInput, anyFindings } from '../../rules/policy-gateway/any.js';
import { openDesk } from './desk.js';

const gw = { policy_id: 'gw', rules: { flagged_categories: ['hate'] } };

const answer = (decision: string, triggered: readonly string[] = [], more: object = {}) => ({
  decision,
  reason_code: decision.toUpperCase(),
  triggered_categories: triggered,
  rollout_mode: 'enforced',
  policy_id: 'default',
  ...more,
});

t.test('D20 the answer has exactly the five fields of the contract', async (t) => {
  const desk = openDesk();
  t.strictSame(await desk.simulate({ config: gw, scenario: { categories: ['hate', 'violence'] } }), {
    kind: 'json',
    status: 200,
    headers: {},
    body: answer('refuse', ['hate'], { policy_id: 'gw' }),
  });
  t.strictSame((await desk.simulate({})).body, answer('allow'));
});

t.test('D20 config comes before policy, policy before what is stored', async (t) => {
  const desk = openDesk();
  await desk.save({ policy_id: 'stored', rules: { flagged_categories: ['violence'] } });
  const policy = { policy_id: 'policy', rules: { flagged_categories: ['sexual'] } };
  const scenario = { categories: ['hate', 'sexual', 'violence'] };
  t.match((await desk.simulate({ config: gw, policy, scenario })).body, {
    policy_id: 'gw',
    triggered_categories: ['hate'],
  });
  t.match((await desk.simulate({ policy, scenario })).body, {
    policy_id: 'policy',
    triggered_categories: ['sexual'],
  });
  t.match((await desk.simulate({ scenario })).body, {
    policy_id: 'stored',
    triggered_categories: ['violence'],
  });
  t.match((await desk.simulate({ scenario }, { organizationId: 'org_other' })).body, answer('allow'));
});

t.test('D20 the categories are those of the scenario, else the ones beside it', async (t) => {
  const desk = openDesk();
  const categories = ['hate'];
  t.match((await desk.simulate({ config: gw, categories })).body, { decision: 'refuse' });
  t.match((await desk.simulate({ config: gw, categories, scenario: {} })).body, { decision: 'refuse' });
  t.match((await desk.simulate({ config: gw, categories, scenario: { categories: [] } })).body, {
    decision: 'allow',
  });
});

t.test('D20 D22 every mode of a rollout shows, and always-blocked is refused in each', async (t) => {
  const rollouts: Readonly<Record<string, object>> = {
    enforced: {},
    shadow: { shadow: { enabled: true, sample_percent: 0 } },
    canary: { canary: { enabled: true, sample_percent: 0 }, shadow: { enabled: true } },
    rollback: { canary: { enabled: true }, rollback_on_spike: true },
  };
  for (const [mode, rollout] of Object.entries(rollouts)) {
    const desk = openDesk({
      isRolledBack: (org, policy) => mode === 'rollback' && org === 'org_test' && policy === 'gw',
    });
    const config = { ...gw, rollout, refusal_replacement: { mode: 'rewrite' } };
    t.match((await desk.simulate({ config, categories: ['hate'] })).body, {
      decision: 'rewrite',
      rollout_mode: mode,
    });
    t.match((await desk.simulate({ config, categories: ['self-harm/intent'] })).body, {
      decision: 'refuse',
      rollout_mode: mode,
      policy_id: 'gw',
    });
  }
});

t.test('D20 persist appends an event and never writes the configuration', async (t) => {
  const desk = openDesk();
  await desk.simulate({ config: gw, categories: ['hate'], persist: false });
  t.same(desk.recorded, []);
  await desk.simulate(
    { config: gw, categories: ['hate'], persist: true },
    { path: '/api/policy-gateway/simulate' },
  );
  t.match(desk.recorded, [
    {
      event_type: 'simulation',
      org_id: 'org_test',
      key_id: 'key_1',
      endpoint: '/api/policy-gateway/simulate',
      policy_id: 'gw',
      decision: 'refuse',
      effective_decision: 'allow',
      enforced: false,
      rollout_mode: 'enforced',
      reason_code: 'REFUSE',
      triggered_categories: ['hate'],
      direction: 'request',
      matches: [{ kind: 'category', name: 'hate' }],
    },
  ]);
  t.match((await desk.get()).body, { updated_at: null });
  const full = openDesk({ record: () => Promise.reject(new Error('no room')) });
  await t.rejects(full.simulate({ persist: true }), /no room/, 'an event that is lost is no success');
});

t.test('D10 a persisted simulation leaves one event per key; any other may be run again', async (t) => {
  const desk = openDesk();
  const headers = { 'idempotency-key': 'sim-1' };
  const asked = { categories: ['hate'], persist: true };
  const first = await desk.simulate(asked, { headers });
  t.equal(first.headers?.['idempotent-replayed'], undefined);
  await desk.save(gw);
  const again = await desk.simulate(asked, { headers });
  t.equal(again.headers?.['idempotent-replayed'], 'true');
  t.strictSame(again.body, first.body, 'even where it would be decided otherwise by now');
  t.equal(desk.recorded.length, 1);
  await t.rejects(desk.simulate({ ...asked, categories: [] }, { headers }), {
    code: 'idempotency_key_reuse',
  });
  await t.rejects(desk.save(gw, { headers }), { code: 'idempotency_key_reuse' }, 'of whatever door');

  const dry = await desk.simulate({ ...asked, persist: false }, { headers });
  t.equal(dry.headers?.['idempotent-replayed'], undefined);
  t.match(dry.body, { decision: 'refuse' });
});

t.test('D11 what is wrong with a simulation is named', async (t) => {
  const desk = openDesk();
  const cases: Readonly<Record<string, unknown>> = {
    scenario: { scenario: [] },
    'scenario.categories': { scenario: { categories: 'hate' } },
    'scenario.categories.1': { scenario: { categories: ['hate', 1] } },
    'scenario.direction': { scenario: { direction: 'both' } },
    'scenario.text': { scenario: { text: 1 } },
    categories: { categories: {} },
    persist: { persist: 'yes' },
    config: { config: 'gw' },
    policy: { policy: [] },
    body: [],
  };
  for (const [param, body] of Object.entries(cases))
    await t.rejects(desk.simulate(body), { status: 422, code: 'invalid_parameter', param }, param);
});

t.test('a text is read by every rule, and the answer says what matched where', async (t) => {
  const asked: unknown[] = [];
  const desk = openDesk({
    inspect: async (call, text, direction, config) => {
      asked.push([call.principal.projectId, text, direction, config.policy_id]);
      return {
        findings: {
          ...noFindings(direction),
          categories: ['hate'],
          scores: new Map([['hate', 0.8]]),
          denylist: ['red'],
          policies: [
            {
              id: 'pol_a',
              name: 'A',
              version: 2,
              mode: 'monitoring',
              createdAt: 1,
              score: 1,
              matched: true,
            },
          ],
        },
        places: [
          { kind: 'denylist', name: 'red', from: 0, to: 3 },
          { kind: 'denylist', name: 'red', from: 8, to: 11 },
        ],
      };
    },
  });
  const config = { ...gw, rollout: { shadow: { enabled: true } } };
  const { body } = await desk.simulate({ config, scenario: { text: 'red and red', direction: 'response' } });
  t.strictSame(asked, [['proj_app', 'red and red', 'response', 'gw']]);
  t.strictSame(body, {
    ...answer('refuse', ['hate'], { policy_id: 'gw', rollout_mode: 'shadow' }),
    effective_decision: 'allow',
    enforced: false,
    matches: [
      { kind: 'category', name: 'hate', enforcing: false, score: 0.8, places: [] },
      {
        kind: 'policy',
        name: 'pol_a',
        enforcing: false,
        score: 1,
        policy_name: 'A',
        policy_version: 2,
        places: [],
      },
      {
        kind: 'denylist',
        name: 'red',
        enforcing: false,
        places: [
          { from: 0, to: 3 },
          { from: 8, to: 11 },
        ],
      },
    ],
  });
  const given = await desk.simulate({ config, scenario: { text: 'red', categories: [] } });
  t.match(given.body, { triggered_categories: [] }, 'given categories stand for what the text would have');
});

t.test('D20 the door and the decision inline agree on any configuration and scenario', async (t) => {
  const desk = openDesk();
  await fc.assert(
    fc.asyncProperty(anyConfigInput, anyCategories, async (input, categories) => {
      const { body } = await desk.simulate({ config: input, scenario: { categories } });
      const config = readConfig(input);
      const findings = { ...noFindings('request'), categories };
      const inline = decide(config, findings, sampledStanding(config, false));
      t.strictSame(body, {
        decision: inline.decision,
        reason_code: inline.reasonCode,
        triggered_categories: inline.triggeredCategories,
        rollout_mode: inline.rolloutMode,
        policy_id: config.policy_id,
      });
      const somebody = { subject: 'ann', target: null, projectId: null, model: null };
      t.equal(standingOf(config, somebody, false).mode, inline.rolloutMode);
      const listed = [...config.rules.flagged_categories, 'self-harm', 'sexual/minors'];
      t.strictSame(
        inline.triggeredCategories,
        [...new Set(categories)].filter((one) => covers(listed, one)),
        'D20 triggered = given ∩ (flagged ∪ always blocked)',
      );
    }),
    { numRuns: 1_000 },
  );
});

t.test('D20 a text is judged as enforcement would judge what was found in it', async (t) => {
  let found: Findings = noFindings('request');
  const desk = openDesk({ inspect: async () => ({ findings: found, places: [] }) });
  await fc.assert(
    fc.asyncProperty(anyConfigInput, anyFindings, async (input, findings) => {
      found = findings;
      const { direction } = findings;
      const { body } = await desk.simulate({ config: input, scenario: { text: 'any', direction } });
      const config = readConfig(input);
      const inline = decide(config, findings, sampledStanding(config, false));
      t.match(body, {
        decision: inline.decision,
        effective_decision: inline.effective,
        enforced: inline.enforced,
        policy_id: inline.policyId ?? config.policy_id,
      });
      t.equal((body as { matches: unknown[] }).matches.length, inline.matches.length);
    }),
    { numRuns: 500 },
  );
});
