import t from 'tap';
import { chatDialect } from '../../../src/dialects/chat/dialect.js';
import type { ForwardOptions } from '../../../src/dialects/dialect.js';

const valid = { model: 'gpt-x', messages: [{ role: 'user', content: 'hi' }] };

const faults: readonly [title: string, body: unknown, param: string][] = [
  ['no object', 'x', 'body'],
  ['no model', { messages: valid.messages }, 'model'],
  ['no messages', { model: 'm' }, 'messages'],
  ['empty messages', { ...valid, messages: [] }, 'messages'],
  ['a message without a role', { ...valid, messages: [{ content: '' }] }, 'messages.0.role'],
  ['stream as a number', { ...valid, stream: 1 }, 'stream'],
  ['temperature 3', { ...valid, temperature: 3 }, 'temperature'],
  ['max_tokens 0', { ...valid, max_tokens: 0 }, 'max_tokens'],
  ['max_completion_tokens 0', { ...valid, max_completion_tokens: 0 }, 'max_completion_tokens'],
  ['n 0', { ...valid, n: 0 }, 'n'],
  ['n 129', { ...valid, n: 129 }, 'n'],
  ['tools that are no array', { ...valid, tools: {} }, 'tools'],
  ['stream_options as text', { ...valid, stream_options: 'x' }, 'stream_options'],
  [
    'include_usage as text',
    { ...valid, stream_options: { include_usage: 'x' } },
    'stream_options.include_usage',
  ],
  ['an unknown category', { ...valid, flagged_categories: ['x'] }, 'flagged_categories.0'],
];

for (const [title, body, param] of faults) {
  t.test(`chat: ${title} is refused, naming ${param}`, async (t) => {
    t.throws(() => chatDialect.read(body), { code: 'invalid_request', status: 400, param });
  });
}

t.test('chat: what the walk acts on is read; null is as good as absent', async (t) => {
  t.match(chatDialect.read({ ...valid, stream: true, max_tokens: 5, max_completion_tokens: 6 }), {
    model: 'gpt-x',
    stream: true,
    maxOutputTokens: 6,
  });
  const nulls = { ...valid, stream: null, max_tokens: null, temperature: null, n: null, tools: null };
  t.match(chatDialect.read(nulls), { stream: false, maxOutputTokens: null, body: nulls });
});

t.test('chat: D35 unknown fields pass, own fields are taken out', async (t) => {
  const body = {
    ...valid,
    logit_bias: { 1: 2 },
    messages: [{ role: 'developer', name: 'x', content: null }],
  };
  t.same(chatDialect.read({ ...body, flagged_categories: ['sexual'] }).body, body);
});

const forward = (body: object, options: Partial<ForwardOptions> = {}): unknown =>
  JSON.parse(
    chatDialect.forward(chatDialect.read({ ...valid, ...body }), {
      upstreamModel: 'up',
      clientHeaders: { 'anthropic-beta': 'x' },
      defaultMaxTokens: 5,
      ...options,
    }).body,
  );

t.test('chat: a stream is always asked for its usage', async (t) => {
  t.same(forward({}), { ...valid, model: 'up' });
  t.match(forward({ stream: true, stream_options: { include_usage: false, include_obfuscation: false } }), {
    stream_options: { include_usage: true, include_obfuscation: false },
  });
});

t.test('D34 chat: a bound on the caller holds under every name, and for all answers together', async (t) => {
  const cases: readonly [body: object, sent: object][] = [
    [{}, { max_completion_tokens: 16 }],
    [{ max_tokens: 5 }, { max_tokens: 5 }],
    [{ max_tokens: 99 }, { max_tokens: 16 }],
    [
      { max_tokens: 5, max_completion_tokens: 100_000 },
      { max_tokens: 5, max_completion_tokens: 16 },
    ],
    [
      { max_tokens: 100_000, max_completion_tokens: 5 },
      { max_tokens: 16, max_completion_tokens: 5 },
    ],
    [{ n: 100 }, { max_completion_tokens: 16, n: 1 }],
  ];
  for (const [body, sent] of cases)
    t.same(forward(body, { mostTokens: 16 }), { ...valid, model: 'up', ...sent });
  t.match(
    forward({}, { mostTokens: 16, flags: { maxTokensField: 'max_tokens' } }),
    { max_tokens: 16 },
    'as this upstream calls it',
  );
  t.match(forward({ n: 100, max_tokens: 99 }), { n: 100, max_tokens: 99 }, 'no bound, no change');
});
