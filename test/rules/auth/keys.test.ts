import t from 'tap';
import type { Step } from '../../../src/io/records/records.js';
import {
  createAdminKey,
  createProjectKey,
  getAdminKey,
  getProjectKey,
  listAdminKeys,
  listProjectKeys,
} from '../../../src/rules/auth/keys.js';
import { revokeAdminKey, revokeProjectKey } from '../../../src/rules/auth/revoke.js';
import { inMemory, principalWith, refusalOf, stores } from './setting.js';

const operator = { by: null };

for (const [store, open] of Object.entries(stores)) {
  t.test(`2.6 a listed administrator key has the seed’s fields and no secret (${store})`, async (t) => {
    const { accounts, clock, records } = await open(t);
    const { key, secret } = await createAdminKey(accounts, 'org_demo', { name: 'root' }, operator);
    const nowS = clock.nowMs() / 1_000;
    const shown = {
      object: 'organization.admin_api_key',
      id: key.id,
      name: 'root',
      redacted_value: `${secret.slice(0, 8)}...${secret.slice(-4)}`,
      created_at: nowS,
      permissions: ['*'],
      owner: { id: 'org_demo', type: 'organization' },
    };
    t.strictSame(key, shown);
    t.strictSame((await listAdminKeys(accounts, 'org_demo', { limit: 20 })).items, [shown]);
    await records.noteUses('org_demo', new Map([[key.id, clock.nowMs() + 1_999]]));
    t.strictSame(await getAdminKey(accounts, 'org_demo', key.id), { ...shown, last_used_at: nowS + 1 });
  });

  t.test(`D12 a project key carries permissions, models, expiry and budget (${store})`, async (t) => {
    const { accounts, clock } = await open(t);
    const expiresAtS = clock.nowMs() / 1_000 + 60;
    const { key, secret } = await createProjectKey(
      accounts,
      'org_demo',
      'proj_app',
      { name: 'app', permissions: ['inference'], models: ['claude-*'], expiresAtS, creditBudget: 100 },
      operator,
    );
    t.match(secret, /^sk-sl-[0-9A-Za-z]{49}$/);
    t.match(key, {
      object: 'organization.project.api_key',
      owner: { id: 'proj_app', type: 'project' },
      permissions: ['inference'],
      models: ['claude-*'],
      credit_budget: 100,
      expires_at: expiresAtS,
    });
    t.strictSame(await getProjectKey(accounts, 'org_demo', 'proj_app', key.id), key);
    t.strictSame((await listProjectKeys(accounts, 'org_demo', 'proj_app', { limit: 5 })).items, [key]);
  });

  t.test(`a revoked key is listed no more, and revoking it again is 404 (${store})`, async (t) => {
    const { accounts } = await open(t);
    const { key } = await createProjectKey(accounts, 'org_demo', 'proj_app', { name: 'app' }, operator);
    await revokeProjectKey(accounts, 'org_demo', 'proj_app', key.id, operator);
    t.same((await listProjectKeys(accounts, 'org_demo', 'proj_app', { limit: 5 })).items, []);
    const again = revokeProjectKey(accounts, 'org_demo', 'proj_app', key.id, operator);
    t.equal((await refusalOf(again)).code, 'not_found');
  });

  t.test(
    `D14 the hundred-and-first administrator key is 409, also when made at once (${store})`,
    async (t) => {
      const { accounts: wide } = await open(t);
      const accounts = { ...wide, limits: { ...wide.limits, adminKeys: 5 } };
      const made = await Promise.allSettled(
        Array.from({ length: 8 }, () => createAdminKey(accounts, 'org_demo', { name: 'k' }, operator)),
      );
      t.equal(made.filter(({ status }) => status === 'fulfilled').length, 5);
      const { items } = await listAdminKeys(accounts, 'org_demo', { limit: 20 });
      t.equal(items.length, 5);
      const over = await refusalOf(createAdminKey(accounts, 'org_demo', { name: 'k' }, operator));
      t.match(over, { code: 'resource_limit_exceeded', status: 409 });
      await revokeAdminKey(accounts, 'org_demo', items[0]!.id, operator);
      await createAdminKey(accounts, 'org_demo', { name: 'k' }, operator);
    },
  );

  t.test(`the last key with * does not revoke itself without force (${store})`, async (t) => {
    const { accounts, clock } = await open(t);
    const make = async (name: string, permissions: string[], expiresAtS: number | null = null) =>
      (await createAdminKey(accounts, 'org_demo', { name, permissions, expiresAtS }, operator)).key.id;
    const root = await make('root', ['*']);
    await make('reader', ['policies.read']);
    await make('short', ['*'], clock.nowMs() / 1_000 + 10);
    clock.advance(11_000);
    const by = { ...principalWith('*'), keyId: root };
    t.match(await refusalOf(revokeAdminKey(accounts, 'org_demo', root, { by })), {
      code: 'last_admin_key',
      status: 409,
    });

    const second = await make('second', ['*']);
    const both = await Promise.allSettled([
      revokeAdminKey(accounts, 'org_demo', root, { by }),
      revokeAdminKey(accounts, 'org_demo', second, { by: { ...by, keyId: second } }),
    ]);
    t.equal(both.filter(({ status }) => status === 'fulfilled').length, 1, 'two that go at once leave one');
    const left = both[0].status === 'rejected' ? root : second;
    await revokeAdminKey(accounts, 'org_demo', left, { by: { ...by, keyId: left }, force: true });
    t.equal((await listAdminKeys(accounts, 'org_demo', { limit: 9 })).items.length, 2);
  });
}

