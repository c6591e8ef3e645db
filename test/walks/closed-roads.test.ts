import t from 'tap';
import type { ConfigInput } from '../../src/config/schema.js';
import { jsonAnswer } from '../support/fake-provider.js';
import {
  ADMIN_KEY,
  APP_KEY,
  frontProvider,
  runGateway,
  until,
  UPSTREAM_KEY,
  type Running,
} from '../support/gateway.js';
import { simulated } from '../support/inference.js';

const passthrough = [{ path: '/v1/embeddings', unmoderated: true }];
const embedding = { object: 'list', data: [] };

const organization = (more: object = {}): ConfigInput['bootstrap'] => ({
  organizations: [
    {
      id: 'org_test',
      name: 'Test',
      admin_keys: [{ name: 'root', value: ADMIN_KEY }],
      projects: [{ id: 'proj_app', name: 'App', keys: [{ name: 'app', value: APP_KEY }] }],
      ...more,
    },
  ],
});

const readJson = async (response: Response): Promise<Record<string, unknown>> =>
  (await response.json()) as Record<string, unknown>;

const latestEvent = async ({ call }: Running): Promise<unknown> =>
  ((await readJson(await call('GET', '/api/policy-gateway/history')))['data'] as unknown[])[0];

t.test('5 the anonymous free request is for /v1/messages and /v1/responses alone', async (t) => {
  const { url, upstream } = await frontProvider(t, 'openai_chat', jsonAnswer(200, embedding), {
    provider: { passthrough },
    credits: { free_request: { enabled: true, model: 'm', max_tokens: 16 } },
  });
  const free = { 'x-free-tier': 'true', 'content-type': 'application/json' };
  for (const path of [
    '/v1/embeddings',
    '/v1/moderations',
    '/v1/chat/completions',
    '/v1/messages/count_tokens',
  ]) {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: free,
      body: '{"model":"m","input":"x"}',
    });
    t.equal(response.status, 401, path);
    await response.arrayBuffer();
  }
  t.equal((await fetch(`${url}/v1/models`, { headers: free })).status, 401);
  t.equal(upstream.requests.length, 0);
});

t.test('7.3 no spelling of a request reserves less than it may take', async (t) => {
  const { post } = await runGateway(t, {
    bootstrap: organization({ credits: 100 }),
    models: [{ name: 'sim-small', provider: 'sim', price: { input_per_mtok: 0, output_per_mtok: 100 } }],
  });
  const asked = { model: 'sim-small', messages: [{ role: 'user', content: 'Hi' }] };
  for (const [path, body] of [
    ['/v1/responses', { model: 'sim-small', input: 'Hi', max_output_tokens: 8_000, max_tokens: 1 }],
    ['/v1/chat/completions', { ...asked, max_tokens: 1, max_completion_tokens: 8_000 }],
    ['/v1/chat/completions', { ...asked, max_tokens: 15, n: 128 }],
  ] as const) {
    const response = await post(path, body);
    t.equal(response.status, 402, JSON.stringify(body));
    await response.arrayBuffer();
  }
  const affordable = await post('/v1/chat/completions', { ...asked, max_tokens: 50 });
  t.equal(affordable.status, 200);
  await affordable.arrayBuffer();
});

t.test('D43 a passthrough body that does not tell its size is held for too', async (t) => {
  const price = { input_per_mtok: 1_000, output_per_mtok: 1_000 };
  const { url, upstream } = await frontProvider(t, 'openai_chat', jsonAnswer(200, embedding), {
    provider: { passthrough: [{ ...passthrough[0], price }] },
    bootstrap: organization({ credits: 0 }),
  });
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(Buffer.from('{"input":"x"}'));
      controller.close();
    },
  });
  const headers = { authorization: `Bearer ${APP_KEY}`, 'content-type': 'application/json' };
  const options = { method: 'POST', headers, body, duplex: 'half' } as RequestInit;
  t.equal((await fetch(`${url}/v1/embeddings`, options)).status, 402);
  t.equal(upstream.requests.length, 0);
});

