import t from 'tap';
import { jsonAnswer, streamAnswer } from '../support/fake-provider.js';
import { frontProvider } from '../support/gateway.js';

const chunk = (delta: object, rest: object = {}): string =>
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: null, ...rest }] })}\n\n`;
const usage = { prompt_tokens: 1_000, completion_tokens: 200, total_tokens: 1_200 };

const ask = {
  model: 'm',
  max_tokens: 50,
  system: 'Be brief.',
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'Hello', cache_control: { type: 'ephemeral' } }] },
  ],
};

t.test(
  '4.10 a messages client reaches a chat upstream, whole, with hints named and credits in place',
  async (t) => {
    const answer = {
      id: 'c1',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
      usage,
    };
    const { post, upstream } = await frontProvider(t, 'openai_chat', jsonAnswer(200, answer));
    const response = await post('/v1/messages', ask);
    t.equal(response.status, 200);
    t.match(response.headers.get('x-sluice-dropped'), /cache_control/);
    t.match(await response.json(), {
      type: 'message',
      content: [{ type: 'text', text: 'Hi' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1_000, output_tokens: 200 },
      estimated_credits_used: 60,
    });
    t.equal(upstream.requests[0]!.url, '/chat/completions');
    t.match(JSON.parse(upstream.requests[0]!.body), {
      messages: [{ role: 'system', content: 'Be brief.' }, { role: 'user' }],
    });
  },
);

t.test('4.10 a messages client reads a chat upstream as its own stream', async (t) => {
  const { post } = await frontProvider(
    t,
    'openai_chat',
    streamAnswer(
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'Hel' }),
      chunk({ content: 'lo' }),
      chunk({}, { finish_reason: 'stop' }),
      `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage })}\n\n`,
      'data: [DONE]\n\n',
    ),
  );
  const text = await (await post('/v1/messages', { ...ask, stream: true })).text();
  const names = [...text.matchAll(/^event: (\w+)$/gm)].map(([, name]) => name);
  t.equal(names[0], 'message_start');
  t.strictSame(names.slice(-3), ['content_block_stop', 'message_delta', 'message_stop']);
  t.match(text, /"estimated_credits_used":60/);
});

t.test('4.11 a responses client and a chat client reach an Anthropic upstream', async (t) => {
  const answer = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'text', text: 'Hi' }],
    stop_reason: 'max_tokens',
    stop_sequence: null,
    usage: { input_tokens: 1_000, output_tokens: 200 },
  };
  const { post, upstream } = await frontProvider(t, 'anthropic', jsonAnswer(200, answer));
  const responses = await post('/v1/responses', { model: 'm', input: 'Hello', max_output_tokens: 50 });
  t.match(await responses.json(), {
    object: 'response',
    status: 'incomplete',
    output: [{ type: 'message', content: [{ type: 'output_text', text: 'Hi', annotations: [] }] }],
    usage: { input_tokens: 1_000, output_tokens: 200, total_tokens: 1_200 },
    estimated_credits_used: 60,
  });
  const chat = await post('/v1/chat/completions', {
    model: 'm',
    messages: [{ role: 'user', content: 'Hello' }],
  });
  t.match(await chat.json(), {
    object: 'chat.completion',
    choices: [{ message: { content: 'Hi' }, finish_reason: 'length' }],
    estimated_credits_used: 60,
  });
  t.equal(upstream.requests[1]!.headers['anthropic-version'], '2023-06-01');
  t.match(JSON.parse(upstream.requests[1]!.body), { max_tokens: 8_192 });
});

t.test('D42 what carries meaning and cannot be carried over is a 400 that names the field', async (t) => {
  const { post, upstream } = await frontProvider(t, 'anthropic', jsonAnswer(200, {}));
  const response = await post('/v1/chat/completions', {
    model: 'm',
    n: 2,
    messages: [{ role: 'user', content: 'Hello' }],
  });
  t.equal(response.status, 400);
  t.match(await response.json(), { error: { code: 'unsupported_by_upstream', param: 'n' } });
  t.equal(upstream.requests.length, 0);
});

t.test('D42 a fallback that cannot express the request is passed over', async (t) => {
  const { post } = await frontProvider(t, 'openai_chat', jsonAnswer(200, {}), {
    providers: {
      one: { kind: 'openai_chat', base_url: 'http://127.0.0.1:1', retry: { attempts: 1 } },
      two: { kind: 'anthropic', base_url: 'http://127.0.0.1:1', retry: { attempts: 1 } },
      sim: { kind: 'simulator', ttft: '0ms' },
    },
    models: [
      { name: 'm', provider: 'one', fallbacks: ['two', 'three'] },
      { name: 'two', provider: 'two' },
      { name: 'three', provider: 'sim' },
    ],
  });
  const response = await post('/v1/chat/completions', {
    model: 'm',
    n: 2,
    messages: [{ role: 'user', content: 'Hello' }],
  });
  t.equal(response.status, 200);
});
