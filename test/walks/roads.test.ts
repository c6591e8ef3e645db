import t from 'tap';
import type { ConfigInput } from '../../src/config/schema.js';
import { jsonAnswer, startFakeProvider, type FakeProvider } from '../support/fake-provider.js';
import { frontProvider, runGateway, UPSTREAM_KEY } from '../support/gateway.js';

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [],
  usage: { input_tokens: 3, output_tokens: 1 },
};
const completion = {
  id: 'c',
  object: 'chat.completion',
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
};
const asked = { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] };

type Targets = NonNullable<NonNullable<ConfigInput['models']>[number]['targets']>;

/** A gateway with one model on several providers, named by their letters. */
const frontTargets = async (
  t: { teardown(run: () => Promise<void>): unknown },
  upstreams: Readonly<Record<string, readonly [FakeProvider, 'anthropic' | 'openai_chat']>>,
  targets: Targets,
) => {
  const running = await runGateway(t, {
    providers: Object.fromEntries(
      Object.entries(upstreams).map(([name, [{ url }, kind]]) => [
        name,
        { kind, base_url: url, api_key: UPSTREAM_KEY, retry: { attempts: 1 } },
      ]),
    ),
    models: [{ name: 'm', targets }],
    credits: { free_request: { enabled: false } },
  });
  for (const [upstream] of Object.values(upstreams)) t.teardown(() => upstream.close());
  return running;
};

t.test('requests are shared out by weight, and one that fails is made up for by another', async (t) => {
  const [a, b, c] = await Promise.all([1, 2, 3].map(() => startFakeProvider(jsonAnswer(200, message))));
  const { post } = await frontTargets(
    t,
    { a: [a!, 'anthropic'], b: [b!, 'anthropic'], c: [c!, 'anthropic'] },
    [
      { provider: 'a', weight: 1 },
      { provider: 'b', weight: 1, upstream_model: 'renamed' },
      { provider: 'c', weight: 0 },
    ],
  );
  const ask = async (times: number): Promise<void> => {
    const statuses = await Promise.all(
      Array.from({ length: times }, async () => (await post('/v1/messages', asked)).status),
    );
    t.ok(statuses.every((status) => status === 200));
  };
  await ask(60);
  t.equal(a!.requests.length + b!.requests.length, 60);
  t.ok(a!.requests.length > 5 && b!.requests.length > 5, `${a!.requests.length} ${b!.requests.length}`);
  t.equal(c!.requests.length, 0, 'of weight 0');
  t.match(JSON.parse(b!.requests[0]!.body), { model: 'renamed' });
  a!.play(jsonAnswer(500, {}));
  b!.play(jsonAnswer(500, {}));
  await ask(10);
  t.equal(c!.requests.length, 10, 'after the others, before any fallback');
});

t.test('a target that cannot express a request is passed over while another can', async (t) => {
  const [a, b] = await Promise.all([
    startFakeProvider(jsonAnswer(200, message)),
    startFakeProvider(jsonAnswer(200, completion)),
  ]);
  const targets: Targets = [
    { provider: 'a', weight: 1 },
    { provider: 'b', weight: 1, flags: { takes_documents: false } },
  ];
  const { post } = await frontTargets(t, { a: [a, 'anthropic'], b: [b, 'openai_chat'] }, targets);
  const source = { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' };
  const document = { ...asked, messages: [{ role: 'user', content: [{ type: 'document', source }] }] };
  for (let i = 0; i < 12; i++) t.equal((await post('/v1/messages', document)).status, 200);
  t.equal(a.requests.length, 12);
  const both = await frontProvider(t, 'openai_chat', jsonAnswer(200, completion), {
    model: { flags: { takes_documents: false } },
  });
  const refused = await both.post('/v1/messages', document);
  t.equal(refused.status, 400, 'where nobody can, the field is named');
  t.match(await refused.json(), { error: { code: 'unsupported_by_upstream' } });
});

t.test(
  'D42 drop_sampling acts on a road of the same format, and the answer names what was dropped',
  async (t) => {
    const { post, upstream } = await frontProvider(t, 'anthropic', jsonAnswer(200, message), {
      model: { flags: { drop_sampling: true } },
    });
    const response = await post('/v1/messages', { ...asked, temperature: 0.5, top_k: 3 });
    t.equal(response.status, 200);
    t.equal(response.headers.get('x-sluice-dropped'), 'temperature, top_k');
    t.strictSame(JSON.parse(upstream.requests[0]!.body), asked);
  },
);

t.test('flags act on translated roads too', async (t) => {
  const { post, upstream } = await frontProvider(t, 'openai_chat', jsonAnswer(200, completion), {
    model: { flags: { max_tokens_field: 'max_tokens', takes_top_k: true } },
  });
  t.equal((await post('/v1/messages', { ...asked, top_k: 3 })).status, 200);
  t.match(JSON.parse(upstream.requests[0]!.body), { max_tokens: 5, top_k: 3 });
  const chat = { model: 'm', max_completion_tokens: 7, messages: asked.messages };
  t.equal((await post('/v1/chat/completions', chat)).status, 200);
  t.match(JSON.parse(upstream.requests[1]!.body), { max_tokens: 7, max_completion_tokens: undefined });
});

t.test('native_messages hands messages to a chat server as they are, and nothing else', async (t) => {
  const native = { ...message, content: [{ type: 'text', text: 'native' }], native_field: 1 };
  const { post, upstream } = await frontProvider(t, 'openai_chat', jsonAnswer(200, native), {
    model: { upstream_model: 'served', flags: { native_messages: true } },
  });
  const thinking = { type: 'enabled', budget_tokens: 1024 };
  const response = await post('/v1/messages', { ...asked, thinking, novel_field: true });
  t.equal(response.status, 200);
  t.match(await response.json(), { ...native, model: 'm', remaining_credits: Number });
  const [seen] = upstream.requests;
  t.equal(seen!.url, '/v1/messages');
  t.equal(seen!.headers.authorization, `Bearer ${UPSTREAM_KEY}`);
  t.strictSame(JSON.parse(seen!.body), { ...asked, model: 'served', thinking, novel_field: true });
  upstream.play(jsonAnswer(200, completion));
  t.equal((await post('/v1/chat/completions', asked)).status, 200);
  t.equal(upstream.requests[1]!.url, '/chat/completions');
});

t.test('native_messages streams byte by byte what the server wrote', async (t) => {
  const events = [
    `event: message_start\ndata: ${JSON.stringify({ type: 'message_start', message: { ...message, usage: { input_tokens: 3, output_tokens: 1 } } })}\n\n`,
    'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n',
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"},"odd":1}\n\n',
    'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n',
    'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}\n\n',
    'event: message_stop\ndata: {"type":"message_stop"}\n\n',
  ];
  const { post } = await frontProvider(
    t,
    'openai_chat',
    [
      { head: 200, headers: { 'content-type': 'text/event-stream' } },
      ...events.map((write) => ({ write })),
      'end',
    ],
    { model: { flags: { native_messages: true } } },
  );
  const text = await (await post('/v1/messages', { ...asked, stream: true })).text();
  for (const event of events.slice(1, 4)) t.ok(text.includes(event));
  t.match(text, /"estimated_credits_used":/);
});
