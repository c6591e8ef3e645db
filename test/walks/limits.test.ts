import t, { type Test } from 'tap';
import type { ConfigInput } from '../../src/config/schema.js';
import { ADMIN_KEY, APP_KEY, runGateway, testConfig } from '../support/gateway.js';
import { openStream, simulated } from '../support/inference.js';
import { testOnEachStore } from '../support/stores.js';

const SIBLING_KEY = 'sk-test-another-key-of-the-project';
const LIMITS_KEY = 'sk-test-admin-key-that-reads-limits';
const POOR_ADMIN_KEY = 'sk-test-admin-key-that-reads-audits';

const organization = (changes: object = {}) => ({
  organizations: [
    {
      id: 'org_test',
      name: 'Test',
      credits: 100_000,
      admin_keys: [
        { name: 'root', value: ADMIN_KEY },
        { name: 'limits', value: LIMITS_KEY, permissions: ['limits.read' as const] },
        { name: 'audit', value: POOR_ADMIN_KEY, permissions: ['audit.read' as const] },
      ],
      projects: [
        { id: 'proj_app', name: 'App', keys: [{ name: 'app', value: APP_KEY }] },
        { id: 'proj_two', name: 'Two', keys: [{ name: 'two', value: SIBLING_KEY }] },
      ],
      ...changes,
    },
  ],
});

const six = ['limit', 'remaining', 'reset'].flatMap((part) =>
  ['requests', 'tokens'].map((what) => `x-ratelimit-${part}-${what}`),
);
const hasSix = (t: Test, response: Response, what: string): void => {
  for (const name of six) t.ok(response.headers.has(name), `${what}: ${name}`);
};

testOnEachStore('8.4 every reply for which admission ran carries the six headers', async (t, changes) => {
  const { post, url } = await runGateway(t, { ...changes, limits: {}, bootstrap: organization() });
  const wanted: readonly (readonly [number, string, object])[] = [
    [200, 'a whole answer', simulated('hi')],
    [400, 'a faulty request', { model: 'sim-small' }],
    [404, 'an unknown model', simulated('hi', { model: 'nothing' })],
    [529, 'a failing provider', simulated('[[status=529]]')],
  ];
  for (const [status, what, body] of wanted) {
    const response = await post('/v1/messages', body);
    t.equal(response.status, status, what);
    hasSix(t, response, what);
    await response.arrayBuffer();
  }
  const broken = await post('/v1/messages', '{');
  t.equal(broken.status, 400);
  hasSix(t, broken, 'a body that is no JSON');
  const stream = await openStream(url, simulated('hi'));
  await stream.ended;
  for (const name of six) t.ok(stream.headers[name], `a stream: ${name}`);
  t.match(stream.text(), /"remaining_credits":\d+/, 'the last event tells the balance');
  const last = await post('/v1/messages', simulated('hi'));
  t.equal(
    last.headers.get('x-ratelimit-remaining-requests'),
    String(60 - wanted.length - 3),
    '8.1 every attempt counts, also a failed one',
  );
  await last.arrayBuffer();
});

testOnEachStore('8.4 a refusal names scope, metric and limit, and its wait is true', async (t, changes) => {
  const { post, call } = await runGateway(t, {
    ...changes,
    limits: { overrides: [{ scope: 'key', id: '*', rpm: 2 }] },
    bootstrap: organization(),
  });
  for (let i = 0; i < 2; i++) await (await post('/v1/messages', simulated('hi'))).arrayBuffer();
  const refused = await post('/v1/messages', simulated('hi'));
  t.equal(refused.status, 429);
  hasSix(t, refused, 'a 429');
  t.equal(refused.headers.get('x-ratelimit-limit-requests'), '2');
  t.equal(refused.headers.get('x-ratelimit-remaining-requests'), '0');
  const retry = Number(refused.headers.get('retry-after'));
  t.ok(retry >= 1 && retry <= 60, 'within the minute');
  t.equal(refused.headers.get('x-should-retry'), null);
  t.match(await refused.json(), {
    type: 'error',
    error: { type: 'rate_limit_error', message: /requests per minute of this API key, limit 2, used 2/ },
  });

  const requestId = refused.headers.get('x-request-id')!;
  const path = `/v1/requests/${requestId}/limits`;
  const explained = await call('GET', path, { key: APP_KEY });
  t.equal(explained.status, 200);
  const explanation = (await explained.json()) as { violated: unknown[]; decided_at: number };
  t.match(explanation, {
    object: 'request.limits',
    request_id: requestId,
    code: 'rate_limit_exceeded',
    project_id: 'proj_app',
    requested: { tokens: Number, credits: Number },
    degraded: false,
    violated: [
      { scope: 'key', metric: 'requests_per_minute', limit: 2, used: 2, reserved: 0, frees_at: Number },
    ],
  });
  t.equal(explanation.violated.length, 1);
  t.equal((await call('GET', path, { key: LIMITS_KEY })).status, 200, 'an administrator with limits.read');
  t.equal((await call('GET', path, { key: POOR_ADMIN_KEY })).status, 403);
  t.equal((await call('GET', path, { key: SIBLING_KEY })).status, 404, 'not for another project');
  t.equal((await call('GET', '/v1/requests/req_none/limits', { key: APP_KEY })).status, 404);
});

