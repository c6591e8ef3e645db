import t from 'tap';
import {
  bootstrap,
  type BootstrapKey,
  type BootstrapOrganization,
} from '../../../src/rules/auth/bootstrap.js';
import { getFunds } from '../../../src/rules/auth/funds.js';
import { listAdminKeys, listProjectKeys } from '../../../src/rules/auth/keys.js';
import { getOrganization, setOrganization } from '../../../src/rules/auth/organizations.js';
import { revokeAdminKey } from '../../../src/rules/auth/revoke.js';
import { authenticatorFor, bearer, inMemory, refusalOf, stores, PEPPER } from './setting.js';

const GIVEN = 'my-own-secret-of-many-chars';

const organization = (over: Partial<BootstrapOrganization> = {}): BootstrapOrganization => ({
  id: 'org_boot',
  name: 'Boot',
  plan: 'growth',
  lifetimePaidUsd: 5,
  credits: 1_000,
  adminKeys: [{ name: 'root', value: 'generate', permissions: ['*'] }],
  projects: [{ id: 'proj_boot', name: 'Boot', keys: [{ name: 'app', value: GIVEN, models: ['*'] }] }],
  policies: [{ id: 'pol_1' }],
  gateway: { name: 'g' },
  ...over,
});

const withRoot = (value: string, name = 'root'): BootstrapOrganization => {
  const root: BootstrapKey = { name, value, permissions: ['*'] };
  return organization({ adminKeys: [root], projects: [] });
};

for (const [store, open] of Object.entries(stores)) {
  t.test(`D46 bootstrap creates what is absent, and a second run changes nothing (${store})`, async (t) => {
    const setting = await open(t);
    const { accounts } = setting;
    const first = await bootstrap(accounts, { organizations: [organization()] });
    t.match(first, {
      organizations: ['org_boot'],
      projects: ['proj_boot'],
      keys: [
        { kind: 'admin', name: 'root', outcome: 'created', secret: /^sk-sl-admin-/ },
        { kind: 'project', projectId: 'proj_boot', name: 'app', outcome: 'created', secret: null },
      ],
    });
    t.equal((await getFunds(accounts, 'org_boot'))?.granted, 1_000);
    const { authenticate } = authenticatorFor(t, setting);
    t.match(await authenticate(bearer(GIVEN)), { kind: 'project', projectId: 'proj_boot', models: null });
    t.match(await authenticate(bearer(first.keys[0]!.secret!, { rule: 'admin' })), {
      kind: 'admin',
      organization: { id: 'org_boot', plan: 'growth', lifetimePaidUsd: 5, metered: true },
    });

    await setOrganization(accounts, 'org_boot', { name: 'Renamed', credits: 3 });
    const second = await bootstrap(accounts, { organizations: [organization()] });
    t.match(second, {
      organizations: [],
      projects: [],
      keys: [{ outcome: 'kept', secret: null }, { outcome: 'kept' }],
    });
    t.same(
      second.keys.map(({ keyId }) => keyId),
      first.keys.map(({ keyId }) => keyId),
    );
    t.equal((await getOrganization(accounts, 'org_boot')).name, 'Renamed');
    t.equal((await getFunds(accounts, 'org_boot'))?.granted, 3);
  });

  t.test(`several replicas that start at once make each thing once (${store})`, async (t) => {
    const { accounts } = await open(t);
    const reports = await Promise.all(
      Array.from({ length: 6 }, () => bootstrap(accounts, { organizations: [organization()] })),
    );
    const keys = reports.flatMap((report) => report.keys);
    t.equal(reports.flatMap((report) => report.organizations).length, 1);
    t.equal(reports.flatMap((report) => report.projects).length, 1);
    t.equal(keys.filter(({ outcome }) => outcome === 'created').length, 2);
    t.equal(keys.filter(({ outcome }) => outcome === 'kept').length, 10);
    t.equal(keys.filter(({ secret }) => secret !== null).length, 1);
    t.equal((await listAdminKeys(accounts, 'org_boot', { limit: 9 })).items.length, 1);
    t.equal((await listProjectKeys(accounts, 'org_boot', 'proj_boot', { limit: 9 })).items.length, 1);
    t.equal((await getFunds(accounts, 'org_boot'))?.granted, 1_000);
  });

  t.test(`a revoked key does not come back, not even under another name (${store})`, async (t) => {
    const { accounts } = await open(t);
    for (const value of [GIVEN, 'generate']) {
      const name = `key-${value}`;
      const run = (called: string) => bootstrap(accounts, { organizations: [withRoot(value, called)] });
      const [made] = (await run(name)).keys;
      await revokeAdminKey(accounts, 'org_boot', made!.keyId, { by: null });
      t.match((await run(name)).keys, [{ outcome: 'revoked', secret: null, keyId: made!.keyId }]);
      if (value === GIVEN)
        t.match((await run('other-name')).keys, [{ outcome: 'revoked', keyId: made!.keyId }]);
    }
    t.same((await listAdminKeys(accounts, 'org_boot', { limit: 9 })).items, []);
  });
}

