import t from 'tap';
import { createAdminKey, createProjectKey } from '../../../src/rules/auth/keys.js';
import { setOrganization } from '../../../src/rules/auth/organizations.js';
import { revokeAdminKey, revokeProjectKey } from '../../../src/rules/auth/revoke.js';
import { digestOf, mintSecret } from '../../../src/rules/auth/secrets.js';
import { keySteps, makeKeyRecord, projectRing } from '../../../src/rules/auth/keys.js';
import { authenticatorFor, bearer, inMemory, PEPPER, refusalOf, stores, type Setting } from './setting.js';

const operator = { by: null };
const newKey = ({ accounts }: Setting) =>
  createProjectKey(accounts, 'org_demo', 'proj_app', { name: 'app' }, operator);

for (const [store, open] of Object.entries(stores))
  t.test(`a revocation is announced and acts on every authenticator at once (${store})`, async (t) => {
    const setting = await open(t);
    const both = [authenticatorFor(t, setting), authenticatorFor(t, setting)];
    const { key, secret } = await createAdminKey(setting.accounts, 'org_demo', { name: 'root' }, operator);
    for (const { authenticate } of both) await authenticate(bearer(secret, { rule: 'admin' }));
    await revokeAdminKey(setting.accounts, 'org_demo', key.id, operator);
    for (const { authenticate } of both)
      t.equal((await refusalOf(authenticate(bearer(secret, { rule: 'admin' })))).code, 'revoked_api_key');
  });

t.test('a revocation acts on another replica by its notice, with no time passing', async (t) => {
  const setting = await inMemory();
  const replica = setting.records.opener();
  const { authenticate } = authenticatorFor(t, { records: replica, clock: setting.clock });
  const { key, secret } = await newKey(setting);
  await authenticate(bearer(secret));
  await revokeProjectKey(setting.accounts, 'org_demo', 'proj_app', key.id, operator);
  t.equal((await refusalOf(authenticate(bearer(secret)))).code, 'revoked_api_key');
});

t.test('a revocation and a change of plan act within a second where no notice arrives', async (t) => {
  const setting = await inMemory();
  const replica = setting.records.opener();
  replica.deaf = true;
  const { authenticate } = authenticatorFor(t, { records: replica, clock: setting.clock });
  const [first, second] = [await newKey(setting), await newKey(setting)];
  await authenticate(bearer(first.secret));
  await authenticate(bearer(second.secret));
  await revokeProjectKey(setting.accounts, 'org_demo', 'proj_app', first.key.id, operator);
  await setOrganization(setting.accounts, 'org_demo', { plan: 'scale' });
  setting.clock.advance(999);
  t.equal((await authenticate(bearer(first.secret))).organization.plan, 'developer', 'not yet');
  setting.clock.advance(1);
  t.equal((await refusalOf(authenticate(bearer(first.secret)))).code, 'revoked_api_key');
  t.equal((await authenticate(bearer(second.secret))).organization.plan, 'scale');
});

t.test('an interrupted feed puts everything in doubt', async (t) => {
  const setting = await inMemory();
  const replica = setting.records.opener();
  replica.deaf = true;
  const { authenticate } = authenticatorFor(t, { records: replica, clock: setting.clock });
  const { key, secret } = await newKey(setting);
  await authenticate(bearer(secret));
  await revokeProjectKey(setting.accounts, 'org_demo', 'proj_app', key.id, operator);
  replica.deaf = false;
  replica.tell(null);
  t.equal((await refusalOf(authenticate(bearer(secret)))).code, 'revoked_api_key');
});

t.test('requests within a second ask the store once, and so do a thousand at once', async (t) => {
  const setting = await inMemory();
  const { records, clock } = setting;
  const { authenticate } = authenticatorFor(t, setting);
  const { secret } = await newKey(setting);
  records.calls.clear();
  await Promise.all(Array.from({ length: 1_000 }, () => authenticate(bearer(secret))));
  t.same(Object.fromEntries(records.calls), { find: 1, get: 2 });
  clock.advance(999);
  await authenticate(bearer(secret));
  t.same(Object.fromEntries(records.calls), { find: 1, get: 2 });
  clock.advance(1);
  await authenticate(bearer(secret));
  t.same(Object.fromEntries(records.calls), { find: 1, get: 4 }, 'the way to the record is remembered');
});

t.test('an unknown key is remembered for a moment, and a key made meanwhile works at once', async (t) => {
  const setting = await inMemory();
  const { accounts, records, clock } = setting;
  const { authenticate } = authenticatorFor(t, setting);
  const secret = mintSecret('project');
  for (let i = 0; i < 5; i++) await refusalOf(authenticate(bearer(secret)));
  t.equal(records.calls.get('find'), 1);
  clock.advance(1_000);
  await refusalOf(authenticate(bearer(secret)));
  t.equal(records.calls.get('find'), 2);
  const ring = projectRing('org_demo', 'proj_app');
  const record = makeKeyRecord(accounts, ring, { name: 'late' }, secret, null);
  t.equal(record.digest, digestOf(PEPPER, secret));
  await records.commit('org_demo', keySteps(ring, 'key_late', record));
  t.equal((await authenticate(bearer(secret))).keyId, 'key_late');
});

