import { createHmac } from 'node:crypto';
import t from 'tap';
import type { ConfigInput } from '../../src/config/schema.js';
import { jsonAnswer, type Script } from '../support/fake-provider.js';
import {
  APP_KEY,
  frontProvider,
  generousLimits,
  runGateway,
  until,
  UPSTREAM_KEY,
} from '../support/gateway.js';

const PATH = '/v1/messages/count_tokens';
const NARROW_KEY = 'sk-test-app-key-of-one-model-only';

const body = (more: object = {}) => ({
  model: 'claude-opus-4-5',
  messages: [{ role: 'user', content: 'How many tokens are in this text?' }],
  ...more,
});

const countOf = async (response: Response): Promise<readonly [number, string | null]> => {
  const { input_tokens: tokens } = (await response.json()) as { input_tokens: number };
  return [tokens, response.headers.get('x-token-count')];
};

t.test('4.12 an upstream that counts is asked, and its count is exact', async (t) => {
  const { post, upstream } = await frontProvider(t, 'anthropic', jsonAnswer(200, { input_tokens: 403 }), {
    model: { upstream_model: 'claude-real' },
  });
  const thinking = { type: 'thinking', thinking: 'hm', signature: 'c2ln' };
  const edits = [{ type: 'clear_thinking_20251015', keep: 'all' }];
  const sent = body({
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: [thinking] },
    ],
    tools: [{ name: 'f', input_schema: { type: 'object' } }],
  });
  const ours = { context_management: { edits }, flagged_categories: ['hate'] };
  const response = await post(
    `${PATH}?beta=true`,
    { ...sent, ...ours },
    {
      'anthropic-version': '2026-10-21',
      'anthropic-beta': 'context-management-2025-06-27, other-beta',
    },
  );
  t.equal(response.status, 200);
  t.same(await countOf(response), [403, 'exact']);
  const [seen] = upstream.requests;
  t.equal(seen!.url, '/v1/messages/count_tokens');
  t.equal(seen!.headers['x-api-key'], UPSTREAM_KEY);
  t.equal(seen!.headers['anthropic-version'], '2026-10-21');
  t.equal(seen!.headers['anthropic-beta'], 'other-beta', 'D41 the edit is consumed, and its beta with it');
  t.same(JSON.parse(seen!.body), { ...sent, model: 'claude-real' }, 'and nothing else is changed');
});

t.test('D41 a counter that fails is no failure of counting: it is done here', async (t) => {
  const failures: Readonly<Record<string, Script>> = {
    'a 401 for our key': jsonAnswer(401, { error: { message: 'no' } }),
    'no such path': jsonAnswer(404, {}),
    'a rate limit': jsonAnswer(429, {}, { 'retry-after': '9' }),
    'a 500': jsonAnswer(500, {}),
    'an overload': jsonAnswer(529, {}),
    'no JSON': [{ head: 200, headers: { 'content-type': 'text/html' } }, { write: '<html>' }, 'end'],
    'no count': jsonAnswer(200, { tokens: 5 }),
    'a count that is none': jsonAnswer(200, { input_tokens: -1 }),
    'a reset': ['reset'],
    'an early end': [{ head: 200, headers: { 'content-length': '50' } }, { write: '{"input' }, 'close'],
  };
  const { post, upstream } = await frontProvider(t, 'anthropic', ['stall']);
  for (const [index, [name, script]] of Object.entries(failures).entries()) {
    upstream.play(script);
    // A model of its own each time: five failures of one would open its circuit.
    const response = await post(PATH, body({ model: `claude-${index}` }));
    t.equal(response.status, 200, name);
    const [tokens, kind] = await countOf(response);
    t.equal(kind, 'estimate', name);
    t.ok(tokens > 10 && tokens < 30, `${name}: ${tokens}`);
    t.equal(upstream.requests.length, index + 1, `${name}: asked once`);
  }
});

t.test('D41 what the counter says of the body itself is passed on', async (t) => {
  const { post, upstream } = await frontProvider(t, 'anthropic', ['stall']);
  for (const status of [400, 413, 422]) {
    const error = { type: 'invalid_request_error', message: 'tools.0: no' };
    upstream.play(jsonAnswer(status, { type: 'error', error }));
    const response = await post(PATH, body());
    t.equal(response.status, status);
    t.match(await response.json(), {
      type: 'error',
      error: { code: 'provider_rejected', message: 'tools.0: no' },
    });
  }
});

