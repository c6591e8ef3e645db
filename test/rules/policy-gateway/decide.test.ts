import t from 'tap';
import fc from 'fast-check';
import { covers, type Judgement, type PolicyFinding } from '../../../src/core/review.js';
import { readConfig } from '../../../src/rules/policy-gateway/config.js';
import {
  decide,
  noFindings,
  plainAllow,
  reasonCodeOf,
  severityOf,
  type Findings,
} from '../../../src/rules/policy-gateway/decide.js';
import { joinJudgements } from '../../../src/rules/policy-gateway/join.js';
import { standings, type Standing } from '../../../src/rules/policy-gateway/rollout.js';
import { anyConfig, anyFindings, anyStanding } from './any.js';

const found = (more: Partial<Findings>): Findings => ({ ...noFindings('request'), ...more });

const policy = (more: Partial<PolicyFinding> = {}): PolicyFinding => ({
  id: 'pol_a',
  name: 'A',
  version: 3,
  mode: 'enforcing',
  createdAt: 100,
  score: 0.9,
  matched: true,
  ...more,
});

const hate = { rules: { flagged_categories: ['hate'] } };
const withMode = (mode: string, more: object = {}) => ({
  policy_id: 'gw',
  rules: { flagged_categories: ['hate'], ...more },
  refusal_replacement: { mode },
});

interface Row {
  readonly says: string;
  readonly config: unknown;
  readonly findings: Partial<Findings>;
  readonly standing?: Standing;
  readonly judged: Partial<Judgement>;
}

const refused = { decision: 'refuse', effective: 'refuse', enforced: true, reasonCode: 'REFUSE' } as const;
const recorded = { decision: 'refuse', effective: 'allow', enforced: false } as const;

