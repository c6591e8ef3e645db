import t from 'tap';
import type { Plan } from '../../../src/core/principal.js';
import { createOverrides } from '../../../src/rules/limits/overrides.js';
import { createTiers, loadTiers } from '../../../src/rules/limits/tiers.js';

const M = 1_000_000;
const B = 1_000_000_000;

// Seed 8.3, cell by cell: RPM, TPM, RPD of a key; concurrent of key, project, organization; TPD of the organization.
const table = [
  ['free', 60, 1 * M, 10_000, 4, 6, 8, 1 * B],
  ['tier_1', 120, 2 * M, 15_000, 8, 10, 12, 2 * B],
  ['tier_2', 300, 4 * M, 25_000, 12, 14, 16, 5 * B],
  ['tier_3', 500, 6 * M, 50_000, 16, 16, 16, 10 * B],
  ['tier_4', 700, 8 * M, 75_000, 32, 32, 32, 20 * B],
  ['tier_5', 900, 10 * M, 100_000, 32, 32, 32, 50 * B],
] as const;

t.test('8.3 every cell of the table', async (t) => {
  const { all, creditReads } = loadTiers();
  t.equal(all.length, table.length);
  for (const [i, [name, rpm, tpm, rpd, key, project, organization, tpd]] of table.entries()) {
    const tier = all[i]!;
    t.equal(tier.name, name);
    t.same(tier.limits.key, { rpm, rpd, tpm, tpd: null, concurrent: key }, `${name} key`);
    t.same(
      tier.limits.project,
      { rpm: rpm * 1.5, rpd: rpd * 1.5, tpm: tpm * 1.5, tpd: null, concurrent: project },
      `${name} project`,
    );
    t.same(
      tier.limits.organization,
      { rpm: rpm * 2, rpd: rpd * 2, tpm: tpm * 2, tpd, concurrent: organization },
      `${name} organization`,
    );
  }
  t.match(creditReads, { key: { rpm: 60, rpd: null }, organization: { rpm: 300, concurrent: null } });
});

t.test('8.2 the higher of plan and lifetime payments', async (t) => {
  const { tierOf } = loadTiers();
  const expected: readonly (readonly [Plan, number, string])[] = [
    ['free', 0, 'free'],
    ['free', 19.99, 'free'],
    ['free', 20, 'tier_1'],
    ['free', 50, 'tier_2'],
    ['free', 199.99, 'tier_2'],
    ['free', 200, 'tier_3'],
    ['free', 1_000, 'tier_4'],
    ['free', 5_000, 'tier_5'],
    ['free', 1e9, 'tier_5'],
    ['developer', 0, 'tier_1'],
    ['growth', 0, 'tier_2'],
    ['scale', 0, 'tier_3'],
    ['developer', 60, 'tier_2'],
    ['scale', 60, 'tier_3'],
    ['scale', 1_000, 'tier_4'],
  ];
  for (const [plan, lifetimePaidUsd, name] of expected)
    t.equal(tierOf({ plan, lifetimePaidUsd }).name, name, `${plan}, ${lifetimePaidUsd} USD`);
});

t.test('a table that is not sound is refused with the place of its fault', async (t) => {
  t.throws(() => createTiers({}));
  t.throws(() => loadTiers(new URL('./nowhere.yaml', import.meta.url)), /tiers is not sound/);
});

t.test('D46 the most specific override wins, null lifts, the rest stays', async (t) => {
  const { limits } = loadTiers().all[0]!;
  const of = createOverrides([
    { scope: 'organization', id: '*', rpm: 500, concurrent: 50 },
    { scope: 'organization', id: 'org_big', rpm: 5_000, tpd: null },
    { scope: 'key', id: 'key_x', rpm: null, rpd: 0, tpd: 7 },
  ]);
  t.same(of('organization', 'org_small', limits), { ...limits.organization, rpm: 500, concurrent: 50 });
  t.same(of('organization', 'org_big', limits), {
    ...limits.organization,
    rpm: 5_000,
    concurrent: 50,
    tpd: null,
  });
  t.same(of('key', 'key_x', limits), { ...limits.key, rpm: null, rpd: 0 }, 'tokens a day: organization only');
  t.equal(of('project', 'proj_a', limits), limits.project);
  t.equal(createOverrides([])('key', 'key_x', limits), limits.key);
});