t.test('a change announced while a key is being read leaves nothing old behind', async (t) => {
  const setting = await inMemory();
  const { records } = setting;
  const replica = records.opener();
  const { authenticate } = authenticatorFor(t, { records: replica, clock: setting.clock });
  const { key, secret } = await newKey(setting);
  const gets = { open: () => {} };
  const opened = new Promise<void>((resolve) => (gets.open = resolve));
  // The answer of `find` and `get` is made before the wait, as a slow network would have it.
  const get = replica.get.bind(replica);
  replica.get = async (...place: Parameters<typeof get>) => {
    const answer = await get(...place);
    await opened;
    return answer;
  };
  const early = authenticate(bearer(secret));
  await new Promise((resolve) => setImmediate(resolve));
  await revokeProjectKey(setting.accounts, 'org_demo', 'proj_app', key.id, operator);
  gets.open();
  t.equal((await early).keyId, key.id, 'it was good when it asked');
  t.equal((await refusalOf(authenticate(bearer(secret)))).code, 'revoked_api_key');
});

t.test('while the store is away, keys that were seen go on working and others get 503', async (t) => {
  const setting = await inMemory();
  const { records, clock } = setting;
  const told: boolean[] = [];
  const authenticator = authenticatorFor(t, setting, { onDegraded: (degraded) => told.push(degraded) });
  const { authenticate } = authenticator;
  const [seen, unseen] = [await newKey(setting), await newKey(setting)];
  await authenticate(bearer(seen.secret));
  records.down = true;
  t.equal(authenticator.degraded(), false);
  for (let minute = 1; minute < 10; minute++) {
    clock.advance(60_000);
    t.equal((await authenticate(bearer(seen.secret))).keyId, seen.key.id);
  }
  t.equal(authenticator.degraded(), true);
  t.match(await refusalOf(authenticate(bearer(unseen.secret))), {
    status: 503,
    code: 'store_unavailable',
    retryAfterS: 1,
  });
  clock.advance(60_000);
  t.equal((await refusalOf(authenticate(bearer(seen.secret)))).code, 'store_unavailable', 'but not for ever');
  records.down = false;
  await authenticate(bearer(seen.secret));
  await authenticate(bearer(unseen.secret));
  t.equal(authenticator.degraded(), false);
  t.same(told, [true, false]);
});

t.test('a key keeps its expiry while the store is away', async (t) => {
  const setting = await inMemory();
  const { accounts, records, clock } = setting;
  const { authenticate } = authenticatorFor(t, setting);
  const expiresAtS = clock.nowMs() / 1_000 + 60;
  const { secret } = await createProjectKey(
    accounts,
    'org_demo',
    'proj_app',
    { name: 'k', expiresAtS },
    operator,
  );
  await authenticate(bearer(secret));
  records.down = true;
  clock.advance(60_000);
  t.equal((await refusalOf(authenticate(bearer(secret)))).code, 'expired_api_key');
});

t.test('while the store is away it is asked once a second, not with every request', async (t) => {
  const setting = await inMemory();
  const { records, clock } = setting;
  const { authenticate } = authenticatorFor(t, setting);
  const keys = await Promise.all(Array.from({ length: 10 }, () => newKey(setting)));
  for (const { secret } of keys) await authenticate(bearer(secret));
  records.down = true;
  clock.advance(5_000);
  await authenticate(bearer(keys[0]!.secret));
  records.calls.clear();
  for (let i = 0; i < 50; i++) await authenticate(bearer(keys[i % 10]!.secret));
  t.equal(records.calls.get('get'), undefined);
  clock.advance(1_000);
  for (let i = 0; i < 50; i++) await authenticate(bearer(keys[i % 10]!.secret));
  t.equal(records.calls.get('get'), 1);
});

t.test('once the store is back, a revocation made meanwhile acts within a second', async (t) => {
  const setting = await inMemory();
  const { clock } = setting;
  const replica = setting.records.opener();
  replica.deaf = true;
  const { authenticate } = authenticatorFor(t, { records: replica, clock });
  const { key, secret } = await newKey(setting);
  await authenticate(bearer(secret));
  replica.down = true;
  clock.advance(2_000);
  await authenticate(bearer(secret));
  await revokeProjectKey(setting.accounts, 'org_demo', 'proj_app', key.id, operator);
  replica.down = false;
  clock.advance(1_000);
  t.equal((await refusalOf(authenticate(bearer(secret)))).code, 'revoked_api_key');
});

t.test('a key known to have changed is not served from memory while the store is away', async (t) => {
  const setting = await inMemory();
  const replica = setting.records.opener();
  const { authenticate } = authenticatorFor(t, { records: replica, clock: setting.clock });
  const { key, secret } = await newKey(setting);
  await authenticate(bearer(secret));
  replica.down = true;
  await revokeProjectKey(setting.accounts, 'org_demo', 'proj_app', key.id, operator);
  t.equal((await refusalOf(authenticate(bearer(secret)))).code, 'store_unavailable');
});

t.test('after close nothing listens to the store any more', async (t) => {
  const setting = await inMemory();
  const listeners = new Set<unknown>();
  const watch = setting.records.watch.bind(setting.records);
  setting.records.watch = (listener) => {
    listeners.add(listener);
    const unwatch = watch(listener);
    return () => {
      listeners.delete(listener);
      unwatch();
    };
  };
  const authenticator = authenticatorFor(t, setting);
  t.equal(listeners.size, 1);
  await authenticator.close();
  t.equal(listeners.size, 0);
});