const rows: readonly Row[] = [
  {
    says: 'nothing found: allow',
    config: withMode('refuse'),
    findings: {},
    judged: { decision: 'allow', effective: 'allow', enforced: true, reasonCode: 'ALLOW', policyId: null },
  },
  {
    says: 'D20 a category nobody flagged: allow, and it is not triggered',
    config: {},
    findings: { categories: ['violence', 'hate'] },
    judged: { decision: 'allow', triggeredCategories: [], matches: [] },
  },
  ...(
    [
      ['refuse', 'refuse'],
      ['block', 'refuse'],
      ['rewrite', 'rewrite'],
      ['summary', 'summary'],
      ['summarize', 'summary'],
      ['escalate', 'escalate'],
    ] as const
  ).map(([mode, decision]): Row => ({
    says: `D20 a flagged category with mode ${mode}: ${decision}`,
    config: withMode(mode),
    findings: { categories: ['hate'] },
    judged: {
      decision,
      effective: decision,
      enforced: true,
      policyId: 'gw',
      triggeredCategories: ['hate'],
    },
  })),
  {
    says: 'D20 rewrite_instead_of_refuse turns refuse into rewrite',
    config: withMode('refuse', { rewrite_instead_of_refuse: true }),
    findings: { categories: ['hate'] },
    judged: { decision: 'rewrite', effective: 'rewrite', reasonCode: 'REWRITE' },
  },
  {
    says: 'D19 a parent covers its children',
    config: hate,
    findings: { categories: ['hate/threatening'] },
    judged: { decision: 'refuse', triggeredCategories: ['hate/threatening'] },
  },
  {
    says: 'D19 a child does not cover its parent, nor a name its namesake',
    config: { rules: { flagged_categories: ['hate/threatening', 'sexual'] } },
    findings: { categories: ['hate', 'sexualised'] },
    judged: { decision: 'allow' },
  },
  {
    says: 'D20 an always-blocked category is refused whatever the mode',
    config: withMode('rewrite', { rewrite_instead_of_refuse: true }),
    findings: { categories: ['self-harm/intent'] },
    judged: { ...refused, policyId: null, triggeredCategories: ['self-harm/intent'] },
  },
  ...[standings.shadow, standings.shadowOutside, standings.rollback, standings.canaryOutside].map(
    (standing): Row => ({
      says: `D18 always-blocked in ${standing.mode} (decides: ${standing.decides}): refused`,
      config: {},
      findings: { categories: ['sexual/minors'] },
      standing,
      judged: {
        ...refused,
        rolloutMode: standing.mode,
        policyId: null,
        matches: [{ kind: 'category', direction: 'request', name: 'sexual/minors', enforcing: true }],
      },
    }),
  ),
  ...Object.values(standings).map((standing): Row => ({
    says: `D18 the request's own flagged_categories in ${standing.mode} (decides: ${standing.decides}): refused`,
    config: withMode('summary'),
    findings: { categories: ['sexual'], requestFlagged: ['sexual'] },
    standing,
    judged: { ...refused, policyId: null, triggeredCategories: ['sexual'] },
  })),
  {
    says: 'D22 shadow: decided, recorded, not enforced',
    config: withMode('refuse'),
    findings: { categories: ['hate'] },
    standing: standings.shadow,
    judged: { ...recorded, rolloutMode: 'shadow', reasonCode: 'REFUSE', policyId: 'gw' },
  },
  {
    says: 'D22 outside the shadow sample nothing is decided',
    config: withMode('refuse'),
    findings: { categories: ['hate'], denylist: ['x'], allowlistMiss: true },
    standing: standings.shadowOutside,
    judged: { decision: 'allow', enforced: false, triggeredCategories: [], matches: [] },
  },
  {
    says: 'D22 inside the canary: enforced',
    config: withMode('refuse'),
    findings: { denylist: ['x'] },
    standing: standings.canary,
    judged: { ...refused, rolloutMode: 'canary' },
  },
  {
    says: 'D22 outside the canary: recorded, not enforced',
    config: withMode('refuse'),
    findings: { denylist: ['x'] },
    standing: standings.canaryOutside,
    judged: { ...recorded, rolloutMode: 'canary' },
  },
  {
    says: 'D22 rolled back: recorded, not enforced',
    config: withMode('refuse'),
    findings: { allowlistMiss: true },
    standing: standings.rollback,
    judged: { ...recorded, rolloutMode: 'rollback' },
  },
  {
    says: 'D19 a denied term fires the mode',
    config: withMode('escalate'),
    findings: { denylist: ['red', 'blue', 'red'] },
    judged: {
      decision: 'escalate',
      matches: ['red', 'blue'].map((name) => ({
        kind: 'denylist',
        direction: 'request',
        name,
        enforcing: true,
      })),
    },
  },
  {
    says: 'D19 a missed allowlist is refused whatever the mode',
    config: withMode('rewrite'),
    findings: { allowlistMiss: true },
    judged: { ...refused, policyId: 'gw' },
  },
  {
    says: 'an allowlist that was hit is listed and has no say',
    config: {},
    findings: { allowlistHits: ['billing'] },
    judged: {
      decision: 'allow',
      matches: [{ kind: 'allowlist', direction: 'request', name: 'billing', enforcing: false }],
    },
  },
  {
    says: 'D30 an enforcing policy refuses, also while the configuration is in shadow',
    config: withMode('rewrite'),
    findings: { policies: [policy()], categories: ['hate'] },
    standing: standings.shadow,
    judged: { ...refused, policyId: 'pol_a', rolloutMode: 'shadow' },
  },
  {
    says: 'D30 a monitoring policy is only recorded',
    config: {},
    findings: { policies: [policy({ mode: 'monitoring' })] },
    judged: {
      decision: 'allow',
      effective: 'allow',
      policyId: null,
      matches: [
        {
          kind: 'policy',
          direction: 'request',
          name: 'pol_a',
          score: 0.9,
          policyName: 'A',
          policyVersion: 3,
          enforcing: false,
        },
      ],
    },
  },
  {
    says: 'a policy that did not match is not listed',
    config: {},
    findings: { policies: [policy({ matched: false })] },
    judged: { decision: 'allow', matches: [] },
  },
  {
    says: 'D31 of two policies the older one decides',
    config: {},
    findings: { policies: [policy({ id: 'pol_b', createdAt: 200 }), policy({ createdAt: 100 })] },
    judged: { ...refused, policyId: 'pol_a' },
  },
  {
    says: 'D31 always-blocked comes before policies, and these before the configuration',
    config: withMode('refuse'),
    findings: { policies: [policy()], categories: ['hate', 'self-harm'], denylist: ['x'] },
    judged: { ...refused, policyId: null, triggeredCategories: ['hate', 'self-harm'] },
  },
  {
    says: 'D31 a policy outranks the configuration with the same decision',
    config: withMode('refuse'),
    findings: { policies: [policy()], denylist: ['x'] },
    judged: { ...refused, policyId: 'pol_a' },
  },
  {
    says: 'D18 the most severe decision of the configuration wins',
    config: withMode('summary'),
    findings: { categories: ['hate'], allowlistMiss: true },
    judged: { ...refused },
  },
  {
    says: 'D19 what is masked is counted and allowed',
    config: { rules: { redact: true } },
    findings: {
      redactions: [
        { name: 'email', count: 2 },
        { name: 'iban', count: 1 },
      ],
    },
    judged: { decision: 'allow', redactions: 3, enforced: true },
  },
  {
    says: 'D22 in shadow nothing is masked, and what would be is listed',
    config: { rules: { redact: true } },
    findings: { redactions: [{ name: 'email', count: 2 }] },
    standing: standings.shadow,
    judged: {
      redactions: 0,
      matches: [{ kind: 'redaction', direction: 'request', name: 'email', enforcing: false }],
    },
  },
  {
    says: 'D21 reason codes: the first listed one that is not ALLOW stands for what is not listed',
    config: { rules: { denylist: ['x'], reason_codes: ['ALLOW', 'SAFETY', 'OTHER'] } },
    findings: { denylist: ['x'] },
    judged: { decision: 'refuse', reasonCode: 'SAFETY' },
  },
  {
    says: 'scores go with their categories',
    config: hate,
    findings: { categories: ['hate'], scores: new Map([['hate', 0.75]]) },
    judged: {
      matches: [{ kind: 'category', direction: 'request', name: 'hate', score: 0.75, enforcing: true }],
    },
  },
];

