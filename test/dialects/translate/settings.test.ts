import { createHash } from 'node:crypto';
import t from 'tap';
import type { DialectName, ForwardOptions, Json } from '../../../src/dialects/dialect.js';
import { pairs, translate, without } from './translating.js';

const schema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};

type Forms = Readonly<Record<DialectName, Json>>;

const messagesTool = { name: 'look', description: 'Looks.', input_schema: schema, strict: true };
const chatTool = {
  type: 'function',
  function: { name: 'look', description: 'Looks.', parameters: schema, strict: true },
};
const responsesTool = {
  type: 'function',
  name: 'look',
  description: 'Looks.',
  parameters: schema,
  strict: true,
};
const tools: Forms = {
  messages: { tools: [messagesTool] },
  chat: { tools: [chatTool] },
  responses: { tools: [responsesTool] },
};
const withTools = (forms: Forms): Forms => ({
  messages: { ...tools.messages, ...forms.messages },
  chat: { ...tools.chat, ...forms.chat },
  responses: { ...tools.responses, ...forms.responses },
});

/** One wish as each format writes it. */
const same: readonly [title: string, forms: Forms][] = [
  ['tools', tools],
  [
    'a choice left to the model',
    withTools({
      messages: { tool_choice: { type: 'auto' } },
      chat: { tool_choice: 'auto' },
      responses: { tool_choice: 'auto' },
    }),
  ],
  [
    'a call that must be made',
    withTools({
      messages: { tool_choice: { type: 'any' } },
      chat: { tool_choice: 'required' },
      responses: { tool_choice: 'required' },
    }),
  ],
  [
    'no calls',
    withTools({
      messages: { tool_choice: { type: 'none' } },
      chat: { tool_choice: 'none' },
      responses: { tool_choice: 'none' },
    }),
  ],
  [
    'one certain call, and no other beside it',
    withTools({
      messages: { tool_choice: { type: 'tool', name: 'look', disable_parallel_tool_use: true } },
      chat: {
        tool_choice: { type: 'function', function: { name: 'look' } },
        parallel_tool_calls: false,
      },
      responses: { tool_choice: { type: 'function', name: 'look' }, parallel_tool_calls: false },
    }),
  ],
  [
    'a bound of tokens',
    {
      messages: { max_tokens: 100 },
      chat: { max_completion_tokens: 100 },
      responses: { max_output_tokens: 100 },
    },
  ],
  [
    'temperature',
    { messages: { temperature: 0.5 }, chat: { temperature: 0.5 }, responses: { temperature: 0.5 } },
  ],
  ['top_p', { messages: { top_p: 0.5 }, chat: { top_p: 0.5 }, responses: { top_p: 0.5 } }],
  [
    'effort',
    {
      messages: { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
      chat: { reasoning_effort: 'high' },
      responses: { reasoning: { effort: 'high' } },
    },
  ],
  [
    'no reasoning',
    {
      messages: { thinking: { type: 'disabled' } },
      chat: { reasoning_effort: 'none' },
      responses: { reasoning: { effort: 'none' } },
    },
  ],
  [
    'a stream',
    {
      messages: { stream: true },
      chat: { stream: true, stream_options: { include_usage: true } },
      responses: { stream: true },
    },
  ],
  [
    'the standard tier',
    {
      messages: { service_tier: 'standard_only' },
      chat: { service_tier: 'default' },
      responses: { service_tier: 'default' },
    },
  ],
];

const settingsOf = (sent: Json, asked: Json): Json =>
  without(
    sent,
    ...['model', 'messages', 'input', 'store', 'include'],
    ...('max_tokens' in asked ? [] : ['max_tokens']),
  );

for (const [title, forms] of same)
  for (const [from, to] of pairs)
    t.test(`4.10 ${title}: ${from} reaches ${to} whole`, async (t) => {
      const { body, dropped } = translate(from, to, forms[from]);
      t.same(settingsOf(body, forms[to]), forms[to]);
      t.same(dropped, []);
    });

const hashed = createHash('sha256').update('ann').digest('hex');

interface Case {
  readonly title: string;
  readonly from: DialectName;
  readonly to: DialectName;
  readonly body: Json;
  readonly sent: Json;
  readonly dropped?: readonly string[];
  readonly options?: Partial<ForwardOptions>;
}

const lookOnly = { type: 'function', function: { name: 'look' } };

const cases: readonly Case[] = [
  {
    title: 'allowed tools are the only ones shown',
    from: 'chat',
    to: 'messages',
    body: {
      tools: [chatTool, { type: 'function', function: { name: 'send' } }],
      tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [lookOnly] } },
    },
    sent: { tools: [messagesTool], tool_choice: { type: 'any' } },
  },
  {
    title: 'allowed tools are named where the format can',
    from: 'responses',
    to: 'chat',
    body: {
      ...tools.responses,
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'look' }] },
    },
    sent: {
      ...tools.chat,
      tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [lookOnly] } },
    },
  },
  {
    title: 'a function without a schema takes nothing, and is not strict unless asked',
    from: 'chat',
    to: 'responses',
    body: { tools: [{ type: 'function', function: { name: 'f' } }], parallel_tool_calls: true },
    sent: {
      tools: [{ type: 'function', name: 'f', parameters: { type: 'object', properties: {} }, strict: false }],
      parallel_tool_calls: true,
    },
  },
  {
    title: 'one call at a time is asked for without any other choice',
    from: 'chat',
    to: 'messages',
    body: { ...tools.chat, parallel_tool_calls: false },
    sent: { ...tools.messages, tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
  },
  {
    title: 'choices about tools say nothing without tools',
    from: 'responses',
    to: 'messages',
    body: { tools: [], tool_choice: 'auto', parallel_tool_calls: true },
    sent: {},
  },
  {
    title: 'hints of tools are named',
    from: 'messages',
    to: 'chat',
    body: {
      tools: [{ ...messagesTool, type: 'custom', cache_control: { type: 'ephemeral' }, defer_loading: true }],
    },
    sent: tools.chat,
    dropped: ['tools.*.cache_control', 'tools.*.defer_loading'],
  },
  {
    title: 'tools of a server are left out where that is wanted',
    from: 'messages',
    to: 'chat',
    body: { tools: [{ type: 'web_search_20250305', name: 'web_search' }, messagesTool] },
    sent: tools.chat,
    dropped: ['tools.*'],
    options: { flags: { dropServerTools: true } },
  },
  {
    title: 'temperature ends at 1',
    from: 'chat',
    to: 'messages',
    body: { temperature: 1.7 },
    sent: { temperature: 1 },
  },
  {
    title: 'temperature wins over top_p, what has no form is named, neutral values are not',
    from: 'chat',
    to: 'messages',
    body: {
      temperature: 0.2,
      top_p: 0.9,
      seed: 1,
      frequency_penalty: 0.5,
      presence_penalty: 0,
      logit_bias: {},
      n: 1,
      logprobs: false,
      top_k: 40,
    },
    sent: { temperature: 0.2, top_k: 40 },
    dropped: ['top_p', 'seed', 'frequency_penalty'],
  },
  {
    title: 'the neutral temperature gives way to top_p',
    from: 'responses',
    to: 'messages',
    body: { temperature: 1, top_p: 0.9 },
    sent: { top_p: 0.9 },
  },
  {
    title: 'sampling gives way to reasoning',
    from: 'chat',
    to: 'messages',
    body: { temperature: 0.2, top_p: 0.96, top_k: 3, reasoning_effort: 'minimal' },
    sent: { top_p: 0.96, thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
    dropped: ['temperature', 'top_k'],
  },
  {
    title: 'sampling is left out for models that refuse it',
    from: 'responses',
    to: 'messages',
    body: { temperature: 0.2, top_p: 0.5 },
    sent: {},
    dropped: ['temperature', 'top_p'],
    options: { flags: { dropSampling: true } },
  },
  {
    title: 'sampling is left out for models that refuse it',
    from: 'messages',
    to: 'chat',
    body: { temperature: 0.2, top_k: 5 },
    sent: {},
    dropped: ['temperature', 'top_k'],
    options: { flags: { dropSampling: true, takesTopK: true } },
  },
  {
    title: 'open servers know top_k and the short name of the bound',
    from: 'messages',
    to: 'chat',
    body: { max_tokens: 9, top_k: 5, stop_sequences: ['END'] },
    sent: { max_tokens: 9, top_k: 5, stop: ['END'] },
    options: { flags: { takesTopK: true, maxTokensField: 'max_tokens' } },
  },
  {
    title: 'one text to stop at is a list of one',
    from: 'chat',
    to: 'messages',
    body: { stop: 'END' },
    sent: { stop_sequences: ['END'] },
  },
  {
    title: 'a bound the upstream finds too small is raised, and named',
    from: 'messages',
    to: 'responses',
    body: { max_tokens: 1 },
    sent: { max_output_tokens: 16 },
    dropped: ['max_tokens'],
  },
  {
    title: 'labels, keys of caches and verbosity are carried between kin',
    from: 'chat',
    to: 'responses',
    body: {
      metadata: { a: 'b' },
      prompt_cache_key: 'k',
      prompt_cache_retention: '24h',
      verbosity: 'low',
      user: 'ann',
    },
    sent: {
      metadata: { a: 'b' },
      prompt_cache_key: 'k',
      prompt_cache_retention: '24h',
      text: { verbosity: 'low' },
      safety_identifier: 'ann',
    },
  },
  {
    title: 'labels are for kept answers only',
    from: 'responses',
    to: 'chat',
    body: {
      metadata: { a: 'b' },
      text: { verbosity: 'low' },
      safety_identifier: 'ann',
      user: 'b',
      store: false,
    },
    sent: { verbosity: 'low', user: 'ann' },
    dropped: ['metadata', 'user'],
  },
  {
    title: 'hints are named, the user is only a hash to another vendor',
    from: 'chat',
    to: 'messages',
    body: {
      metadata: { a: 'b' },
      prompt_cache_key: 'k',
      verbosity: 'low',
      user: 'ann',
      service_tier: 'flex',
      prediction: { type: 'content', content: 'x' },
      made_up: 1,
    },
    sent: { metadata: { user_id: hashed } },
    dropped: ['metadata', 'prompt_cache_key', 'verbosity', 'service_tier', 'prediction', 'made_up'],
  },
  {
    title: 'the user is only a hash to another vendor',
    from: 'messages',
    to: 'responses',
    body: { metadata: { user_id: 'ann', x: 1 } },
    sent: { safety_identifier: hashed },
    dropped: ['metadata.x'],
  },
  {
    title: 'what Codex sends beside the conversation is named',
    from: 'responses',
    to: 'chat',
    body: {
      store: false,
      include: ['reasoning.encrypted_content'],
      client_metadata: { a: 1 },
      reasoning: { effort: 'medium', summary: 'auto' },
      stream: true,
      prompt_cache_key: 'k',
    },
    sent: {
      reasoning_effort: 'medium',
      stream: true,
      stream_options: { include_usage: true },
      prompt_cache_key: 'k',
    },
    dropped: ['include', 'client_metadata', 'reasoning.summary'],
  },
  {
    title: 'edits that keep everything are gone before',
    from: 'messages',
    to: 'chat',
    body: { context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] } },
    sent: {},
  },
];

