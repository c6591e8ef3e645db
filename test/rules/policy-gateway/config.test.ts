import fc from 'fast-check';
import t from 'tap';
import type { GatewayError } from '../../../src/core/errors.js';
import { defaultConfig, modeOf, readConfig } from '../../../src/rules/policy-gateway/config.js';

const faultOf = (input: unknown): GatewayError | null => {
  try {
    readConfig(input);
    return null;
  } catch (error) {
    return error as GatewayError;
  }
};

/** `rules.denylist`, x -> { rules: { denylist: x } }. */
const at = (path: string, value: unknown): Record<string, unknown> => {
  const [head = '', ...rest] = path.split('.');
  return { [head]: rest.length === 0 ? value : at(rest.join('.'), value) };
};

const read = (input: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((node, key) => (node as Record<string, unknown>)[key], readConfig(input));

t.test('D17 an empty configuration has every documented default', async (t) => {
  t.strictSame(defaultConfig, {
    policy_id: 'default',
    name: '',
    owner: '',
    description: '',
    rules: {
      allowlist: [],
      denylist: [],
      redact: false,
      rewrite_instead_of_refuse: false,
      response_pattern: '',
      reason_codes: [],
      flagged_categories: [],
    },
    org_controls: {
      project_keys: false,
      user_quotas: false,
      audit_logs: false,
      data_classification: '',
      user_quota: { requests: 0, tokens: 0, window: 'daily' },
      project_quota: { requests: 0, tokens: 0, window: 'daily' },
    },
    rollout: {
      shadow: { enabled: false, sample_percent: 100, targets: [] },
      canary: { enabled: false, sample_percent: 100, targets: [] },
      rollback_on_spike: false,
      rollback_threshold: 0.25,
      rollback_min_requests: 20,
      rollback_window_minutes: 15,
      rollback_cooldown_minutes: 30,
      rollback_decisions: ['refuse', 'escalate'],
    },
    refusal_replacement: { mode: 'refuse', escalation_path: '' },
  });
});

const pair = '\u{1f600}'; // one character, two units of UTF-16
const long = (length: number): string => 'x'.repeat(length);
const terms = (count: number): string[] => Array.from({ length: count }, (_, i) => `term ${i}`);
const noText = [1, true, null, {}, []];
const noFlag = [1, 'true', null, {}, []];
const noWords = ['a', 1, null, {}];

/** Every row of table 2.7: what it takes, at its edges too, and what it does not; of a bad item the place is told. */
const fields: Readonly<
  Record<string, { readonly good: readonly unknown[]; readonly bad: readonly unknown[] }>
> = {
  policy_id: {
    good: ['p', long(200), pair.repeat(200)],
    bad: ['', '  ', long(201), pair.repeat(201), ...noText],
  },
  name: { good: ['', 'n'], bad: [long(201), ...noText] },
  owner: { good: ['o'], bad: noText },
  description: { good: ['', long(10_000)], bad: [long(10_001), ...noText] },
  rules: { good: [{}], bad: [[], 'x', 1, null, true] },
  'rules.allowlist': { good: [[], ['a', 'b c'], [long(200)], [pair.repeat(200)]], bad: noWords },
  'rules.denylist': { good: [terms(100_000)], bad: [terms(100_001), ...noWords] },
  'rules.redact': { good: [true], bad: noFlag },
  'rules.rewrite_instead_of_refuse': { good: [true], bad: noFlag },
  'rules.response_pattern': { good: ['', 'summary', 'safe_completion'], bad: [long(201), ...noText] },
  'rules.reason_codes': { good: [['A', 'größer']], bad: [terms(101), ...noWords] },
  'rules.flagged_categories': { good: [[], ['hate', 'self-harm/intent']], bad: noWords },
  org_controls: { good: [{}], bad: [[], 'x', null] },
  'org_controls.project_keys': { good: [true], bad: noFlag },
  'org_controls.user_quotas': { good: [true], bad: noFlag },
  'org_controls.audit_logs': { good: [true], bad: noFlag },
  'org_controls.data_classification': { good: ['internal'], bad: noText },
  'org_controls.user_quota': { good: [{ requests: 1, tokens: 2, window: 'weekly' }], bad: [[], 1, null] },
  'org_controls.user_quota.requests': { good: [0, 5], bad: [-1, 1.5, '1', null, {}] },
  'org_controls.user_quota.tokens': { good: [0, 2 ** 40], bad: [-1, 0.1, '1'] },
  'org_controls.project_quota.window': { good: ['daily', 'weekly', 'monthly'], bad: ['hourly', '', 1, null] },
  rollout: { good: [{}], bad: [[], null] },
  'rollout.shadow': { good: [{ enabled: true }], bad: [[], true] },
  'rollout.shadow.enabled': { good: [true], bad: noFlag },
  'rollout.shadow.sample_percent': { good: [0, 0.01, 100], bad: [-0.1, 100.1, '10', null] },
  'rollout.canary.sample_percent': { good: [12.5], bad: [101] },
  'rollout.canary.targets': { good: [['chat', 'proj_app']], bad: [terms(1_001), ...noWords] },
  'rollout.rollback_on_spike': { good: [true], bad: noFlag },
  'rollout.rollback_threshold': { good: [0, 1], bad: [-0.1, 1.1, '0.5'] },
  'rollout.rollback_min_requests': { good: [1], bad: [0, 1.5] },
  'rollout.rollback_window_minutes': { good: [1, 1_440], bad: [0, 1_441, 1.5] },
  'rollout.rollback_cooldown_minutes': { good: [0, 0.05, 10_080], bad: [-1, 10_081] },
  'rollout.rollback_decisions': { good: [[], ['rewrite']], bad: noWords },
  'refusal_replacement.mode': {
    good: ['refuse', 'block', 'rewrite', 'summary', 'summarize', 'escalate'],
    bad: ['allow', 'Refuse', '', 'constructor', 1, null],
  },
  'refusal_replacement.escalation_path': { good: ['#help', long(2_000)], bad: [long(2_001), ...noText] },
};

t.test('2.7 every field takes its bounds and nothing beyond them, and a 422 names it', async (t) => {
  for (const [path, { good, bad }] of Object.entries(fields)) {
    for (const value of good)
      t.match(read(at(path, value), path), value, `${path} takes ${JSON.stringify(value).slice(0, 60)}`);
    for (const value of bad) {
      const fault = faultOf(at(path, value));
      t.match(
        fault,
        { status: 422, code: 'invalid_parameter', param: path },
        `${path} refuses ${JSON.stringify(value).slice(0, 60)}`,
      );
    }
  }
});

t.test('2.7 a 422 names the item of a list', async (t) => {
  const bad: Readonly<Record<string, unknown>> = {
    'rules.denylist.2': { rules: { denylist: ['a', 'b', long(201)] } },
    'rules.allowlist.0': { rules: { allowlist: [''] } },
    'rules.allowlist.1': { rules: { allowlist: ['a', ' \n'] } },
    'rules.denylist.1': { rules: { denylist: ['a', 7] } },
    'rules.flagged_categories.1': { rules: { flagged_categories: ['hate', 'weapons'] } },
    'rollout.canary.targets.0': { rollout: { canary: { targets: [{}] } } },
    'rollout.rollback_decisions.0': { rollout: { rollback_decisions: ['deny'] } },
  };
  for (const [param, input] of Object.entries(bad)) t.equal(faultOf(input)?.param, param);
  for (const input of [[], null, 'x', 1]) t.equal(faultOf(input)?.param, 'config');
});

t.test('a 422 does not repeat what was sent', async (t) => {
  for (const input of [at('rules.redact', 'hush'), at('refusal_replacement.mode', 'hush'), 'hush'])
    t.notMatch(faultOf(input)?.message, /hush/);
});

t.test('D17 unknown keys are kept at every level, and reading twice changes nothing', async (t) => {
  const extra = fc.record({ x_note: fc.jsonValue(), 'x-more': fc.jsonValue() }, { requiredKeys: [] });
  const flag = fc.boolean();
  const list = fc.array(
    fc.string({ minLength: 1 }).filter((text) => /\S/.test(text)),
    { maxLength: 4 },
  );
  const any = fc.tuple(extra, extra, extra, extra, extra, flag, list, fc.integer({ min: 0, max: 100 }));
  fc.assert(
    fc.property(any, ([top, rules, controls, quota, sample, redact, denylist, percent]) => {
      const input = {
        ...top,
        rules: { ...rules, redact, denylist },
        org_controls: { ...controls, user_quota: { ...quota, requests: percent } },
        rollout: { canary: { ...sample, sample_percent: percent } },
        refusal_replacement: { ...rules },
      };
      const config = readConfig(input);
      t.match(JSON.parse(JSON.stringify(config)), JSON.parse(JSON.stringify(input)));
      t.strictSame(readConfig(JSON.parse(JSON.stringify(config))), config);
    }),
    { numRuns: 200 },
  );
});

t.test('what was read is nobody else’s to change', async (t) => {
  const input = { rules: { denylist: ['a'] } };
  const config = readConfig(input);
  input.rules.denylist.push('b');
  t.same(config.rules.denylist, ['a']);
});

t.test(
  'D18 refusal_replacement.mode wins over response_pattern; other words there mean refuse',
  async (t) => {
    const modeWith = (pattern: string | undefined, mode?: string, rewrite = false) =>
      modeOf(
        readConfig({
          rules: {
            ...(pattern !== undefined && { response_pattern: pattern }),
            rewrite_instead_of_refuse: rewrite,
          },
          refusal_replacement: { ...(mode !== undefined && { mode }) },
        }),
      );
    t.equal(modeWith(undefined), 'refuse');
    t.equal(modeWith('summarize'), 'summary');
    t.equal(modeWith('block'), 'refuse');
    t.equal(modeWith('^.*$'), 'refuse');
    t.equal(modeWith('summarize', 'escalate'), 'escalate');
    t.equal(modeWith('rewrite', 'block'), 'refuse');
    t.equal(modeWith(undefined, 'block', true), 'rewrite', 'rewrite_instead_of_refuse turns a refusal');
    t.equal(modeWith(undefined, 'escalate', true), 'escalate', 'and nothing else');
    t.equal(readConfig({ rules: { response_pattern: 'summary' } }).refusal_replacement.mode, 'summary');
  },
);