t.test('a changed value adds a key beside the old one and says so', async (t) => {
  const setting = await inMemory();
  const { accounts } = setting;
  const run = async (value: string) =>
    (await bootstrap(accounts, { organizations: [withRoot(value)] })).keys[0]!;
  const generated = await run('generate');
  const added = await run(GIVEN);
  t.match(added, { outcome: 'added', secret: null });
  t.not(added.keyId, generated.keyId);
  t.match(await run(GIVEN), { outcome: 'kept', keyId: added.keyId });
  t.match(await run('another-value-of-20-characters'), { outcome: 'added' });
  t.match(await run('generate'), { outcome: 'kept', keyId: generated.keyId });
  t.equal((await listAdminKeys(accounts, 'org_boot', { limit: 9 })).items.length, 3);
  const { authenticate } = authenticatorFor(t, setting);
  for (const secret of [generated.secret!, GIVEN, 'another-value-of-20-characters'])
    t.equal((await authenticate(bearer(secret, { rule: 'admin' }))).kind, 'admin');
});

t.test('a value that another key has already is left with it', async (t) => {
  const { accounts } = await inMemory();
  const twice = organization({
    adminKeys: [
      { name: 'one', value: GIVEN },
      { name: 'two', value: GIVEN },
    ],
    projects: [],
  });
  const { keys } = await bootstrap(accounts, { organizations: [twice] });
  t.match(keys, [{ outcome: 'created' }, { outcome: 'taken', keyId: keys[0]!.keyId }]);
  t.equal((await listAdminKeys(accounts, 'org_boot', { limit: 9 })).items.length, 1);
});

t.test(
  'D47 a value that could never be a key is an error that names the key and not the value',
  async (t) => {
    const { accounts } = await inMemory();
    const mistyped = `sk-sl-admin-${'A'.repeat(49)}`;
    for (const value of ['short', 'aaaaaaaaaaaa.bbbbbbbbbbbb.cccccccc', mistyped, `${'x'.repeat(30)} `]) {
      const error = await refusalOf(bootstrap(accounts, { organizations: [withRoot(value)] }));
      t.match(error.message, /bootstrap key "root"/);
      t.notOk(error.message.includes(value));
    }
  },
);

t.test('another pepper makes the given keys again and leaves the old ones unusable', async (t) => {
  const setting = await inMemory();
  await bootstrap(setting.accounts, { organizations: [withRoot(GIVEN)] });
  const pepper = Buffer.concat([PEPPER, PEPPER]);
  const { keys } = await bootstrap({ ...setting.accounts, pepper }, { organizations: [withRoot(GIVEN)] });
  t.match(keys, [{ outcome: 'added' }]);
  const { authenticate } = authenticatorFor(t, setting, { pepper });
  t.equal((await authenticate(bearer(GIVEN, { rule: 'admin' }))).keyId, keys[0]!.keyId);
});

t.test('an expiry in the past does not stop a start', async (t) => {
  const setting = await inMemory();
  const past = organization({ adminKeys: [{ name: 'old', value: GIVEN, expiresAtS: 1_000 }], projects: [] });
  await bootstrap(setting.accounts, { organizations: [past] });
  const { authenticate } = authenticatorFor(t, setting);
  t.equal((await refusalOf(authenticate(bearer(GIVEN, { rule: 'admin' })))).code, 'expired_api_key');
});

t.test('policies and the gateway configuration are handed on once their organization exists', async (t) => {
  const { accounts } = await inMemory();
  const seen: unknown[] = [];
  await bootstrap(accounts, {
    organizations: [organization()],
    seed: async ({ id, policies, gateway }) => {
      await getOrganization(accounts, id);
      seen.push({ policies, gateway });
    },
  });
  t.same(seen, [{ policies: [{ id: 'pol_1' }], gateway: { name: 'g' } }]);
});