t.test(
  'D43 what a provider fails at on a passthrough costs nothing, and a 429 says when to come again',
  async (t) => {
    const price = { input_per_mtok: 1_000, output_per_mtok: 1_000 };
    const gateway = await frontProvider(t, 'openai_chat', jsonAnswer(500, { error: 'no' }), {
      provider: { passthrough: [{ ...passthrough[0], price }] },
    });
    const left = async (): Promise<unknown> =>
      (await readJson(await gateway.call('GET', '/v1/credits', { key: APP_KEY })))['remaining_credits'];
    const before = await left();
    t.equal((await gateway.post('/v1/embeddings', { input: 'x' })).status, 500);
    gateway.upstream.play(jsonAnswer(429, { error: 'slow' }));
    const slow = await gateway.post('/v1/embeddings', { input: 'x' });
    t.equal(slow.status, 429);
    t.equal(slow.headers.get('retry-after'), '5');
    gateway.upstream.play(jsonAnswer(402, { error: 'pay' }));
    t.equal(
      (await gateway.post('/v1/embeddings', { input: 'x' })).status,
      502,
      'our bill is not the client’s',
    );
    t.equal(await left(), before);
  },
);

t.test('D33 a key for certain models only does not get around that on a passthrough', async (t) => {
  const { post, upstream } = await frontProvider(t, 'openai_chat', jsonAnswer(200, embedding), {
    provider: { passthrough },
    bootstrap: organization({
      projects: [
        { id: 'proj_app', name: 'App', keys: [{ name: 'app', value: APP_KEY, models: ['sim-small'] }] },
      ],
    }),
  });
  const response = await post('/v1/embeddings', { model: 'other', input: 'x' });
  t.equal(response.status, 403);
  t.match(await response.json(), { error: { code: 'model_not_allowed' } });
  t.equal(upstream.requests.length, 0);
});

t.test('D25 a key of another project is refused on every road, and the event says so', async (t) => {
  const gateway = await frontProvider(t, 'openai_chat', jsonAnswer(200, embedding), {
    provider: { passthrough },
    bootstrap: organization({ gateway: { org_controls: { project_keys: true } } }),
  });
  const other = { 'x-policy-project': 'proj_other' };
  const messages = [{ role: 'user', content: 'Hi' }];
  const bodies = {
    '/v1/messages': { model: 'm', max_tokens: 5, messages },
    '/v1/chat/completions': { model: 'm', messages },
    '/v1/responses': { model: 'm', input: 'Hi' },
    '/v1/messages/count_tokens': { model: 'm', messages },
    '/v1/moderations': { input: 'Hi' },
    '/v1/embeddings': { input: 'Hi' },
  };
  for (const [path, body] of Object.entries(bodies)) {
    const response = await gateway.post(path, body, other);
    t.equal(response.status, 403, path);
    t.equal(response.headers.get('x-policy-decision'), 'refuse', path);
    t.match(await response.text(), /does not belong to the project proj_other/, path);
  }
  t.match(await latestEvent(gateway), { decision: 'refuse', enforced: true, reason_code: 'REFUSE' });
  t.equal(gateway.upstream.requests.length, 0);
  t.equal((await gateway.post('/v1/embeddings', {}, { 'x-policy-project': 'proj_app' })).status, 200);
});

for (const show of ['when_acted', 'never'] as const)
  t.test(`D21 D26 a quota is refused in the organization's own words [${show}]`, async (t) => {
    const gateway = await runGateway(t, {
      bootstrap: organization({
        gateway: {
          rules: { reason_codes: ['ALLOW', 'TOO_MUCH'] },
          org_controls: { project_quota: { requests: 1, window: 'monthly' } },
        },
      }),
      policies: { show_decisions: show },
    });
    t.equal((await gateway.post('/v1/messages', simulated('Hi'))).status, 200);
    const over = await gateway.post('/v1/messages', simulated('Hi'));
    t.equal(over.status, 429);
    t.ok(over.headers.get('retry-after'));
    t.ok(over.headers.get('x-ratelimit-limit-requests'), '8.4 with the six headers');
    t.match(await over.text(), /TOO_MUCH: .*monthly quota of requests/);
    const shown = ['decision', 'reason-code', 'rollout-mode'].map((name) =>
      over.headers.get(`x-policy-${name}`),
    );
    t.same(shown, show === 'never' ? [null, null, null] : ['refuse', 'TOO_MUCH', 'enforced']);
    t.match(await latestEvent(gateway), {
      decision: 'refuse',
      reason_code: 'TOO_MUCH',
      quota_subject: 'proj_app',
    });
  });

