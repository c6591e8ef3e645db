import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { startRedis } from '../support/redis.js';
import { sluice, sluiceHere, type Finished } from './sluice.js';

/** A folder with a configuration; its store is made by the first command. */
function house(t: Test) {
  const folder = t.testdir({ 'gateway.yaml': 'version: 1\nstore: { path: ./store }\n' });
  const env = { SLUICE_CONFIG: join(folder, 'gateway.yaml') };
  return {
    folder,
    child: (...words: string[]): Promise<Finished> => sluice(words, { env }),
    here: (...words: string[]): Promise<Finished> => sluiceHere(words, { env }),
  };
}

const parse = (finished: Finished): unknown => {
  if (finished.code !== 0) throw new Error(finished.err);
  return JSON.parse(finished.out);
};

t.test('D45 organizations are made, changed and listed', async (t) => {
  const { child, here } = house(t);
  const made = await child(
    'orgs',
    'create',
    'Acme',
    '--id',
    'org_acme',
    '--credits',
    '500',
    '--project',
    'App',
    '--json',
  );
  t.match(parse(made), { id: 'org_acme', plan: 'free', credits: 500, metered: true, project_id: /^proj_/ });
  t.match(await here('orgs', 'create', 'Acme', '--id', 'org_acme'), { code: 1, err: /exists already/ });
  t.match(parse(await here('orgs', 'set', 'org_acme', '--plan', 'growth', '--credits', 'none', '--json')), {
    plan: 'growth',
    metered: false,
    credits: null,
  });
  t.match(parse(await here('orgs', 'create', 'Beta', '--json')), { id: /^org_/, metered: false });
  const { out } = await child('orgs', 'list');
  t.match(out, /^ID +NAME +PLAN +PAID USD +CREDITS\n/);
  t.match(out, /^org_acme +Acme +growth +0 +not metered$/m);
  t.match(await here('orgs', 'set', 'org_none', '--plan', 'free'), {
    code: 1,
    err: 'sluice: No such organization.\n',
  });
});

t.test('D45 keys are made, shown once, listed and revoked', async (t) => {
  const { folder, child, here } = house(t);
  const { project_id: project } = parse(
    await here('orgs', 'create', 'A', '--id', 'org_a', '--project', 'P', '--json'),
  ) as {
    project_id: string;
  };
  const admin = await child('keys', 'create', 'org_a', '--name', 'root');
  t.equal(admin.code, 0);
  t.match(admin.out, /^sk-sl-admin-[0-9A-Za-z]{49}\n$/, 'the key alone, fit for a pipe');
  t.match(admin.err, /^key_\w+: shown only this once\.\n$/);
  const made = parse(
    await child(
      'keys',
      'create',
      'org_a',
      project,
      '--name',
      'ci',
      '--permissions',
      'inference',
      '--models',
      'claude-*, sim-small',
      '--expires',
      '30d',
      '--credit-budget',
      '9',
      '--json',
    ),
  ) as { id: string; value: string; expires_at: number };
  t.match(made, {
    permissions: ['inference'],
    models: ['claude-*', 'sim-small'],
    credit_budget: 9,
    value: /^sk-sl-/,
  });
  t.ok(Math.abs(made.expires_at - (Date.now() / 1_000 + 30 * 86_400)) < 60);

  const listed = await here('keys', 'list', 'org_a');
  t.match(listed.out, new RegExp(`^${made.id} +${project} +ci +sk-sl-`, 'm'));
  t.match(listed.out, /^key_\w+ +admin +root +sk-sl-ad\.\.\./m);
  t.notMatch(listed.out, made.value, 'the list holds no secret');
  t.equal((parse(await here('keys', 'list', 'org_a', project, '--json')) as unknown[]).length, 1);

  t.match(await child('keys', 'revoke', 'org_a', made.id), { code: 0, out: `${made.id} (ci) is revoked.\n` });
  t.match(await here('keys', 'revoke', 'org_a', made.id), { code: 1, err: /no live key/ });
  t.strictSame(parse(await here('keys', 'list', 'org_a', project, '--json')), []);
  t.match(await here('keys', 'create', 'org_a', '--name', 'x', '--permissions', 'all'), {
    code: 2,
    err: /must be one of/,
  });
  t.match(await here('keys', 'create', 'org_a', '--name', 'x', '--expires', 'later'), {
    code: 2,
    err: /--expires must be/,
  });
  for (const name of readdirSync(join(folder, 'store')))
    t.notMatch(readFileSync(join(folder, 'store', name), 'latin1'), made.value, `no secret in ${name}`);
});

