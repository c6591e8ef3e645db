import t from 'tap';
import { jsonAnswer, streamAnswer } from '../support/fake-provider.js';
import { frontProvider, runGateway, until, UPSTREAM_KEY } from '../support/gateway.js';

const hello = { model: 'claude-test', max_tokens: 64, messages: [{ role: 'user', content: 'Hello' }] };

const event = (name: string, data: object): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

const start = event('message_start', {
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-test',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 1_000, output_tokens: 1 },
  },
});
const opening = event('content_block_start', {
  type: 'content_block_start',
  index: 0,
  content_block: { type: 'text', text: '' },
});
const delta = (text: string): string =>
  event('content_block_delta', {
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'text_delta', text },
  });
const closing = event('content_block_stop', { type: 'content_block_stop', index: 0 });
const ending = event('message_delta', {
  type: 'message_delta',
  delta: { stop_reason: 'end_turn', stop_sequence: null },
  usage: { output_tokens: 200 },
});
const stop = event('message_stop', { type: 'message_stop' });

t.test('4.10 an answer keeps every byte of the provider and gains the three credit fields', async (t) => {
  const answer =
    '{ "id":"msg_1","type":"message","role":"assistant","model":"claude-test","content":[{"type":"text","text":"Grüße \\u00fc"}],' +
    '"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1000,"output_tokens":200},"odd": 12345678901234567890 }';
  const { post } = await frontProvider(t, 'anthropic', [
    { head: 200, headers: { 'content-type': 'application/json', 'request-id': 'req_up' } },
    { write: answer },
    'end',
  ]);
  const response = await post('/v1/messages', hello);
  t.equal(response.status, 200);
  const text = await response.text();
  const added = ',"remaining_credits":99940,"estimated_credits_used":60,"estimated_cost_usd":0.006';
  t.equal(text.replace(added, ''), answer.trimEnd());
  t.ok(text.includes(added), 'price times usage: 1000 x $3 + 200 x $15 a million, at $0.0001 a credit');
  t.match(response.headers.get('x-request-id'), /^req_/);
  t.equal(response.headers.get('request-id'), response.headers.get('x-request-id'));
});

t.test('4.10 a stream is passed on byte for byte, but for the event that carries the credits', async (t) => {
  const before = [
    start,
    opening,
    event('ping', { type: 'ping' }),
    delta('Hel'),
    delta('lo \u{1F30D}'),
    closing,
  ];
  const { post } = await frontProvider(t, 'anthropic', streamAnswer(...before, ending, stop));
  const response = await post('/v1/messages', { ...hello, stream: true });
  t.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  const text = await response.text();
  t.ok(text.startsWith(before.join('')), 'everything before the end is untouched');
  t.ok(text.endsWith(stop));
  const rewritten = JSON.parse(/event: message_delta\ndata: (.*)\n/.exec(text)![1]!) as object;
  const fields = { remaining_credits: 99_940, estimated_credits_used: 60, estimated_cost_usd: 0.006 };
  t.match(rewritten, {
    delta: { stop_reason: 'end_turn' },
    usage: { output_tokens: 200, ...fields },
    ...fields,
  });
});

t.test('D42 the provider sees its own key and none of the client, and the body as validated', async (t) => {
  const { post, upstream } = await frontProvider(t, 'anthropic', jsonAnswer(200, {}));
  await post(
    '/v1/messages?beta=true',
    {
      ...hello,
      flagged_categories: ['hate'],
      context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    },
    {
      cookie: 'a=b',
      'x-policy-user': 'u1',
      'anthropic-beta': 'one-2025,context-management-2025-06-27',
      'x-custom': '1',
    },
  );
  const seen = upstream.requests[0]!;
  t.equal(seen.url, '/v1/messages');
  t.equal(seen.headers['x-api-key'], UPSTREAM_KEY);
  t.equal(seen.headers['anthropic-beta'], 'one-2025');
  for (const name of ['authorization', 'cookie', 'x-policy-user', 'x-custom'])
    t.equal(seen.headers[name], undefined, name);
  t.strictSame(JSON.parse(seen.body), hello);
});

t.test('D42 a model under another name is asked for by that name and shown by its own', async (t) => {
  const whole = {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'inner',
    content: [],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  };
  const { post, upstream } = await frontProvider(t, 'anthropic', jsonAnswer(200, whole), {
    model: { name: 'outer', upstream_model: 'inner' },
  });
  const response = await post('/v1/messages', { ...hello, model: 'outer' });
  t.match(JSON.parse(upstream.requests[0]!.body), { model: 'inner' });
  t.match(await response.json(), { model: 'outer' });
});