for (const { title, from, to, body, sent, dropped = [], options } of cases)
  t.test(`4.10 ${title} (${from} to ${to})`, async (t) => {
    const got = translate(from, to, body, options);
    t.same(settingsOf(got.body, sent), sent);
    t.same([...got.dropped].sort(), [...dropped].sort());
  });

t.test('4.10 the caller\u2019s bound of tokens holds whatever the format', async (t) => {
  const most = { mostTokens: 50 };
  t.equal(translate('chat', 'messages', {}, most).body.max_tokens, 50);
  t.equal(translate('messages', 'chat', { max_tokens: 100 }, most).body.max_completion_tokens, 50);
  t.equal(translate('chat', 'responses', {}, most).body.max_output_tokens, 50);
  t.equal(translate('messages', 'chat', { max_tokens: 20 }, most).body.max_completion_tokens, 20);
});

t.test('D42 the version every upstream knows is sent, betas of the client are named', async (t) => {
  const clientHeaders = { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'a-1' };
  t.same(translate('chat', 'messages', { temperature: 1 }).headers, { 'anthropic-version': '2023-06-01' });
  const { headers, dropped } = translate('messages', 'chat', {}, { clientHeaders });
  t.same(headers, {});
  t.same(dropped, ['anthropic-beta']);
});

t.test('D42 names of what was left out fit a header, and are not endless', async (t) => {
  const odd = Object.fromEntries(Array.from({ length: 90 }, (_, index) => [`field_${index}`, 1]));
  const { dropped } = translate('chat', 'messages', {
    ...odd,
    'a\r\nset-cookie: x': 1,
    [`x${'y'.repeat(500)}`]: 1,
  });
  t.ok(dropped.length <= 40);
  const named = translate('chat', 'messages', {
    'a\r\nset-cookie: x': 1,
    [`x${'y'.repeat(500)}`]: 1,
  }).dropped;
  t.equal(named[0], '*');
  for (const name of named) t.match(name, /^[\w.*$-]{1,120}$/);
});