t.test('no secret is kept: the store holds its digest only', async (t) => {
  const { accounts, records } = await inMemory();
  const { secret } = await createAdminKey(accounts, 'org_demo', { name: 'root' }, operator);
  t.notOk(records.dump().includes(secret.slice(8, -4)));
});

t.test('D4 the permissions of a new key are a subset of its creator’s', async (t) => {
  const { accounts } = await inMemory();
  const admin = (by: ReturnType<typeof principalWith>, permissions?: string[]) =>
    createAdminKey(accounts, 'org_demo', { name: 'k', ...(permissions && { permissions }) }, { by });
  const project = (by: ReturnType<typeof principalWith>, permissions?: string[]) =>
    createProjectKey(
      accounts,
      'org_demo',
      'proj_app',
      { name: 'k', ...(permissions && { permissions }) },
      { by },
    );

  const narrow = principalWith('admin_api_keys.write', 'policies.read', 'credits.write');
  t.match(await refusalOf(admin(narrow, ['*'])), { code: 'insufficient_permissions', param: '*' });
  t.match(await refusalOf(admin(narrow, ['policies.read', 'audit.read'])), { param: 'audit.read' });
  t.same((await admin(narrow, ['policies.read', 'policies.read'])).key.permissions, ['policies.read']);
  t.same(
    (await admin(narrow)).key.permissions,
    ['policies.read', 'admin_api_keys.write'],
    'never money by default',
  );
  t.same((await admin(narrow, ['credits.write'])).key.permissions, ['credits.write']);

  const root = principalWith('*');
  t.same((await admin(root)).key.permissions, ['*']);
  t.match(await refusalOf(admin(root, ['credits.write'])), { param: 'credits.write' }, '* does not imply it');
  t.same((await admin(root, ['audit.read'])).key.permissions, ['audit.read']);

  const writer = principalWith('projects.write', 'gateway.read');
  t.match(await refusalOf(project(writer, ['gateway.write'])), { param: 'gateway.write' });
  t.same((await project(writer)).key.permissions, ['inference', 'gateway.read']);
  t.same((await project(root)).key.permissions, ['inference', 'gateway.read', 'gateway.write']);
});

t.test('a new key that is not well-formed is 422 and names the field', async (t) => {
  const { accounts, clock } = await inMemory();
  const project = (fields: object) =>
    createProjectKey(accounts, 'org_demo', 'proj_app', { name: 'k', ...fields }, operator);
  const nowS = clock.nowMs() / 1_000;
  for (const [fields, param] of [
    [{ name: '' }, 'name'],
    [{ permissions: ['inference', 'policies.read'] }, 'permissions.1'],
    [{ permissions: ['*'] }, 'permissions.0'],
    [{ expiresAtS: nowS }, 'expires_at'],
    [{ expiresAtS: nowS + 0.5 }, 'expires_at'],
    [{ models: [] }, 'models'],
    [{ creditBudget: -1 }, 'credit_budget'],
    [{ creditBudget: 1.5 }, 'credit_budget'],
  ] as const)
    t.match(await refusalOf(project(fields)), { code: 'invalid_parameter', status: 422, param });
  for (const fields of [{ models: ['m'] }, { creditBudget: 1 }])
    t.match(await refusalOf(createAdminKey(accounts, 'org_demo', { name: 'k', ...fields }, operator)), {
      status: 422,
    });
  t.equal((await project({ models: ['a', '*'] })).key.models, null, '* is every model');
});

t.test('keys of unknown organizations and projects are 404, and so are another organization’s', async (t) => {
  const { accounts } = await inMemory();
  const { key } = await createAdminKey(accounts, 'org_demo', { name: 'root' }, operator);
  for (const attempt of [
    createAdminKey(accounts, 'org_none', { name: 'k' }, operator),
    createProjectKey(accounts, 'org_demo', 'proj_none', { name: 'k' }, operator),
    listProjectKeys(accounts, 'org_demo', 'proj_none', { limit: 1 }),
    getAdminKey(accounts, 'org_other', key.id),
    getProjectKey(accounts, 'org_demo', 'proj_app', key.id),
    revokeAdminKey(accounts, 'org_other', key.id, operator),
    revokeProjectKey(accounts, 'org_demo', 'proj_app', key.id, operator),
  ])
    t.equal((await refusalOf(attempt)).code, 'not_found');
});

t.test('D10 a key and the record of its making are one commit, and that record has no secret', async (t) => {
  const { accounts, records } = await inMemory();
  const note = (value: object): Step => ({
    op: 'put',
    collection: 'idempotency',
    id: 'same',
    value: { ...value },
    expect: 'absent',
  });
  const make = () =>
    createAdminKey(accounts, 'org_demo', { name: 'k' }, { by: null, also: (key) => [note(key)] });
  const { key, secret } = await make();
  t.match((await records.get('org_demo', 'idempotency', 'same'))?.value, key);
  t.notOk(records.dump().includes(secret));
  await t.rejects(make(), { name: 'AlsoRefused' });
  t.equal((await listAdminKeys(accounts, 'org_demo', { limit: 9 })).items.length, 1);
  await t.rejects(revokeAdminKey(accounts, 'org_demo', key.id, { by: null, also: (key) => [note(key)] }), {
    name: 'AlsoRefused',
  });
  t.equal((await listAdminKeys(accounts, 'org_demo', { limit: 9 })).items.length, 1, 'not revoked either');
});