t.test('7.3 what is wrong with a body is said with the field, in the shape of the endpoint', async (t) => {
  const { post } = await runGateway(t);
  const cases: readonly (readonly [unknown, RegExp])[] = [
    [{ ...hello, messages: [] }, /^messages/],
    [{ ...hello, model: undefined }, /^model/],
    [{ ...hello, max_tokens: 0 }, /^max_tokens/],
    [{ ...hello, temperature: 2.1 }, /^temperature/],
    [{ ...hello, stream: 'yes' }, /^stream/],
    [{ ...hello, flagged_categories: ['politics'] }, /^flagged_categories/],
    [[], /./],
    ['null', /./],
  ];
  for (const [body, message] of cases) {
    const response = await post('/v1/messages', body);
    t.equal(response.status, 400);
    t.match(await response.json(), { type: 'error', error: { type: 'invalid_request_error', message } });
  }
});

t.test('7.3 an unknown model is 404, a model the key may not use is 403', async (t) => {
  const { post } = await runGateway(t);
  const response = await post('/v1/messages', { ...hello, model: 'nope' });
  t.equal(response.status, 404);
  t.match(await response.json(), { error: { type: 'not_found_error', code: 'model_not_found' } });
});

t.test(
  "D42 a provider that refuses our key is our failure; its other refusals are the client's",
  async (t) => {
    const { post, upstream } = await frontProvider(t, 'anthropic', [], {
      provider: { retry: { attempts: 1 } },
    });
    const refusal = {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'max_tokens: too many' },
    };
    const cases = [
      [401, 502, 'provider_error'],
      [403, 502, 'provider_error'],
      [400, 400, 'provider_rejected'],
      [413, 413, 'provider_rejected'],
      [429, 429, 'provider_rate_limited'],
      [500, 502, 'provider_error'],
      [503, 503, 'provider_unavailable'],
      [529, 529, 'provider_overloaded'],
    ] as const;
    for (const [theirs, ours, code] of cases) {
      upstream.play(jsonAnswer(theirs, refusal, { 'retry-after': '7' }));
      const response = await post('/v1/messages', hello);
      t.equal(response.status, ours, `${theirs}`);
      t.equal(response.headers.get('x-error-code'), code);
      const body = (await response.json()) as { error: { message: string } };
      if (ours < 429) t.equal(body.error.message, 'max_tokens: too many');
      if (ours === 429) t.equal(response.headers.get('retry-after'), '7');
      t.notMatch(JSON.stringify(body), UPSTREAM_KEY);
    }
  },
);

t.test('D42 when the provider fails before its first byte the fallback answers', async (t) => {
  const { post, upstream } = await frontProvider(t, 'anthropic', jsonAnswer(500, {}), {
    providers: {
      up: { kind: 'anthropic', base_url: 'http://127.0.0.1:1', retry: { attempts: 1 } },
      sim: { kind: 'simulator', ttft: '0ms' },
    },
    models: [
      { name: 'claude-test', provider: 'up', fallbacks: ['sim-small'] },
      { name: 'sim-small', provider: 'sim' },
    ],
  });
  const response = await post('/v1/messages', hello);
  t.equal(response.status, 200);
  t.match(await response.json(), { type: 'message', model: 'claude-test' });
  t.equal(upstream.requests.length, 0);
});

t.test(
  '6.1 an answer that is cut off inside a stream ends with the error event of the format, never a fake end',
  async (t) => {
    let cut = (): void => {};
    const { post } = await frontProvider(t, 'anthropic', [
      { head: 200, headers: { 'content-type': 'text/event-stream' } },
      { write: start + opening + delta('Hel') },
      { until: new Promise<void>((resolve) => (cut = resolve)) },
      'reset',
    ]);
    const response = await post('/v1/messages', { ...hello, stream: true });
    cut();
    const text = await response.text();
    t.ok(text.startsWith(start + opening + delta('Hel')));
    t.match(text, /event: error\ndata: \{"type":"error","error":\{"type":"api_error"/);
    t.notMatch(text, 'message_stop');
  },
);

t.test('6.2 a client that leaves inside a stream stops the upstream', async (t) => {
  const { url, upstream } = await frontProvider(t, 'anthropic', [
    { head: 200, headers: { 'content-type': 'text/event-stream' } },
    { write: start + opening + delta('Hel') },
    { until: new Promise(() => {}) },
  ]);
  const abort = new AbortController();
  const response = await fetch(`${url}/v1/messages`, {
    method: 'POST',
    signal: abort.signal,
    headers: { authorization: 'Bearer sk-test-app-key-of-the-suite', 'content-type': 'application/json' },
    body: JSON.stringify({ ...hello, stream: true }),
  });
  await response.body!.getReader().read();
  abort.abort();
  await until(() => upstream.open === 0, 'the upstream connection is closed');
  t.pass();
});