for (const { says, config, findings, standing = standings.enforced, judged } of rows) {
  t.test(says, async (t) => {
    const judgement = decide(readConfig(config), found(findings), standing);
    for (const [field, value] of Object.entries(judged))
      t.strictSame(judgement[field as keyof Judgement], value, field);
    t.equal(judgement.rolloutMode, standing.mode);
  });
}

t.test('where nothing is found the answer is one shared value', async (t) => {
  const config = readConfig(hate);
  for (const standing of Object.values(standings))
    for (const direction of ['request', 'response'] as const) {
      const allow = decide(config, noFindings(direction), standing);
      t.equal(allow, decide(config, { ...noFindings(direction), categories: ['violence'] }, standing));
      t.equal(allow, plainAllow(direction, standing));
      t.ok(Object.isFrozen(allow));
      t.match(allow, {
        direction,
        decision: 'allow',
        rolloutMode: standing.mode,
        enforced: standing.enforces,
      });
    }
});

t.test('D21 every row of the reason codes', async (t) => {
  const with_ = (...codes: string[]) => readConfig({ rules: { reason_codes: codes } });
  t.equal(reasonCodeOf(with_(), 'REFUSE'), 'REFUSE');
  t.equal(reasonCodeOf(with_('REFUSE', 'X'), 'REFUSE'), 'REFUSE');
  t.equal(reasonCodeOf(with_('ALLOW', 'X'), 'REFUSE'), 'X');
  t.equal(reasonCodeOf(with_('ALLOW'), 'REFUSE'), 'REFUSE', 'a refusal is never called ALLOW');
  t.equal(reasonCodeOf(with_('X'), 'ALLOW'), 'ALLOW');
  t.equal(reasonCodeOf(with_('X'), 'USER_QUOTA_EXCEEDED'), 'X');
  t.equal(
    reasonCodeOf(with_('PROJECT_QUOTA_EXCEEDED', 'X'), 'PROJECT_QUOTA_EXCEEDED'),
    'PROJECT_QUOTA_EXCEEDED',
  );
});

t.test('D31 the most severe says what happens, and what is not enforced changes nothing', async (t) => {
  fc.assert(
    fc.property(anyConfig, anyFindings, anyStanding, (config, findings, standing) => {
      const judgement = decide(config, findings, standing);
      const always = findings.categories.some(
        (one) => covers(['self-harm', 'sexual/minors'], one) || covers(findings.requestFlagged, one),
      );
      const hit = findings.policies.some(({ matched, mode }) => matched && mode === 'enforcing');
      if (always || hit) t.equal(judgement.effective, 'refuse');
      else if (!standing.enforces) t.equal(judgement.effective, 'allow');
      else t.equal(judgement.effective, judgement.decision);
      if (judgement.candidate !== null)
        t.ok(severityOf(judgement.decision) >= severityOf(judgement.candidate), 'nothing is softened');
      t.equal(judgement.decision === 'allow', judgement.reasonCode === 'ALLOW');
      t.ok(judgement.triggeredCategories.every((one) => findings.categories.includes(one)));
      t.strictSame(decide(config, findings, standing), judgement, 'the same every time');
    }),
    { numRuns: 2_000 },
  );
});

t.test(
  'both sides of an exchange make one judgement: the more severe one, with all that matched',
  async (t) => {
    const config = readConfig(withMode('rewrite'));
    const request = decide(config, found({ denylist: ['x'] }), standings.enforced);
    const clean = decide(config, noFindings('response'), standings.enforced);
    const answer = decide(
      config,
      { ...noFindings('response'), categories: ['self-harm'], redactions: [{ name: 'email', count: 1 }] },
      standings.enforced,
    );
    t.equal(joinJudgements(request, clean), request);
    t.match(joinJudgements(clean, request), { direction: 'request', decision: 'rewrite' });
    t.match(joinJudgements(request, answer), {
      decision: 'refuse',
      direction: 'response',
      triggeredCategories: ['self-harm'],
      redactions: 1,
      candidate: 'rewrite',
    });
    t.equal(joinJudgements(request, answer).matches.length, 3);
    const again = decide(config, { ...noFindings('response'), denylist: ['y'] }, standings.enforced);
    t.equal(joinJudgements(request, again).direction, 'request', 'of equals the earlier stands');
  },
);
