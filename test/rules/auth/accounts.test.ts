import t from 'tap';
import { AlsoRefused } from '../../../src/io/records/join.js';
import { addCredits, recordPayment } from '../../../src/rules/auth/credits.js';
import { getFunds } from '../../../src/rules/auth/funds.js';
import { CREDIT_ENTRIES, paymentsOf } from '../../../src/rules/auth/layout.js';
import {
  createOrganization,
  findOrganization,
  getOrganization,
  listOrganizations,
  setOrganization,
} from '../../../src/rules/auth/organizations.js';
import { createProject, listProjects } from '../../../src/rules/auth/projects.js';
import { GLOBAL, type Step } from '../../../src/io/records/records.js';
import { inMemory, refusalOf, stores } from './setting.js';

for (const [store, open] of Object.entries(stores)) {
  t.test(`organizations are created, read, listed and changed (${store})`, async (t) => {
    const { accounts } = await open(t);
    const made = await createOrganization(accounts, { id: 'org_a', name: 'A', plan: 'growth', credits: 500 });
    t.same(made, { id: 'org_a', name: 'A', plan: 'growth', lifetimePaidUsd: 0, metered: true });
    t.same(await getOrganization(accounts, 'org_a'), made);
    t.match(await getFunds(accounts, 'org_a'), { granted: 500, epoch: 0 });
    t.same(
      (await listOrganizations(accounts, { limit: 10 })).items.map(({ id }) => id),
      ['org_a', 'org_demo'],
    );
    await setOrganization(accounts, 'org_a', { plan: 'scale' });
    t.match(await getOrganization(accounts, 'org_a'), { name: 'A', plan: 'scale', metered: true });
    await setOrganization(accounts, 'org_a', { credits: null });
    t.equal((await getOrganization(accounts, 'org_a')).metered, false);
    await setOrganization(accounts, 'org_a', { credits: 7 });
    t.equal((await getOrganization(accounts, 'org_a')).metered, true);
    t.match(await getFunds(accounts, 'org_a'), { granted: 7, epoch: 1 });
  });

  t.test(`credits and payments added at once all count, each with an entry (${store})`, async (t) => {
    const { accounts, records } = await open(t);
    await setOrganization(accounts, 'org_demo', { credits: 0 });
    await Promise.all([
      ...Array.from({ length: 10 }, (_, i) => addCredits(accounts, 'org_demo', i + 1, 'gift')),
      ...Array.from({ length: 10 }, () => recordPayment(accounts, 'org_demo', 0.1)),
    ]);
    t.equal((await getFunds(accounts, 'org_demo'))?.granted, 55);
    t.equal((await getOrganization(accounts, 'org_demo')).lifetimePaidUsd, 1);
    const entries = await records.list('org_demo', CREDIT_ENTRIES, { limit: 100 });
    t.equal(
      entries.items.reduce((sum, { value }) => sum + Number(value['amount']), 0),
      55,
    );
    t.equal((await records.list(GLOBAL, paymentsOf('org_demo'), { limit: 100 })).items.length, 10);
  });
}

t.test('an organization that exists, a reserved id and a bad id are refused', async (t) => {
  const { accounts } = await inMemory();
  t.equal(
    (await refusalOf(createOrganization(accounts, { id: 'org_demo', name: 'X' }))).code,
    'already_exists',
  );
  for (const id of ['org_anonymous', 'demo', 'org_', 'org_a/b', `org_${'a'.repeat(200)}`])
    t.equal((await refusalOf(createOrganization(accounts, { id, name: 'X' }))).param, 'id', id);
  for (const name of ['', '  ', 'x'.repeat(201)])
    t.equal((await refusalOf(createOrganization(accounts, { name }))).param, 'name');
  t.equal((await refusalOf(getOrganization(accounts, 'org_none'))).code, 'not_found');
  t.equal((await refusalOf(setOrganization(accounts, 'org_none', { name: 'x' }))).code, 'not_found');
});

t.test('amounts that are no amounts are refused and change nothing', async (t) => {
  const { accounts } = await inMemory();
  await setOrganization(accounts, 'org_demo', { credits: 10 });
  for (const amount of [0, 0.5, NaN, Infinity, Number.MAX_SAFE_INTEGER])
    t.equal((await refusalOf(addCredits(accounts, 'org_demo', amount, 'x'))).code, 'invalid_parameter');
  for (const usd of [0, -1, NaN, Infinity])
    t.equal((await refusalOf(recordPayment(accounts, 'org_demo', usd))).code, 'invalid_parameter');
  for (const lifetimePaidUsd of [-1, NaN])
    t.equal(
      (await refusalOf(setOrganization(accounts, 'org_demo', { lifetimePaidUsd }))).param,
      'lifetime_paid_usd',
    );
  t.equal((await getFunds(accounts, 'org_demo'))?.granted, 10);
  t.match(await addCredits(accounts, 'org_demo', -4, 'correction'), { amount: -4, reason: 'correction' });
  t.equal((await getFunds(accounts, 'org_demo'))?.granted, 6);
});

t.test('credits cannot be added to an organization that is not metered', async (t) => {
  const { accounts } = await inMemory();
  t.equal((await refusalOf(addCredits(accounts, 'org_demo', 5, 'x'))).code, 'invalid_parameter');
  t.equal(await getFunds(accounts, 'org_demo'), null);
});

t.test('D12 projects have the shape of OpenAI’s, and their number is bounded', async (t) => {
  const { accounts: wide } = await inMemory();
  const accounts = { ...wide, limits: { ...wide.limits, projects: 2 } };
  const project = await createProject(accounts, 'org_demo', { name: 'Second' });
  t.match(project, {
    object: 'organization.project',
    id: /^proj_/,
    name: 'Second',
    status: 'active',
    archived_at: null,
  });
  const { items } = await listProjects(accounts, 'org_demo', { limit: 10 });
  t.same(new Set(items.map(({ id }) => id)), new Set(['proj_app', project.id]));
  t.equal(
    (await refusalOf(createProject(accounts, 'org_demo', { name: 'Third' }))).code,
    'resource_limit_exceeded',
  );
  t.equal(
    (await refusalOf(createProject(wide, 'org_demo', { id: 'proj_app', name: 'X' }))).code,
    'already_exists',
  );
  t.equal((await refusalOf(createProject(wide, 'org_none', { name: 'X' }))).code, 'not_found');
});

t.test('D10 steps of the caller join the commit: all or nothing', async (t) => {
  const { accounts, records } = await inMemory();
  const note = (id: string): Step => ({
    op: 'put',
    collection: 'idempotency',
    id,
    value: { id },
    expect: 'absent',
  });
  await createOrganization(accounts, { id: 'org_x', name: 'X' }, { also: ({ id }) => [note(id)] });
  t.ok(await records.get(GLOBAL, 'idempotency', 'org_x'));
  const refused = await createOrganization(
    accounts,
    { id: 'org_y', name: 'Y' },
    { also: () => [note('org_x')] },
  ).then(
    () => null,
    (error: unknown) => error,
  );
  t.ok(refused instanceof AlsoRefused);
  t.match(refused, { refusal: { step: 0, reason: 'exists', current: { value: { id: 'org_x' } } } });
  t.equal(await findOrganization(accounts, 'org_y'), null);
});