testOnEachStore('8 a refusal tells what requests under way have reserved', async (t, changes) => {
  const { post, call, url } = await runGateway(t, {
    ...changes,
    limits: { overrides: [{ scope: 'key', id: '*', tpm: 1_000 }] },
    bootstrap: organization(),
  });
  const stream = await openStream(url, simulated('[[tokens=50]][[stall=1h]]', { max_tokens: 900 }));
  const refused = await post('/v1/messages', simulated('hi', { max_tokens: 500 }));
  t.equal(refused.status, 429);
  await refused.arrayBuffer();
  const explain = async () => {
    const id = refused.headers.get('x-request-id')!;
    const response = await call('GET', `/v1/requests/${id}/limits`, { key: APP_KEY });
    return (await response.json()) as { violated: { metric: string; used: number; reserved: number }[] };
  };
  const { violated } = await explain();
  t.equal(violated.length, 1);
  t.match(violated[0], { scope: 'key', metric: 'tokens_per_minute', limit: 1_000 });
  t.ok(violated[0]!.used >= 900);
  t.equal(violated[0]!.reserved, violated[0]!.used, 'all of it is held by the stream');
  const standing = await call('GET', '/v1/limits', { key: APP_KEY });
  const { limits } = (await standing.json()) as {
    limits: { scope: string; metric: string; used: number; reserved: number }[];
  };
  t.match(
    limits.find(({ scope, metric }) => scope === 'key' && metric === 'tokens_per_minute'),
    { used: violated[0]!.used, reserved: violated[0]!.used },
  );
  t.match(
    limits.find(({ scope, metric }) => scope === 'key' && metric === 'concurrent_requests'),
    { used: 1, reserved: 1 },
  );
  stream.leave();
});

t.test('1.4 a wait of a day says that repeating is pointless', async (t) => {
  const { post } = await runGateway(t, {
    limits: { overrides: [{ scope: 'key', id: '*', rpd: 1 }] },
    bootstrap: organization(),
  });
  await (await post('/v1/messages', simulated('hi'))).arrayBuffer();
  const refused = await post('/v1/chat/completions', simulated('hi'));
  t.equal(refused.status, 429);
  t.ok(Number(refused.headers.get('retry-after')) > 86_000);
  t.equal(refused.headers.get('x-should-retry'), 'false');
  t.match(await refused.json(), { error: { type: 'rate_limit_error', code: 'rate_limit_exceeded' } });
});

testOnEachStore('8 a request without credits is a 402, counts, and reaches nobody', async (t, changes) => {
  const { post } = await runGateway(t, { ...changes, limits: {}, bootstrap: organization({ credits: 0 }) });
  const refused = await post('/v1/messages', simulated('hi'));
  t.equal(refused.status, 402);
  hasSix(t, refused, 'a 402');
  t.equal(refused.headers.get('x-error-code'), 'insufficient_credits');
  t.equal(refused.headers.get('x-should-retry'), 'false');
  t.match(await refused.json(), { error: { type: 'permission_error' } });
  const second = await post('/v1/messages', simulated('hi'));
  t.equal(second.headers.get('x-ratelimit-remaining-requests'), '58');
  await second.arrayBuffer();
});