t.test('8.3 reading the balance has limits of its own', async (t) => {
  const { call } = await runGateway(t, { limits: {} });
  for (let n = 0; n < 61; n++) await (await call('GET', '/v1/models', { key: APP_KEY })).arrayBuffer();
  t.equal((await call('GET', '/v1/models', { key: APP_KEY })).status, 429);
  t.equal((await call('GET', '/v1/credits', { key: APP_KEY })).status, 200);
});

t.test('8.1 an attempt with a bad header counts, after the credential was looked at', async (t) => {
  const { post, call, url } = await runGateway(t);
  const zipped = { 'content-encoding': 'gzip' };
  for (let n = 0; n < 3; n++) t.equal((await post('/v1/messages', simulated('Hi'), zipped)).status, 415);
  const used = async (): Promise<number | undefined> => {
    const { limits } = (await readJson(await call('GET', '/v1/limits', { key: APP_KEY }))) as unknown as {
      limits: { scope: string; metric: string; used: number }[];
    };
    return limits.find(({ scope, metric }) => scope === 'key' && metric === 'requests_per_minute')?.used;
  };
  await until(async () => (await used()) === 3, 'three attempts to be counted');
  const stranger = await fetch(`${url}/v1/messages`, { method: 'POST', headers: zipped, body: '{}' });
  t.equal(stranger.status, 401);
});

t.test('7 a path that cannot be read gets the error of its family', async (t) => {
  const { url } = await runGateway(t);
  const shapes = {
    '/v1/messages?x=%ZZ': { type: 'error', error: { type: 'invalid_request_error' } },
    '/v1/responses?x=%ZZ': { error: String, code: 'invalid_path' },
    '/v1/chat/completions?x=%ZZ': { error: { code: 'invalid_path', param: null } },
  };
  for (const [path, shape] of Object.entries(shapes)) {
    const response = await fetch(url + path, { method: 'POST', body: '{}' });
    t.equal(response.status, 400, path);
    t.match(await response.json(), shape, path);
  }
});

t.test(
  'D42 what a provider quotes when it refuses shows neither our key nor what is in its address',
  async (t) => {
    const inQuery = 'query-secret-of-the-operator';
    const quoted = jsonAnswer(400, { error: { message: `Bad ${UPSTREAM_KEY} at /x?api-key=${inQuery}` } });
    const { post } = await frontProvider(t, 'openai_chat', quoted, {
      provider: { passthrough, query: { 'api-key': inQuery } },
    });
    for (const [path, body] of [
      ['/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }],
      ['/v1/embeddings', { input: 'Hi' }],
    ] as const) {
      const response = await post(path, body);
      t.equal(response.status, 400, path);
      const words = await response.text();
      t.match(words, /Bad \*\*\*/, path);
      t.notMatch(words, UPSTREAM_KEY, path);
      t.notMatch(words, inQuery, path);
    }
  },
);

t.test('4.13 a provider that makes up its token counts breaks no account', async (t) => {
  const answer = {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [
      { index: 0, message: { role: 'assistant', content: 'Four words and more.' }, finish_reason: 'stop' },
    ],
    usage: { prompt_tokens: 10, completion_tokens: 1e308, total_tokens: 1e308 },
  };
  const { post, call, upstream } = await frontProvider(t, 'openai_chat', jsonAnswer(200, answer));
  const ask = () => post('/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content: 'Hi' }] });
  const first = await ask();
  t.equal(first.status, 200);
  const { estimated_credits_used: used } = await readJson(first);
  t.ok(Number(used) < 1_000, `${String(used)} credits`);
  t.equal((await ask()).status, 200, 'and the next one is served');
  const usage = await call('GET', '/v1/organization/usage');
  t.equal(usage.status, 200);
  await usage.arrayBuffer();
  t.equal(upstream.requests[0]!.headers['content-type'], 'application/json');
});
