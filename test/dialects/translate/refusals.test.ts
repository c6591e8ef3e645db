import t from 'tap';
import { GatewayError } from '../../../src/core/errors.js';
import type { DialectName, ForwardOptions, Json } from '../../../src/dialects/dialect.js';
import { fates } from '../../../src/dialects/translate/fates.js';
import { names, pairs, translate } from './translating.js';

type Refusal = readonly [
  title: string,
  from: DialectName,
  to: readonly DialectName[],
  body: Json,
  param: string,
  options?: Partial<ForwardOptions>,
];

const user = (...content: unknown[]): Json => ({ messages: [{ role: 'user', content }] });
const assistant = (...content: unknown[]): Json => ({ messages: [{ role: 'assistant', content }] });
const items = (...input: unknown[]): Json => ({ input });
const file = (mediaType: string) => `data:${mediaType};base64,AAAA`;

const refusals: readonly Refusal[] = [
  [
    'an uploaded image',
    'messages',
    ['chat', 'responses'],
    user({ type: 'text', text: 'a' }, { type: 'image', source: { type: 'file', file_id: 'f' } }),
    'messages.0.content.1',
  ],
  [
    'an uploaded document',
    'chat',
    ['messages', 'responses'],
    user({ type: 'file', file: { file_id: 'f' } }),
    'messages.0.content.0',
  ],
  [
    'an uploaded image',
    'responses',
    ['messages', 'chat'],
    items({ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }),
    'input.0.content.0',
  ],
  [
    'a kind of image the upstream cannot read',
    'chat',
    ['messages'],
    user({ type: 'image_url', image_url: { url: file('image/tiff') } }),
    'messages.0.content.0',
  ],
  [
    'a kind of document the upstream cannot read',
    'chat',
    ['messages'],
    user({ type: 'file', file: { filename: 'a.docx', file_data: file('application/msword') } }),
    'messages.0.content.0',
  ],
  [
    'a document by address',
    'messages',
    ['chat'],
    user({ type: 'document', source: { type: 'url', url: 'https://x.test/a.pdf' } }),
    'messages.0.content.0',
  ],
  [
    'a document for a server that reads none',
    'messages',
    ['chat'],
    user({ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'AA' } }),
    'messages.0.content.0',
    { flags: { takesDocuments: false } },
  ],
  [
    'sound',
    'chat',
    ['messages', 'responses'],
    user({ type: 'input_audio', input_audio: { data: 'AA', format: 'mp3' } }),
    'messages.0.content.0',
  ],
  ['sound asked for', 'chat', ['messages', 'responses'], { modalities: ['text', 'audio'] }, 'modalities'],
  [
    'an image said by the assistant',
    'messages',
    ['chat', 'responses'],
    assistant({ type: 'image', source: { type: 'url', url: 'https://x.test' } }),
    'messages.0.content.0',
  ],
  [
    'a tool of the server',
    'messages',
    ['chat', 'responses'],
    {
      tools: [
        { name: 'f', input_schema: {} },
        { type: 'web_search_20250305', name: 'web_search' },
      ],
    },
    'tools.1',
  ],
  [
    'what a tool of the server gave',
    'messages',
    ['chat', 'responses'],
    assistant({ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
    'messages.0.content.0',
  ],
  ['a tool with free input', 'chat', ['messages', 'responses'], { tools: [{ type: 'custom' }] }, 'tools.0'],
  ...['web_search', 'mcp', 'code_interpreter', 'custom', 'namespace', 'apply_patch', 'shell'].map(
    (type): Refusal => [
      `the tool ${type}`,
      'responses',
      ['messages', 'chat'],
      { tools: [{ type }] },
      'tools.0',
    ],
  ),
  [
    'a call of the server',
    'responses',
    ['messages', 'chat'],
    items({ role: 'user', content: 'a' }, { type: 'web_search_call', id: 'ws' }),
    'input.1',
  ],
  [
    'an item by its id',
    'responses',
    ['messages', 'chat'],
    items({ type: 'item_reference', id: 'msg_1' }),
    'input.0',
  ],
  [
    'a choice of a tool of the server',
    'responses',
    ['messages', 'chat'],
    { tool_choice: { type: 'web_search' } },
    'tool_choice',
  ],
  [
    'an earlier response',
    'responses',
    ['messages', 'chat'],
    { previous_response_id: 'r' },
    'previous_response_id',
  ],
  ['a conversation', 'responses', ['messages', 'chat'], { conversation: 'c' }, 'conversation'],
  ['work in the background', 'responses', ['messages', 'chat'], { background: true }, 'background'],
  ['a kept answer', 'responses', ['messages', 'chat'], { store: true }, 'store'],
  ['a kept answer', 'chat', ['messages'], { store: true }, 'store'],
  ['a stored prompt', 'responses', ['messages', 'chat'], { prompt: { id: 'p' } }, 'prompt'],
  [
    'probabilities',
    'responses',
    ['messages', 'chat'],
    { include: ['message.output_text.logprobs'] },
    'include',
  ],
  ['probabilities', 'chat', ['messages', 'responses'], { logprobs: true }, 'logprobs'],
  ['several answers', 'chat', ['messages', 'responses'], { n: 2 }, 'n'],
  ['biased tokens', 'chat', ['messages', 'responses'], { logit_bias: { 50256: -100 } }, 'logit_bias'],
  ['functions of old', 'chat', ['messages', 'responses'], { functions: [{ name: 'f' }] }, 'functions'],
  [
    'calls of old',
    'chat',
    ['messages', 'responses'],
    { messages: [{ role: 'assistant', function_call: { name: 'f', arguments: '' } }] },
    'messages.0.function_call',
  ],
  ['texts to stop at', 'chat', ['responses'], { stop: ['a'] }, 'stop'],
  ['texts to stop at', 'messages', ['responses'], { stop_sequences: ['a'] }, 'stop_sequences'],
  [
    'too many texts to stop at',
    'messages',
    ['chat'],
    { stop_sequences: ['a', 'b', 'c', 'd', 'e'] },
    'stop_sequences',
  ],
  ['space to stop at', 'chat', ['messages'], { stop: ['a', '\n'] }, 'stop'],
  ['any JSON', 'chat', ['messages'], { response_format: { type: 'json_object' } }, 'response_format.type'],
  ['any JSON', 'responses', ['messages'], { text: { format: { type: 'json_object' } } }, 'text.format.type'],
  [
    'an unknown form of output',
    'chat',
    ['messages', 'responses'],
    { response_format: { type: 'grammar' } },
    'response_format.type',
  ],
  ['an unknown effort', 'chat', ['messages'], { reasoning_effort: 'huge' }, 'reasoning_effort'],
  [
    'edits of the context',
    'messages',
    ['chat', 'responses'],
    { context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } },
    'context_management',
  ],
  [
    'arguments that are no object',
    'chat',
    ['messages'],
    {
      messages: [
        { role: 'user', content: 'a' },
        {
          role: 'assistant',
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"a":' } }],
        },
      ],
    },
    'messages.1.tool_calls.0.function.arguments',
  ],
  ['nothing said', 'chat', ['messages'], { messages: [{ role: 'system', content: 'a' }] }, 'messages'],
  ['nothing said', 'responses', ['messages'], { input: '' }, 'input'],
];

