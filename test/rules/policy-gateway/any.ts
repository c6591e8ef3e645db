import fc from 'fast-check';
import { categories, type PolicyFinding } from '../../../src/core/review.js';
import { readConfig, type ModeWord } from '../../../src/rules/policy-gateway/config.js';
import type { Findings } from '../../../src/rules/policy-gateway/decide.js';
import { standings, type Standing } from '../../../src/rules/policy-gateway/rollout.js';

const modes = [
  'refuse',
  'block',
  'rewrite',
  'summary',
  'summarize',
  'escalate',
] as const satisfies ModeWord[];

const some = <T>(items: readonly T[], most = 4) => fc.array(fc.constantFrom(...items), { maxLength: most });

/** A configuration as somebody may write it: anything may be absent. */
export const anyConfigInput = fc.record(
  {
    policy_id: fc.constantFrom('gw', 'other'),
    rules: fc.record(
      {
        rewrite_instead_of_refuse: fc.boolean(),
        response_pattern: fc.constantFrom(...modes, 'whatever'),
        reason_codes: some(['ALLOW', 'REFUSE', 'REWRITE', 'SAFETY'], 3),
        flagged_categories: some(categories),
      },
      { requiredKeys: [] },
    ),
    rollout: fc.record(
      {
        shadow: fc.record({ enabled: fc.boolean(), sample_percent: fc.integer({ min: 0, max: 100 }) }),
        canary: fc.record({ enabled: fc.boolean(), sample_percent: fc.integer({ min: 0, max: 100 }) }),
        rollback_on_spike: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
    refusal_replacement: fc.record({ mode: fc.constantFrom(...modes) }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
);

export const anyConfig = anyConfigInput.map(readConfig);

export const anyCategories = some([...categories, 'weapons']);

const anyPolicy: fc.Arbitrary<PolicyFinding> = fc.record({
  id: fc.constantFrom('pol_a', 'pol_b', 'pol_c'),
  name: fc.constant('P'),
  version: fc.constantFrom(1, 2),
  mode: fc.constantFrom('monitoring', 'enforcing'),
  createdAt: fc.integer({ min: 1, max: 3 }),
  score: fc.constantFrom(0.1, 0.9),
  matched: fc.boolean(),
});

export const anyFindings: fc.Arbitrary<Findings> = fc.record({
  direction: fc.constantFrom('request', 'response'),
  categories: anyCategories,
  requestFlagged: some(categories, 2),
  denylist: some(['red', 'blue'], 3),
  allowlistMiss: fc.boolean(),
  allowlistHits: some(['green'], 2),
  policies: fc.array(anyPolicy, { maxLength: 3 }),
  redactions: fc.array(fc.record({ name: fc.constant('email'), count: fc.integer({ min: 1, max: 3 }) }), {
    maxLength: 1,
  }),
});

export const anyStanding: fc.Arbitrary<Standing> = fc.constantFrom(...Object.values(standings));