t.test('D41 a counter that fails again and again is given a rest, and answers go on', async (t) => {
  const { post, upstream } = await frontProvider(t, 'anthropic', jsonAnswer(500, {}));
  for (let i = 0; i < 8; i++) t.equal((await post(PATH, body())).status, 200);
  t.equal(upstream.requests.length, 5, 'its circuit is open');
  upstream.play(
    jsonAnswer(200, { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [] }),
  );
  t.equal((await post('/v1/messages', body({ max_tokens: 5 }))).status, 200, 'the circuit of answers is not');
});

t.test('4.12 OpenAI counts too, after translation', async (t) => {
  const { post, upstream } = await frontProvider(
    t,
    'openai_responses',
    jsonAnswer(200, { object: 'response.input_tokens', input_tokens: 77 }),
    { model: { flags: { drop_reasoning: true } } },
  );
  const response = await post(
    PATH,
    body({ model: 'gpt-5', system: 'Be brief.', max_tokens: 5, temperature: 1 }),
  );
  t.same(await countOf(response), [77, 'exact']);
  t.equal(upstream.requests[0]!.url, '/responses/input_tokens');
  t.match(JSON.parse(upstream.requests[0]!.body), { model: 'gpt-5', instructions: 'Be brief.' });
  t.strictSame(Object.keys(JSON.parse(upstream.requests[0]!.body) as object).toSorted(), [
    'input',
    'instructions',
    'model',
  ]);
  const untranslatable = body({ model: 'gpt-5', tools: [{ type: 'web_search_20250305', name: 'web' }] });
  t.equal((await countOf(await post(PATH, untranslatable)))[1], 'estimate');
  upstream.play(jsonAnswer(400, { error: { message: 'unknown field' } }));
  t.equal((await countOf(await post(PATH, body())))[1], 'estimate', 'its complaint is about our words');
  t.equal(upstream.requests.length, 2);
});

t.test('4.12 a server with native messages is asked for its count', async (t) => {
  const { post, upstream } = await frontProvider(t, 'openai_chat', jsonAnswer(200, { input_tokens: 9 }), {
    model: { flags: { native_messages: true } },
  });
  t.same(await countOf(await post(PATH, body())), [9, 'exact']);
  t.equal(upstream.requests[0]!.url, '/v1/messages/count_tokens');
});

t.test(
  '4.12 where nobody counts upstream, tools, schemas, pictures and documents are counted here',
  async (t) => {
    const { post, upstream } = await frontProvider(t, 'openai_chat', jsonAnswer(500, {}));
    const count = async (more: object, model = 'gpt-5') => {
      const [tokens, kind] = await countOf(await post(PATH, body({ model, ...more })));
      t.equal(kind, 'estimate');
      return tokens;
    };
    const plain = 15; // eight words of text, four for the message, three to begin
    await until(async () => (await count({})) === plain, 'the vocabulary to be loaded');
    t.ok((await count({}, 'claude-opus-4-5')) > plain);
    t.ok((await count({}, 'claude-opus-4-8')) > (await count({}, 'claude-opus-4-5')));
    t.equal(await count({ system: 'hello world' }), plain + 2);
    t.ok((await count({ tools: [{ name: 'f', input_schema: { type: 'object' } }] })) > plain + 350);
    t.ok(
      (await count({ output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } })) >
        plain,
    );
    const block = (content: object) => ({ messages: [{ role: 'user', content: [content] }] });
    t.equal(await count(block({ type: 'image', source: { type: 'url', url: 'https://x.test' } })), 1_607);
    t.equal(await count(block({ type: 'document', source: { type: 'url', url: 'https://x.test' } })), 3_007);
    t.equal(
      await count(block({ type: 'thinking', thinking: 'hello world', signature: 's' })),
      9,
      'no replayed reasoning is left out',
    );
    t.equal(await count(block({ type: 'text', text: 'a'.repeat(50_000) })), 6_257);
    await until(async () => (await count({}, 'gpt-4')) === plain, 'the other vocabulary to be loaded');
    t.equal(upstream.requests.length, 0);
  },
);

