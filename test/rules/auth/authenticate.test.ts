import t from 'tap';
import type { AuthRule, Family } from '../../../src/core/exchange.js';
import { createAdminKey, createProjectKey } from '../../../src/rules/auth/keys.js';
import { setOrganization } from '../../../src/rules/auth/organizations.js';
import { revokeProjectKey } from '../../../src/rules/auth/revoke.js';
import { mintSecret } from '../../../src/rules/auth/secrets.js';
import type { Accounts } from '../../../src/rules/auth/accounts.js';
import { authenticatorFor, bearer, inMemory, refusalOf, stores } from './setting.js';

const operator = { by: null };
const adminSecret = async (accounts: Accounts) =>
  (await createAdminKey(accounts, 'org_demo', { name: 'root' }, operator)).secret;
const projectKey = (accounts: Accounts, fields: object = {}) =>
  createProjectKey(accounts, 'org_demo', 'proj_app', { name: 'app', ...fields }, operator);

for (const [store, open] of Object.entries(stores)) {
  t.test(
    `5 a key says who is calling: organization, project, permissions, models, budget (${store})`,
    async (t) => {
      const setting = await open(t);
      const { authenticate } = authenticatorFor(t, setting);
      const { key, secret } = await projectKey(setting.accounts, {
        permissions: ['inference'],
        models: ['claude-*'],
        creditBudget: 9,
      });
      t.same(await authenticate(bearer(secret)), {
        kind: 'project',
        organization: { id: 'org_demo', name: 'Demo', plan: 'developer', lifetimePaidUsd: 0, metered: false },
        projectId: 'proj_app',
        keyId: key.id,
        permissions: new Set(['inference']),
        models: ['claude-*'],
        creditBudget: 9,
      });
    },
  );

  t.test(
    `5 unknown, expired and revoked keys are 401, each with its code and a challenge (${store})`,
    async (t) => {
      const setting = await open(t);
      const { accounts, clock } = setting;
      const { authenticate } = authenticatorFor(t, setting);
      const short = await projectKey(accounts, { expiresAtS: clock.nowMs() / 1_000 + 10 });
      const revoked = await projectKey(accounts);
      await authenticate(bearer(short.secret));
      await authenticate(bearer(revoked.secret));
      clock.advance(10_000);
      await revokeProjectKey(accounts, 'org_demo', 'proj_app', revoked.key.id, operator);
      for (const [secret, code] of [
        [mintSecret('project'), 'invalid_api_key'],
        ['a-secret-that-nobody-has', 'invalid_api_key'],
        [short.secret, 'expired_api_key'],
        [revoked.secret, 'revoked_api_key'],
      ] as const) {
        const error = await refusalOf(authenticate(bearer(secret)));
        t.match(error, { status: 401, code });
        t.equal(error.headers['www-authenticate'], 'Bearer realm="sluice", error="invalid_token"');
        t.notOk(`${error.message} ${error.stack}`.includes(secret), 'the error does not show the key');
      }
    },
  );
}

t.test('5 each rule takes its own kinds of key; any other is 401', async (t) => {
  const setting = await inMemory();
  const { authenticate } = authenticatorFor(t, setting);
  const secrets = {
    admin: await adminSecret(setting.accounts),
    project: (await projectKey(setting.accounts)).secret,
  };
  const takes: Record<Exclude<AuthRule, 'public'>, readonly string[]> = {
    admin: ['admin'],
    gateway: ['admin', 'project'],
    inference: ['project'],
    inference_or_free: ['project'],
    project_key: ['project'],
  };
  for (const [rule, kinds] of Object.entries(takes))
    for (const [kind, secret] of Object.entries(secrets)) {
      const attempt = authenticate(bearer(secret, { rule: rule as AuthRule }));
      if (kinds.includes(kind)) t.equal((await attempt).kind, kind, `${rule} takes ${kind}`);
      else
        t.match(
          await refusalOf(attempt),
          { status: 401, code: 'invalid_api_key' },
          `${rule} refuses ${kind}`,
        );
    }
  const nobody = await authenticate({ ...bearer('x'), headers: {}, rule: 'public' });
  t.match(nobody, { kind: 'anonymous', permissions: new Set() });
});

