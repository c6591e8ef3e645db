import t, { type Test } from 'tap';
import type { ConfigInput } from '../../src/config/schema.js';
import { runGateway, until } from '../support/gateway.js';
import { openStream, simulated, type OpenStream } from '../support/inference.js';

// Seed 8.2: what a key may, and the tokens an organization may in a day.
const tiers = [
  { name: 'free', plan: 'free', paid: 0, rpm: 60, tpm: 1_000_000, rpd: 10_000, tpd: 1_000_000_000 },
  { name: 'tier 1', plan: 'developer', paid: 20, rpm: 120, tpm: 2_000_000, rpd: 15_000, tpd: 2_000_000_000 },
  { name: 'tier 2', plan: 'growth', paid: 50, rpm: 300, tpm: 4_000_000, rpd: 25_000, tpd: 5_000_000_000 },
  { name: 'tier 3', plan: 'scale', paid: 200, rpm: 500, tpm: 6_000_000, rpd: 50_000, tpd: 10_000_000_000 },
  { name: 'tier 4', plan: null, paid: 1_000, rpm: 700, tpm: 8_000_000, rpd: 75_000, tpd: 20_000_000_000 },
  { name: 'tier 5', plan: null, paid: 5_000, rpm: 900, tpm: 10_000_000, rpd: 100_000, tpd: 50_000_000_000 },
] as const;

// Seed 8.3: requests at once of a key, a project, an organization.
const atOnce = [
  [4, 6, 8],
  [8, 10, 12],
  [12, 14, 16],
  [16, 16, 16],
  [32, 32, 32],
  [32, 32, 32],
] as const;

const scopes = ['key', 'project', 'organization'] as const;
const factors = { key: 1, project: 1.5, organization: 2 } as const;
const metrics = ['rpm', 'rpd', 'tpm', 'tpd', 'concurrent'] as const;
type Cell = { readonly scope: (typeof scopes)[number]; readonly metric: (typeof metrics)[number] };

/** An organization per tier, once by what it has paid and once by its plan. */
const members = tiers.flatMap((tier, index) => [
  { tier, index, id: `paid_${index}`, plan: 'free' as const, paid: tier.paid },
  ...(tier.plan === null ? [] : [{ tier, index, id: `plan_${index}`, plan: tier.plan, paid: 0 }]),
]);
const keyOf = (id: string): string => `sk-test-key-of-the-organization-${id}`;

/** Lifts every limit but one, so that the headers have nothing else to show. */
const liftAllBut = ({ scope, metric }: Cell): Partial<ConfigInput> => ({
  limits: {
    overrides: scopes.map((each) => ({
      scope: each,
      id: '*',
      ...Object.fromEntries(
        metrics
          .filter((other) => other !== 'tpd' || each === 'organization')
          .filter((other) => each !== scope || other !== metric)
          .map((other) => [other, null]),
      ),
    })),
  },
  bootstrap: {
    organizations: members.map(({ id, plan, paid }) => ({
      id: `org_${id}`,
      name: id,
      plan,
      lifetime_paid_usd: paid,
      projects: [{ id: `proj_${id}`, name: id, keys: [{ name: id, value: keyOf(id) }] }],
    })),
  },
});

const cells: readonly Cell[] = [
  ...scopes.flatMap((scope) => (['rpm', 'rpd', 'tpm'] as const).map((metric) => ({ scope, metric }))),
  { scope: 'organization', metric: 'tpd' },
];

for (const cell of cells) {
  t.test(`8.2 the ${cell.metric} of the ${cell.scope} is that of its tier`, async (t) => {
    const { post } = await runGateway(t, liftAllBut(cell));
    const what = cell.metric.startsWith('r') ? 'requests' : 'tokens';
    for (const { tier, id } of members) {
      const response = await post('/v1/messages', simulated('hi'), { authorization: `Bearer ${keyOf(id)}` });
      t.equal(response.status, 200);
      await response.arrayBuffer();
      const limit = cell.metric === 'tpd' ? tier.tpd : tier[cell.metric as 'rpm'] * factors[cell.scope];
      t.equal(response.headers.get(`x-ratelimit-limit-${what}`), String(limit), `${tier.name}, ${id}`);
      const remaining = Number(response.headers.get(`x-ratelimit-remaining-${what}`));
      if (what === 'requests') t.equal(remaining, limit - 1);
      else t.ok(remaining < limit && remaining > limit - 1_000, 'what was reserved is gone');
      t.equal(
        response.headers.get('x-ratelimit-limit-project-tokens'),
        cell.scope === 'project' && what === 'tokens' ? String(limit) : null,
        'the third triple is there where the tokens of the project bind',
      );
    }
  });
}

/** Holds as many streams as may be open, and shows that one more is refused. */
const fill = async (t: Test, url: string, key: string, most: number, where: string): Promise<void> => {
  const open: OpenStream[] = [];
  for (let i = 0; i < most; i++) open.push(await openStream(url, simulated('[[stall=1h]]'), { key }));
  t.ok(
    open.every(({ status }) => status === 200),
    `${most} at once`,
  );
  const refused = await openStream(url, simulated('hi'), { key });
  await refused.ended;
  t.equal(refused.status, 429);
  t.match(refused.text(), new RegExp(`concurrent requests of this ${where}, limit ${most}, used ${most}`));
  t.equal(refused.headers['retry-after'], '1');
  for (const stream of open) stream.leave();
  await until(async () => {
    const next = await openStream(url, simulated('hi'), { key });
    await next.ended;
    return next.status === 200;
  }, 'their places are free again');
};

for (const [column, scope] of scopes.entries()) {
  t.test(`8.3 the requests at once of the ${scope} are those of its tier`, async (t) => {
    const { url } = await runGateway(t, liftAllBut({ scope, metric: 'concurrent' }));
    const where = scope === 'key' ? 'API key' : scope;
    for (const { id, index } of members.filter((each) => each.id.startsWith('paid')))
      await fill(t, url, keyOf(id), atOnce[index]![column]!, where);
  });
}
