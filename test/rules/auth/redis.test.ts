import t from 'tap';
import { openRedisRecords } from '../../../src/io/records/redis.js';
import type { Records } from '../../../src/io/records/records.js';
import { defaultAccountLimits, type Accounts } from '../../../src/rules/auth/accounts.js';
import { bootstrap, type BootstrapOrganization } from '../../../src/rules/auth/bootstrap.js';
import { listAdminKeys } from '../../../src/rules/auth/keys.js';
import { revokeAdminKey } from '../../../src/rules/auth/revoke.js';
import { ManualClock } from '../../support/manual-clock.js';
import { startRedis } from '../../support/redis.js';
import { authenticatorFor, bearer, PEPPER, refusalOf } from './setting.js';

const GIVEN = 'my-own-secret-of-many-chars';
const REPLICAS = 4;

const organization: BootstrapOrganization = {
  id: 'org_demo',
  name: 'Demo',
  plan: 'free',
  lifetimePaidUsd: 0,
  credits: 10,
  adminKeys: [
    { name: 'root', value: GIVEN },
    { name: 'made', value: 'generate' },
  ],
  projects: [{ id: 'proj_app', name: 'App', keys: [{ name: 'app', value: 'generate' }] }],
  policies: [],
  gateway: null,
};

const admin = (secret: string) => bearer(secret, { rule: 'admin' });

t.test('replicas on one Redis', async (t) => {
  const server = await startRedis({ appendfsync: 'always' });
  t.teardown(() => server.stop());
  const clock = new ManualClock();
  const replicas: Records[] = [];
  for (let i = 0; i < REPLICAS; i++) {
    const records = await openRedisRecords({ url: server.url, keyPrefix: 'sl:', commandTimeoutMs: 5_000 });
    t.teardown(() => records.close());
    replicas.push(records);
  }
  const accountsOf = (records: Records): Accounts => ({
    records,
    pepper: PEPPER,
    clock,
    limits: defaultAccountLimits,
  });
  const reports = await Promise.all(
    replicas.map((records) => bootstrap(accountsOf(records), { organizations: [organization] })),
  );
  const keys = reports.flatMap((report) => report.keys);
  const secretOf = (name: string): string =>
    keys.find((key) => key.name === name && key.secret !== null)!.secret!;
  const authenticators = replicas.map((records) => authenticatorFor(t, { records, clock }));
  const [first] = authenticators;

  t.equal(
    keys.filter(({ outcome }) => outcome === 'created').length,
    3,
    'start at once and make each key once',
  );
  t.equal(keys.filter(({ secret }) => secret !== null).length, 2);
  for (const { authenticate } of authenticators) {
    t.equal((await authenticate(admin(GIVEN))).kind, 'admin', 'know the given key');
    t.equal((await authenticate(admin(secretOf('made')))).kind, 'admin', 'know the generated key');
  }

  // The clock stands still, so only the notice of the change can tell them.
  const { keyId } = keys.find(({ name }) => name === 'root')!;
  await revokeAdminKey(accountsOf(replicas[0]!), 'org_demo', keyId, { by: null });
  for (const { authenticate } of authenticators) {
    const code = async (): Promise<string> => authenticate(admin(GIVEN)).then(() => 'still good', codeOf);
    while ((await code()) === 'still good') await new Promise((resolve) => setTimeout(resolve, 5));
    t.equal(await code(), 'revoked_api_key', 'hear of a revocation');
  }
  const again = await bootstrap(accountsOf(replicas[1]!), { organizations: [organization] });
  t.match(again.keys[0], { outcome: 'revoked', keyId });
  t.equal((await listAdminKeys(accountsOf(replicas[2]!), 'org_demo', { limit: 9 })).items.length, 1);

  await server.kill();
  clock.advance(60_000);
  t.equal((await first!.authenticate(admin(secretOf('made')))).kind, 'admin', 'serve seen keys without it');
  t.match(await refusalOf(first!.authenticate(bearer(secretOf('app')))), {
    status: 503,
    code: 'store_unavailable',
  });
  t.equal(first!.degraded(), true);

  await server.restart();
  const recovered = (): Promise<boolean> =>
    first!.authenticate(bearer(secretOf('app'))).then(
      () => true,
      () => false,
    );
  while (!(await recovered())) await new Promise((resolve) => setTimeout(resolve, 20));
  t.equal(first!.degraded(), false, 'and recover with it');
  t.equal((await refusalOf(first!.authenticate(admin(GIVEN)))).code, 'revoked_api_key');
});

const codeOf = (error: unknown): string => (error as { code: string }).code;