t.test('D45 credits are added and payments recorded', async (t) => {
  const { child, here } = house(t);
  await here('orgs', 'create', 'A', '--id', 'org_a', '--credits', '10');
  t.match(await child('credits', 'add', 'org_a', '5', '--reason', 'gift'), {
    code: 0,
    out: 'org_a has 15 credits.\n',
  });
  t.match(await here('credits', 'add', 'org_a', '--', '-7'), { code: 0, out: 'org_a has 8 credits.\n' });
  t.match(await here('credits', 'add', 'org_a', '0.5'), { code: 2, err: /whole number/ });
  t.strictSame(parse(await here('credits', 'payment', 'org_a', '19.99', '--json')), {
    organization_id: 'org_a',
    lifetime_paid_usd: 19.99,
  });
});

t.test('D45 a backup is a copy that opens, and never overwrites', async (t) => {
  const { folder, child, here } = house(t);
  await here('orgs', 'create', 'A', '--id', 'org_a');
  const to = join(folder, 'copy');
  t.match(await child('backup', to), { code: 0, out: /^The backup is in / });
  t.equal(statSync(to).mode & 0o777, 0o700);
  t.match(await here('backup', to), { code: 1, err: /exists already/ });
  const restored = join(folder, 'restored.yaml');
  writeFileSync(restored, `version: 1\nstore: { path: ./copy }\n`);
  t.match(await sluiceHere(['orgs', 'list', '--config', restored]), { out: /^org_a /m });

  await here('orgs', 'create', 'B', '--id', 'org_b');
  t.match(await here('restore', to), { code: 1, err: /There is a store in .* already/ });
  t.match(await child('restore', to, '--replace'), { code: 0, out: /^The store is as it was in .* is in / });
  const { out } = await here('orgs', 'list');
  t.match(out, /^org_a /m);
  t.notMatch(out, /^org_b /m);
});

t.test('D45 the same commands work on Redis', async (t) => {
  const redis = await startRedis();
  t.teardown(() => redis.stop());
  const pepper = 'p'.repeat(32);
  const folder = t.testdir({
    'gateway.yaml': `version: 1\nauth: { pepper: "\${PEPPER}" }\nstore: { kind: redis, redis: { url: "${redis.url}" } }\n`,
  });
  const env = { SLUICE_CONFIG: join(folder, 'gateway.yaml'), PEPPER: pepper };
  t.match(await sluice(['orgs', 'create', 'R', '--id', 'org_r'], { env }), { code: 0 });
  t.match(await sluiceHere(['orgs', 'list'], { env }), { code: 0, out: /^org_r /m });
  t.match(await sluiceHere(['backup', join(folder, 'copy.ndjson'), '--json'], { env }), {
    code: 0,
    out: /"keys": [1-9]/,
  });
  t.match(await sluiceHere(['restore', join(folder, 'copy.ndjson')], { env }), {
    code: 1,
    err: /is there already/,
  });
  await sluiceHere(['orgs', 'create', 'S', '--id', 'org_s'], { env });
  t.match(await sluiceHere(['restore', join(folder, 'copy.ndjson'), '--replace'], { env }), { code: 0 });
  await redis.stop();
  const gone = await sluiceHere(['orgs', 'list'], { env });
  t.match(gone, { code: 1, err: /^sluice: the store does not answer/ });
  t.notMatch(gone.err, pepper);
});