for (const [title, from, targets, body, param, options] of refusals)
  for (const to of targets)
    t.test(`D42 ${title} is refused from ${from} to ${to}, naming ${param}`, async (t) => {
      t.throws(() => translate(from, to, body, options), {
        code: 'unsupported_by_upstream',
        status: 400,
        param,
      });
    });

for (const [from, to] of pairs)
  t.test(`D42 the table of fates holds from ${from} to ${to}`, async (t) => {
    for (const [key, fate] of Object.entries(fates[from].body)) {
      if (fate === 'form') continue;
      const ask = () => translate(from, to, { [key]: 2 });
      if (fate === 'hint') t.same(ask().dropped, [key]);
      else t.throws(ask, { code: 'unsupported_by_upstream', param: key });
    }
  });

/** Faults of form that only a translation meets: same-format requests are judged by their upstream. */
const faults: readonly [from: DialectName, body: Json, param: string][] = [
  ['messages', user({ type: 'image' }), 'messages.0.content.0.source'],
  ['messages', user({ type: 'image', source: { type: 'odd' } }), 'messages.0.content.0.source.type'],
  ['messages', { tools: [{ name: 5 }] }, 'tools.0.name'],
  ['messages', { tool_choice: { type: 'odd' } }, 'tool_choice.type'],
  ['messages', { output_config: { format: { type: 'json_schema' } } }, 'output_config.format'],
  ['chat', { messages: [{ role: 'odd', content: 'a' }] }, 'messages.0.role'],
  ['chat', { messages: [{ role: 'user', content: 5 }] }, 'messages.0.content'],
  ['chat', user('a'), 'messages.0.content.0'],
  ['chat', user({ type: 'image_url', image_url: { url: 'data:,x' } }), 'messages.0.content.0.image_url.url'],
  ['chat', { messages: [{ role: 'tool', content: 'a' }] }, 'messages.0.tool_call_id'],
  ['chat', { stop: [5] }, 'stop'],
  ['responses', items({ role: 'odd', content: 'a' }), 'input.0.role'],
  ['responses', items({ type: 'function_call', name: 'f' }), 'input.0.call_id'],
  ['responses', { reasoning: 'high' }, 'reasoning'],
];

for (const [from, body, param] of faults)
  t.test(`4.10 a fault of ${from} at ${param} is named`, async (t) => {
    for (const to of names)
      if (to !== from)
        t.throws(() => translate(from, to, body), { code: 'invalid_request', status: 400, param });
  });

t.test('D42 no value of the client stands in a refusal', async (t) => {
  try {
    translate('chat', 'messages', { logit_bias: { secret: 1 } });
    t.fail('it must be refused');
  } catch (error) {
    t.type(error, GatewayError);
    t.notMatch((error as Error).message, /secret/);
  }
});