t.test('4.12 the simulator counts as it will charge', async (t) => {
  const { post } = await runGateway(t);
  const asked = { ...body(), model: 'sim-small' };
  const [tokens, kind] = await countOf(await post(PATH, asked));
  t.equal(kind, 'exact');
  const message = (await (await post('/v1/messages', { ...asked, max_tokens: 5 })).json()) as {
    usage: { input_tokens: number };
  };
  t.equal(tokens, message.usage.input_tokens);
});

t.test('D41 a body at fault is a 422 that lists every fault; another edit is one', async (t) => {
  const { post } = await runGateway(t);
  const response = await post(PATH, { messages: [] });
  t.equal(response.status, 422);
  t.match(await response.json(), {
    detail: [
      { type: 'missing', loc: ['body', 'model'], msg: 'Field required' },
      { type: 'too_short', loc: ['body', 'messages'] },
    ],
  });
  const edits = [{ type: 'clear_tool_uses_20250919' }];
  const other = await post(PATH, body({ context_management: { edits } }));
  t.equal(other.status, 422);
  t.match(await other.json(), { detail: [{ loc: ['body', 'context_management', 'edits', 0, 'type'] }] });
});

const organizations: NonNullable<ConfigInput['bootstrap']>['organizations'] = [
  {
    id: 'org_test',
    name: 'Test',
    credits: 10,
    projects: [
      {
        id: 'proj_app',
        name: 'App',
        keys: [
          { name: 'app', value: APP_KEY },
          { name: 'narrow', value: NARROW_KEY, models: ['other-*'] },
        ],
      },
    ],
  },
];

t.test('7.3 everything else is an error of the messages family', async (t) => {
  const { post } = await runGateway(t, { bootstrap: { organizations } });
  const unknown = await post(PATH, body());
  t.equal(unknown.status, 404);
  t.match(await unknown.json(), {
    type: 'error',
    error: { type: 'not_found_error', code: 'model_not_found' },
  });
  const forbidden = await post(
    PATH,
    { ...body(), model: 'sim-small' },
    { authorization: `Bearer ${NARROW_KEY}` },
  );
  t.equal(forbidden.status, 403);
  t.match(await forbidden.json(), { error: { type: 'permission_error', code: 'model_not_allowed' } });
});

t.test(
  'D34 count_tokens takes API keys, in either header, and neither a JWT nor the free request',
  async (t) => {
    const secret = 'a-shared-secret-of-32-characters-or-more';
    const { url } = await runGateway(t, {
      auth: { jwt: { enabled: true, secret, issuer: 'i', audience: 'a' } },
      bootstrap: { organizations },
    });
    const send = (headers: Record<string, string>) =>
      fetch(url + PATH, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ ...body(), model: 'sim-small' }),
      });
    t.equal((await send({ 'x-api-key': APP_KEY })).status, 200);
    t.equal((await send({ authorization: `Bearer ${APP_KEY}` })).status, 200);
    t.equal(
      (await send({ 'x-api-key': APP_KEY, authorization: 'Bearer sk-nobody-knows-this-key' })).status,
      401,
    );
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = { iss: 'i', aud: 'a', sub: 'u', org_id: 'org_test', project_id: 'proj_app', exp: 4e9 };
    const unsigned = `${part({ alg: 'HS256' })}.${part(claims)}`;
    const jwt = `${unsigned}.${createHmac('sha256', secret).update(unsigned).digest('base64url')}`;
    const refused = await send({ authorization: `Bearer ${jwt}` });
    t.equal(refused.status, 401);
    t.match(await refused.json(), { error: { code: 'invalid_api_key', message: /project API key/ } });
    t.equal((await send({ 'x-free-tier': 'true' })).status, 401);
  },
);

t.test('8.1 a count is a request of its key and takes neither tokens nor credits', async (t) => {
  const { post, call } = await runGateway(t, {
    bootstrap: { organizations },
    limits: { ...generousLimits, overrides: [{ scope: 'key', id: '*', rpm: 2 }] },
  });
  const asked = { ...body(), model: 'sim-small' };
  for (const left of ['1', '0']) {
    const response = await post(PATH, asked);
    t.equal(response.status, 200);
    t.equal(response.headers.get('x-ratelimit-remaining-requests'), left);
  }
  const refused = await post(PATH, asked);
  t.equal(refused.status, 429);
  t.match(await refused.json(), { type: 'error', error: { type: 'rate_limit_error' } });
  const credits = await call('GET', '/v1/credits', { key: APP_KEY });
  t.match(await credits.json(), { remaining_credits: 10 });
});