t.test('8.4 the 429 of the administration carries its own six headers', async (t) => {
  const { call } = await runGateway(t, {
    limits: { admin: { credential_rpm: 3, organization_rpm: 4, concurrent: 5 } },
    bootstrap: organization(),
  });
  for (let i = 0; i < 3; i++) {
    const allowed = await call('GET', '/v1/organization/projects');
    t.equal(allowed.status, 200);
    t.notOk(allowed.headers.has('x-ratelimit-limit'));
  }
  const refused = await call('GET', '/v1/organization/projects');
  t.equal(refused.status, 429);
  const retry = Number(refused.headers.get('retry-after'));
  t.ok(retry >= 1 && retry <= 60);
  t.equal(refused.headers.get('x-ratelimit-limit'), '3');
  t.equal(refused.headers.get('x-ratelimit-remaining'), '0');
  t.ok(Math.abs(Number(refused.headers.get('x-ratelimit-reset')) - Date.now() / 1_000 - retry) < 5);
  t.equal(refused.headers.get('x-ratelimit-scope'), 'credential');
  t.equal(refused.headers.get('x-ratelimit-metric'), 'requests');
  t.equal((await call('GET', '/v1/organization/limits', { key: LIMITS_KEY })).status, 200);
  const whole = await call('GET', '/v1/organization/limits', { key: LIMITS_KEY });
  t.equal(whole.headers.get('x-ratelimit-scope'), 'organization', 'D13 the organization has a limit too');
});

t.test('D34 the free request runs under the limits of an anonymous organization', async (t) => {
  const { url } = await runGateway(t, { limits: {} });
  const response = await fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-free-tier': 'true' },
    body: JSON.stringify(simulated('hi')),
  });
  t.equal(response.status, 200);
  t.equal(response.headers.get('x-ratelimit-limit-requests'), '60');
  t.match(await response.json(), { remaining_credits: null });
});

testOnEachStore('the limits of a key can be read without counting', async (t, changes) => {
  const { post, call } = await runGateway(t, { ...changes, limits: {}, bootstrap: organization() });
  await (await post('/v1/messages', simulated('[[tokens=7]]'))).arrayBuffer();
  for (let i = 0; i < 2; i++) {
    const response = await call('GET', '/v1/limits', { key: APP_KEY });
    t.equal(response.status, 200);
    const body = (await response.json()) as { limits: { scope: string; metric: string; used: number }[] };
    t.match(body, { object: 'limits', tier: 'free', credits: { remaining_credits: Number } });
    t.equal(body.limits.length, 13, 'four for a key, four for a project, five for an organization');
    for (const scope of ['key', 'project', 'organization'])
      t.match(
        body.limits.find((each) => each.scope === scope && each.metric === 'requests_per_minute'),
        { used: 1, remaining: { key: 59, project: 89, organization: 119 }[scope] },
      );
    t.equal(body.limits.find(({ metric }) => metric === 'concurrent_requests')?.used, 0);
  }
  const twin = await call('GET', '/v1/organization/limits?project_id=proj_app', { key: LIMITS_KEY });
  t.equal(((await twin.json()) as { limits: unknown[] }).limits.length, 9, 'organization and project');
  const lost = await call('GET', '/v1/organization/limits?key_id=key_x', { key: LIMITS_KEY });
  t.equal(lost.status, 422);
  t.equal((await call('GET', '/v1/organization/limits', { key: POOR_ADMIN_KEY })).status, 403);
});

t.test('8 a limit that changes acts on the next request', async (t) => {
  const limits = (rpm: number): NonNullable<ConfigInput['limits']> => ({
    overrides: [{ scope: 'key', id: '*', rpm }],
  });
  const running = await runGateway(t, { limits: limits(1), bootstrap: organization() });
  const ask = async (): Promise<number> => {
    const response = await running.post('/v1/messages', simulated('hi'));
    await response.arrayBuffer();
    return response.status;
  };
  t.equal(await ask(), 200);
  t.equal(await ask(), 429);
  await running.gateway.reload(await testConfig({ limits: limits(5), bootstrap: organization() }));
  t.equal(await ask(), 200);
});