t.test('D33 x-api-key is read on the messages routes only, and Authorization wins', async (t) => {
  const setting = await inMemory();
  const { authenticate } = authenticatorFor(t, setting);
  const { secret } = await projectKey(setting.accounts);
  const send = (family: Family, headers: Record<string, string>) =>
    authenticate({ ...bearer(''), family, headers });
  for (const family of ['messages', 'count_tokens'] as const)
    t.equal((await send(family, { 'x-api-key': secret })).kind, 'project');
  for (const family of ['responses', 'openai', 'administration'] as const)
    t.equal((await refusalOf(send(family, { 'x-api-key': secret }))).code, 'missing_api_key', family);
  const both = { 'x-api-key': secret, authorization: `Bearer ${mintSecret('project')}` };
  t.equal((await refusalOf(send('messages', both))).code, 'invalid_api_key');
  t.equal(
    (await refusalOf(send('messages', { 'x-api-key': 'a.b.c' }))).code,
    'invalid_api_key',
    'a JWT is no API key',
  );
  t.equal((await refusalOf(send('messages', { 'x-api-key': '' }))).code, 'missing_api_key');
});

t.test('D15 a request without a credential is missing_api_key with the scheme it should use', async (t) => {
  const { authenticate } = authenticatorFor(t, await inMemory());
  const error = await refusalOf(authenticate({ ...bearer(''), headers: {} }));
  t.match(error, {
    status: 401,
    code: 'missing_api_key',
    headers: { 'www-authenticate': 'Bearer realm="sluice"' },
  });
});

t.test('a malformed Authorization header is a clean 401 and never asks the store', async (t) => {
  const setting = await inMemory();
  const { authenticate } = authenticatorFor(t, setting, {
    jwt: { issuer: '', audience: '', algorithms: ['HS256'], jwksUrl: '', secret: 's'.repeat(32) },
  });
  const { secret } = await projectKey(setting.accounts);
  setting.records.calls.clear();
  for (const authorization of [
    '',
    'Bearer',
    'Bearer ',
    secret,
    `Basic ${secret}`,
    `Token ${secret}`,
    `Bearer ${secret.slice(0, -1)}${secret.endsWith('A') ? 'B' : 'A'}`,
    `Bearer ${secret} ${secret}`,
    `Bearer ${secret}, Bearer ${secret}`,
    `Bearer ${'x'.repeat(19)}`,
    `Bearer ${'x'.repeat(513)}`,
    `Bearer ${secret}\u00e9`,
    `Bearer ${secret}\0`,
    'Bearer a.b.c',
    `Bearer a.${'b'.repeat(9_000)}.c`,
  ])
    t.equal(
      (await refusalOf(authenticate({ ...bearer(''), headers: { authorization } }))).status,
      401,
      authorization.slice(0, 20),
    );
  t.same([...setting.records.calls.keys()], []);
  const scheme = await authenticate({ ...bearer(''), headers: { authorization: `bearer   ${secret}` } });
  t.equal(scheme.kind, 'project', 'the scheme’s case and the number of spaces do not matter');
});

t.test('D15 an administrator key in a browser is 403', async (t) => {
  const setting = await inMemory();
  const { authenticate } = authenticatorFor(t, setting);
  const secret = await adminSecret(setting.accounts);
  const authorization = `Bearer ${secret}`;
  for (const header of [{ origin: 'https://example.com' }, { 'sec-fetch-site': 'same-origin' }])
    for (const rule of ['admin', 'gateway'] as const) {
      const error = await refusalOf(
        authenticate(bearer('', { rule, headers: { authorization, ...header } })),
      );
      t.match(error, { status: 403, code: 'browser_use_forbidden' });
    }
  const fromNode = bearer('', { rule: 'admin', headers: { authorization, 'sec-fetch-mode': 'cors' } });
  t.equal((await authenticate(fromNode)).kind, 'admin');
  const project = await projectKey(setting.accounts);
  const fromPage = { authorization: `Bearer ${project.secret}`, origin: 'https://example.com' };
  t.equal((await authenticate(bearer('', { headers: fromPage }))).kind, 'project');
});

