import t from 'tap';
import { APP_KEY, runGateway, type Running } from '../support/gateway.js';
import { startFakeSplunk } from '../support/sinks/fake-splunk.js';

type Body = Readonly<Record<string, unknown>>;

const TOKEN = 'hec-token-of-the-suite';
const GATEWAY = '/api/policy-gateway';

const ask = async (
  { call }: Running,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<{ readonly status: number; readonly body: Body }> => {
  const response = await call(method, path, { ...(body !== undefined && { body }), headers });
  return { status: response.status, body: (await response.json()) as Body };
};

const open = (t: Parameters<typeof runGateway>[0]): Promise<Running> =>
  runGateway(t, { sinks: { allow_insecure: true, allow_private_hosts: ['127.0.0.1'] } });

t.test('4.7 the configuration is read with its defaults, saved, and its history listed', async (t) => {
  const gateway = await open(t);
  const before = await ask(gateway, 'GET', `${GATEWAY}/config`);
  t.match(before, { status: 200, body: { created_at: null, config: { rules: { denylist: [] } } } });
  const config = { name: 'House rules', rules: { denylist: ['zorkmid'] } };
  const key = { 'idempotency-key': 'save-1' };
  t.match(await ask(gateway, 'POST', `${GATEWAY}/config`, { config }, key), {
    status: 200,
    body: { config },
  });
  const reused = await ask(gateway, 'POST', `${GATEWAY}/config`, { config: {} }, key);
  t.match(reused, { status: 409, body: { error: { code: 'idempotency_key_reuse' } } });
  t.match(await ask(gateway, 'POST', `${GATEWAY}/config`, { config: { rules: { denylist: 'x' } } }), {
    status: 422,
    body: { error: { param: 'config.rules.denylist' } },
  });
  t.match(await ask(gateway, 'GET', `${GATEWAY}/config/history`), {
    status: 200,
    body: { data: [{ config }] },
  });
});

t.test('4.8 a simulation answers as enforcement would, and names what is wrong with it', async (t) => {
  const gateway = await open(t);
  const scenario = { categories: ['self-harm/intent'] };
  t.match(await ask(gateway, 'POST', `${GATEWAY}/simulate`, { scenario }), {
    status: 200,
    body: { decision: 'refuse', reason_code: 'REFUSE', triggered_categories: ['self-harm/intent'] },
  });
  const given = { config: { rules: { denylist: ['zorkmid'] } }, scenario: { text: 'one zorkmid' } };
  t.match(await ask(gateway, 'POST', `${GATEWAY}/simulate`, given), {
    status: 200,
    body: {
      decision: 'refuse',
      matches: [{ kind: 'denylist', name: 'zorkmid', places: [{ from: 4, to: 11 }] }],
    },
  });
  t.match(await ask(gateway, 'POST', `${GATEWAY}/simulate`, { categories: 3 }), { status: 422 });
  const key = { 'idempotency-key': 'simulate-1' };
  const persisted = { scenario, persist: true };
  const first = await ask(gateway, 'POST', `${GATEWAY}/simulate`, persisted, key);
  t.strictSame(await ask(gateway, 'POST', `${GATEWAY}/simulate`, persisted, key), first);
  t.match(await ask(gateway, 'GET', `${GATEWAY}/history?event_type=simulation`), {
    body: { data: { length: 1 } },
  });
  t.match(await ask(gateway, 'POST', `${GATEWAY}/simulate`, { persist: true }, key), { status: 409 });
});

t.test('4.9 an export is made, changed, tried and deleted', async (t) => {
  const splunk = await startFakeSplunk({ token: TOKEN });
  t.teardown(() => splunk.close());
  const gateway = await open(t);
  const sink = {
    type: 'splunk_hec',
    label: 'SIEM',
    enabled: true,
    config: { endpoint: splunk.url, token: TOKEN },
  };
  const key = { 'idempotency-key': 'make-1' };
  const made = await ask(gateway, 'POST', `${GATEWAY}/exports`, sink, key);
  t.match(made, { status: 200, body: { export: { type: 'splunk_hec', config: { token: '***' } } } });
  const { id } = made.body.export as { readonly id: string };
  const path = `${GATEWAY}/exports/${id}`;
  t.match(await ask(gateway, 'POST', `${GATEWAY}/exports`, { ...sink, label: 'Other' }, key), {
    status: 409,
  });
  t.match(await ask(gateway, 'POST', `${GATEWAY}/exports`, { ...sink, config: {} }), {
    status: 422,
    body: { error: { param: 'config.endpoint' } },
  });
  t.match(await ask(gateway, 'GET', `${GATEWAY}/exports`), { status: 200, body: { data: [{ id }] } });
  t.match(await ask(gateway, 'GET', path), { status: 200, body: { export: { id } } });
  t.match(await ask(gateway, 'POST', `${path}/test`), { status: 200, body: { ok: true } });
  const patch = { 'idempotency-key': 'patch-1' };
  t.match(await ask(gateway, 'PATCH', path, { label: 'SIEM 2' }, patch), {
    status: 200,
    body: { export: { label: 'SIEM 2' } },
  });
  t.match(await ask(gateway, 'PATCH', path, { label: 'SIEM 3' }, patch), { status: 409 });
  const remove = { 'idempotency-key': 'patch-1' };
  t.match(await ask(gateway, 'DELETE', path, undefined, remove), { status: 409 });
  t.match(await ask(gateway, 'DELETE', path), { status: 200, body: { deleted: true } });
  for (const [method, where, body] of [
    ['GET', path],
    ['PATCH', path, { label: 'x' }],
    ['DELETE', path],
    ['POST', `${path}/test`],
  ] as const)
    t.match(await ask(gateway, method, where, body), { status: 404 }, `${method} ${where}`);
});

t.test('D28 the history is read with its filters, and a user is erased from it by name', async (t) => {
  const gateway = await open(t);
  const messages = [{ role: 'user', content: 'hello' }];
  const asked = { model: 'sim-small', max_tokens: 5, messages };
  const reply = await gateway.post('/v1/messages', asked, { 'x-policy-user': 'ann' });
  t.equal(reply.status, 200);
  await reply.arrayBuffer();
  t.match(await ask(gateway, 'GET', `${GATEWAY}/history?user=ann`), {
    status: 200,
    body: { data: [{ event_type: 'enforcement', policy_user: 'ann', decision: 'allow' }] },
  });
  t.match(await ask(gateway, 'DELETE', `${GATEWAY}/history`), { status: 422 });
  const key = { 'idempotency-key': 'erase-ann' };
  for (const turn of ['first', 'again'])
    t.match(
      await ask(gateway, 'DELETE', `${GATEWAY}/history?user=ann`, undefined, key),
      { status: 200, body: { erased: 1 } },
      turn,
    );
  t.match(await ask(gateway, 'DELETE', `${GATEWAY}/history?user=bob`, undefined, key), { status: 409 });
});

t.test('1 applications may ask the engine themselves, in the shape of OpenAI', async (t) => {
  const { call } = await open(t);
  const moderate = async (body: unknown) => {
    const response = await call('POST', '/v1/moderations', { key: APP_KEY, body });
    return { status: response.status, body: (await response.json()) as { results: Body[] } };
  };
  const { status, body } = await moderate({ input: ['I want to kill myself', 'I want to bake a cake'] });
  t.equal(status, 200);
  t.match(body.results, [{ flagged: true, categories: { 'self-harm': true } }, { flagged: false }]);
  t.equal((await moderate({ input: 3 })).status, 400);
});
