import t from 'tap';
import { createProjectKey } from '../../../src/rules/auth/keys.js';
import type { FreeRequestOptions } from '../../../src/rules/auth/free-request.js';
import { authenticatorFor, bearer, inMemory, refusalOf, stores } from './setting.js';

const DAY_MS = 86_400_000;

const freeRequest: FreeRequestOptions = {
  model: 'sim-small',
  maxTokens: 256,
  dailyCap: null,
  subnetOf: (address) => address,
};

const from = (clientAddress: string, header = 'true') =>
  bearer('', { rule: 'inference_or_free', headers: { 'x-free-tier': header }, clientAddress });

for (const [store, open] of Object.entries(stores)) {
  t.test(`D34 an address has one free request; the second is 401 free_request_used (${store})`, async (t) => {
    const { authenticate } = authenticatorFor(t, await open(t), { freeRequest });
    t.match(await authenticate(from('192.0.2.1')), {
      kind: 'anonymous',
      organization: { id: 'org_anonymous', plan: 'free', metered: false },
      projectId: null,
      permissions: new Set(['inference']),
      models: ['sim-small'],
      maxOutputTokens: 256,
    });
    const second = await refusalOf(authenticate(from('192.0.2.1')));
    t.match(second, { status: 401, code: 'free_request_used', message: /Sign up/ });
    t.match(second.headers['www-authenticate'], /^Bearer/);
    t.equal((await authenticate(from('192.0.2.2'))).kind, 'anonymous');
  });

  t.test(`D34 of many requests of one address at once, one is free (${store})`, async (t) => {
    const setting = await open(t);
    const both = [
      authenticatorFor(t, setting, { freeRequest }),
      authenticatorFor(t, setting, { freeRequest }),
    ];
    const all = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => both[i % 2]!.authenticate(from('192.0.2.1'))),
    );
    t.equal(all.filter(({ status }) => status === 'fulfilled').length, 1);
  });

  t.test(`D34 it is given back once when the upstream was never reached (${store})`, async (t) => {
    const { authenticate, giveBack } = authenticatorFor(t, await open(t), {
      freeRequest: { ...freeRequest, dailyCap: 1 },
    });
    const first = await authenticate(from('192.0.2.1'));
    await giveBack(first);
    const second = await authenticate(from('192.0.2.1'));
    await giveBack(first);
    t.equal((await refusalOf(authenticate(from('192.0.2.1')))).code, 'free_request_used');
    await giveBack(second);
    t.equal((await authenticate(from('192.0.2.9'))).kind, 'anonymous', 'the day has room again');
  });
}

t.test('D34 it is remembered for 30 days, and no address is kept', async (t) => {
  const setting = await inMemory();
  const { authenticate } = authenticatorFor(t, setting, { freeRequest });
  await authenticate(from('192.0.2.77'));
  setting.clock.advance(30 * DAY_MS - 1);
  await refusalOf(authenticate(from('192.0.2.77')));
  t.notMatch(setting.records.dump(), /192\.0\.2\.77/);
  setting.clock.advance(1);
  t.equal((await authenticate(from('192.0.2.77'))).kind, 'anonymous');
});

t.test('D34 one network counts as one client', async (t) => {
  const subnetOf = (address: string): string => address.split(':').slice(0, 4).join(':');
  const { authenticate } = authenticatorFor(t, await inMemory(), {
    freeRequest: { ...freeRequest, subnetOf },
  });
  await authenticate(from('2001:db8:1:2:aaaa::1'));
  t.equal((await refusalOf(authenticate(from('2001:db8:1:2:bbbb::2')))).code, 'free_request_used');
  t.equal((await authenticate(from('2001:db8:1:3::1'))).kind, 'anonymous');
});

t.test('D34 any value but true is 400 invalid_header and takes nothing', async (t) => {
  const { authenticate } = authenticatorFor(t, await inMemory(), { freeRequest });
  for (const value of ['', 'TRUE', '1', 'false', 'true, true', ' true'])
    t.match(
      await refusalOf(authenticate(from('192.0.2.1', value))),
      { status: 400, code: 'invalid_header' },
      value,
    );
  t.equal((await authenticate(from('192.0.2.1'))).kind, 'anonymous');
});

t.test('D34 the header is ignored when a credential is sent, good or bad', async (t) => {
  const setting = await inMemory();
  const { records, accounts } = setting;
  const { authenticate } = authenticatorFor(t, setting, { freeRequest });
  const { secret } = await createProjectKey(accounts, 'org_demo', 'proj_app', { name: 'k' }, { by: null });
  for (const header of ['true', 'nonsense']) {
    const headers = { authorization: `Bearer ${secret}`, 'x-free-tier': header };
    t.equal((await authenticate(bearer('', { headers }))).kind, 'project');
  }
  const bad = { authorization: 'Bearer a-secret-that-nobody-has', 'x-free-tier': 'true' };
  t.equal((await refusalOf(authenticate(bearer('', { headers: bad })))).code, 'invalid_api_key');
  t.equal(records.calls.get('claim'), undefined);
});

t.test('the free request is for inference only, and only where it is switched on', async (t) => {
  const setting = await inMemory();
  const on = authenticatorFor(t, setting, { freeRequest });
  for (const rule of ['admin', 'gateway', 'project_key'] as const)
    t.equal((await refusalOf(on.authenticate({ ...from('192.0.2.1'), rule }))).code, 'missing_api_key');
  const off = authenticatorFor(t, setting);
  t.equal((await refusalOf(off.authenticate(from('192.0.2.1')))).code, 'missing_api_key');
});

t.test('the free requests of one day are bounded over all addresses', async (t) => {
  const setting = await inMemory();
  const { authenticate } = authenticatorFor(t, setting, { freeRequest: { ...freeRequest, dailyCap: 3 } });
  const all = await Promise.allSettled(
    Array.from({ length: 8 }, (_, i) => authenticate(from(`192.0.2.${i}`))),
  );
  t.equal(all.filter(({ status }) => status === 'fulfilled').length, 3);
  t.match(await refusalOf(authenticate(from('192.0.2.200'))), {
    code: 'free_request_used',
    message: /today/,
  });
  setting.clock.advance(DAY_MS);
  t.equal((await authenticate(from('192.0.2.200'))).kind, 'anonymous', 'the refused address lost nothing');
});

t.test('with the store away there is no free request, and giving one back does not fail', async (t) => {
  const setting = await inMemory();
  const { authenticate, giveBack } = authenticatorFor(t, setting, { freeRequest });
  const taken = await authenticate(from('192.0.2.1'));
  setting.records.down = true;
  t.equal((await refusalOf(authenticate(from('192.0.2.2')))).code, 'store_unavailable');
  await giveBack(taken);
});