t.test('expiry is looked at on every request, also between two checks of the store', async (t) => {
  const setting = await inMemory();
  const { accounts, clock, records } = setting;
  const { authenticate } = authenticatorFor(t, setting);
  const { secret } = await projectKey(accounts, { expiresAtS: clock.nowMs() / 1_000 + 1 });
  clock.advance(500);
  await authenticate(bearer(secret));
  records.calls.clear();
  clock.advance(499);
  await authenticate(bearer(secret));
  clock.advance(1);
  t.equal((await refusalOf(authenticate(bearer(secret)))).code, 'expired_api_key');
  t.equal(records.calls.size, 0, 'no store was asked');
});

t.test('a key whose record does not name its digest opens nothing', async (t) => {
  const setting = await inMemory();
  const { records, accounts } = setting;
  const { authenticate } = authenticatorFor(t, setting);
  const mine = await projectKey(accounts);
  const other = await projectKey(accounts);
  const collection = 'project_keys/proj_app';
  const stored = (await records.get('org_demo', collection, other.key.id))!;
  await records.commit('org_demo', [
    { op: 'put', collection, id: mine.key.id, value: stored.value, expect: 'any' },
  ]);
  t.equal((await refusalOf(authenticate(bearer(mine.secret)))).code, 'invalid_api_key');
});

t.test('a record that cannot be read is our fault, not a bad key', async (t) => {
  const setting = await inMemory();
  const { records, accounts } = setting;
  const { authenticate } = authenticatorFor(t, setting);
  const { key, secret } = await projectKey(accounts);
  await records.commit('org_demo', [
    { op: 'put', collection: 'project_keys/proj_app', id: key.id, value: { kind: 'project' }, expect: 'any' },
  ]);
  await t.rejects(authenticate(bearer(secret)), /cannot be read at name/);
});

t.test('last_used_at is written in batches, and at close, not with every request', async (t) => {
  const setting = await inMemory();
  const { accounts, records, clock } = setting;
  const authenticator = authenticatorFor(t, setting, { flushUsesEveryMs: 3_600_000 });
  const [a, b] = [await projectKey(accounts), await projectKey(accounts)];
  for (let i = 0; i < 100; i++) {
    clock.advance(10);
    await authenticator.authenticate(bearer(i % 2 ? a.secret : b.secret));
  }
  await refusalOf(authenticator.authenticate(bearer(a.secret, { rule: 'admin' })));
  t.equal(records.calls.get('noteUses'), undefined);
  await authenticator.close();
  t.equal(records.calls.get('noteUses'), 1);
  t.same(await records.lastUses('org_demo', [a.key.id, b.key.id]), [clock.nowMs(), clock.nowMs() - 10]);
});

t.test('last uses that could not be written are written later', async (t) => {
  const setting = await inMemory();
  const { accounts, records, clock } = setting;
  const authenticator = authenticatorFor(t, setting, { flushUsesEveryMs: 1 });
  const { key, secret } = await projectKey(accounts);
  await authenticator.authenticate(bearer(secret));
  records.down = true;
  while (!records.calls.has('noteUses')) await new Promise((resolve) => setTimeout(resolve, 2));
  records.down = false;
  await authenticator.close();
  t.same(await records.lastUses('org_demo', [key.id]), [clock.nowMs()]);
});

t.test('a change of plan acts at once where it is announced', async (t) => {
  const setting = await inMemory();
  const { authenticate } = authenticatorFor(t, setting);
  const { secret } = await projectKey(setting.accounts);
  t.equal((await authenticate(bearer(secret))).organization.plan, 'developer');
  await setOrganization(setting.accounts, 'org_demo', { plan: 'scale', credits: 5 });
  t.match((await authenticate(bearer(secret))).organization, { plan: 'scale', metered: true });
});
