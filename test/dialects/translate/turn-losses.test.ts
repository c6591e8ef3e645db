import t from 'tap';
import type { DialectName, Json } from '../../../src/dialects/dialect.js';
import { translate, without } from './translating.js';

const png = 'iVBORw0KGgo=';
const pngUrl = `data:image/png;base64,${png}`;

const user = (...content: unknown[]) => ({ role: 'user', content });

interface Case {
  readonly title: string;
  readonly from: DialectName;
  readonly to: DialectName;
  readonly body: Json;
  readonly sent: Json;
  readonly dropped?: readonly string[];
}

const said = (...input: unknown[]): Json => ({ input });

const cases: readonly Case[] = [
  {
    title: 'system blocks are joined by an empty line, the billing line of one client is left out',
    from: 'messages',
    to: 'chat',
    body: {
      system: [
        { type: 'text', text: 'x-anthropic-billing-header: cc_version=2; cch=1;' },
        { type: 'text', text: 'One.', cache_control: { type: 'ephemeral' } },
        { type: 'text', text: 'Two.' },
      ],
    },
    sent: {
      messages: [
        { role: 'system', content: 'One.\n\nTwo.' },
        { role: 'user', content: 'hi' },
      ],
    },
    dropped: ['system.*.cache_control', 'x-anthropic-billing-header'],
  },
  {
    title: 'instructions and leading developer items become system blocks',
    from: 'responses',
    to: 'messages',
    body: {
      instructions: 'One.',
      ...said({ role: 'developer', content: 'Two.' }, { role: 'user', content: 'x' }),
    },
    sent: {
      system: [
        { type: 'text', text: 'One.' },
        { type: 'text', text: 'Two.' },
      ],
      messages: [user({ type: 'text', text: 'x' })],
    },
  },
  {
    title: 'empty text is left out, and turns of nothing else',
    from: 'chat',
    to: 'messages',
    body: {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: '' },
            { type: 'text', text: 'a' },
          ],
        },
        { role: 'assistant', content: '' },
        { role: 'user', content: ' \n' },
        { role: 'user', content: 'b' },
      ],
    },
    sent: { messages: [user({ type: 'text', text: 'a' }, { type: 'text', text: 'b' })] },
  },
  {
    title: 'an answer to be continued does not end in space',
    from: 'chat',
    to: 'messages',
    body: {
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: 'So: ' },
      ],
    },
    sent: {
      messages: [
        user({ type: 'text', text: 'a' }),
        { role: 'assistant', content: [{ type: 'text', text: 'So:' }] },
      ],
    },
  },
  {
    title: 'results of tools come first and together',
    from: 'responses',
    to: 'messages',
    body: said(
      { type: 'function_call', id: 'fc_1', call_id: 'a', name: 'f', arguments: '', status: 'completed' },
      { type: 'function_call', call_id: 'b', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'a', output: '1' },
      {
        type: 'function_call_output',
        call_id: 'b',
        output: [
          { type: 'input_text', text: '2' },
          { type: 'input_image', image_url: pngUrl },
        ],
      },
    ),
    sent: {
      messages: [
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: 'a', name: 'f', input: {} },
            { type: 'tool_use', id: 'b', name: 'f', input: {} },
          ],
        },
        user(
          { type: 'tool_result', tool_use_id: 'a', content: '1' },
          {
            type: 'tool_result',
            tool_use_id: 'b',
            content: [
              { type: 'text', text: '2' },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
            ],
          },
        ),
      ],
    },
  },
  {
    title: 'images of tools follow as the user\u2019s, failures are marked',
    from: 'messages',
    to: 'chat',
    body: {
      messages: [
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: 'a', name: 'f', input: {} },
            { type: 'tool_use', id: 'b', name: 'f', input: {} },
          ],
        },
        user(
          {
            type: 'tool_result',
            tool_use_id: 'a',
            content: [
              { type: 'text', text: 'seen' },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
            ],
          },
          { type: 'tool_result', tool_use_id: 'b', content: 'no such file', is_error: true },
        ),
      ],
    },
    sent: {
      messages: [
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } },
            { id: 'b', type: 'function', function: { name: 'f', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'a', content: 'seen' },
        { role: 'tool', tool_call_id: 'b', content: '[tool error] no such file' },
        user(
          { type: 'text', text: 'From the tool call a:' },
          { type: 'image_url', image_url: { url: pngUrl } },
        ),
      ],
    },
  },
  {
    title: 'failures of tools are marked, with and without images',
    from: 'messages',
    to: 'responses',
    body: {
      messages: [
        user(
          { type: 'tool_result', tool_use_id: 'a', is_error: true },
          {
            type: 'tool_result',
            tool_use_id: 'b',
            is_error: true,
            content: [{ type: 'image', source: { type: 'url', url: 'https://x.test/a.png' } }],
          },
        ),
      ],
    },
    sent: said(
      { type: 'function_call_output', call_id: 'a', output: '[tool error]' },
      {
        type: 'function_call_output',
        call_id: 'b',
        output: [
          { type: 'input_text', text: '[tool error]' },
          { type: 'input_image', image_url: 'https://x.test/a.png', detail: 'auto' },
        ],
      },
    ),
  },
  {
    title: 'documents of text are read inside the conversation',
    from: 'messages',
    to: 'chat',
    body: {
      messages: [
        user(
          {
            type: 'document',
            title: 'Notes',
            context: 'From May.',
            citations: { enabled: true },
            source: { type: 'text', media_type: 'text/plain', data: 'abc' },
          },
          {
            type: 'search_result',
            source: 'https://x.test',
            title: 'Found',
            content: [{ type: 'text', text: 'def' }],
          },
        ),
      ],
    },
    sent: {
      messages: [
        user(
          { type: 'text', text: 'Notes\n\nFrom May.\n\nabc' },
          { type: 'text', text: 'Found\n\nhttps://x.test\n\ndef' },
        ),
      ],
    },
    dropped: ['messages.*.content.*.citations'],
  },
  {
    title: 'documents made of blocks are read inside the conversation',
    from: 'messages',
    to: 'responses',
    body: {
      messages: [
        user({
          type: 'document',
          title: 'Notes',
          source: {
            type: 'content',
            content: [
              { type: 'text', text: 'abc' },
              { type: 'image', source: { type: 'url', url: 'https://x.test/a.png' } },
            ],
          },
        }),
      ],
    },
    sent: said({
      type: 'message',
      role: 'user',
      content: [
        { type: 'input_text', text: 'Notes' },
        { type: 'input_text', text: 'abc' },
        { type: 'input_image', image_url: 'https://x.test/a.png', detail: 'auto' },
      ],
    }),
  },
  {
    title: 'files of text become text documents, addresses stay addresses',
    from: 'responses',
    to: 'messages',
    body: said({
      role: 'user',
      content: [
        { type: 'input_file', filename: 'a.txt', file_data: Buffer.from('né').toString('base64') },
        { type: 'input_file', file_url: 'https://x.test/a.pdf' },
      ],
    }),
    sent: {
      messages: [
        user(
          {
            type: 'document',
            source: { type: 'text', media_type: 'text/plain', data: 'né' },
            title: 'a.txt',
          },
          { type: 'document', source: { type: 'url', url: 'https://x.test/a.pdf' } },
        ),
      ],
    },
  },
  {
    title: 'the detail of an image is carried where it can be',
    from: 'chat',
    to: 'responses',
    body: { messages: [user({ type: 'image_url', image_url: { url: pngUrl, detail: 'low' } })] },
    sent: said({
      type: 'message',
      role: 'user',
      content: [{ type: 'input_image', image_url: pngUrl, detail: 'low' }],
    }),
  },
  {
    title: 'the detail of an image is named where it cannot be carried',
    from: 'chat',
    to: 'messages',
    body: {
      messages: [
        user({ type: 'image_url', image_url: { url: 'data:image/PNG;base64,AAAA', detail: 'low' } }),
      ],
    },
    sent: {
      messages: [user({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } })],
    },
    dropped: ['messages.*.content.*.image_url.detail'],
  },
  {
    title: 'an image in a result of a tool stays there',
    from: 'chat',
    to: 'messages',
    body: {
      messages: [
        {
          role: 'tool',
          tool_call_id: 'a',
          content: [{ type: 'image_url', image_url: 'https://x.test/a.png' }],
        },
      ],
    },
    sent: {
      messages: [
        user({
          type: 'tool_result',
          tool_use_id: 'a',
          content: [{ type: 'image', source: { type: 'url', url: 'https://x.test/a.png' } }],
        }),
      ],
    },
  },
  {
    title: 'a refusal stays one',
    from: 'chat',
    to: 'responses',
    body: {
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: null, refusal: 'No.' },
      ],
    },
    sent: said(
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'a' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
    ),
  },
  {
    title: 'a refusal is text where there is no other word for it',
    from: 'responses',
    to: 'messages',
    body: said(
      { role: 'user', content: 'a' },
      { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
    ),
    sent: {
      messages: [
        user({ type: 'text', text: 'a' }),
        { role: 'assistant', content: [{ type: 'text', text: 'No.' }] },
      ],
    },
  },
];

for (const { title, from, to, body, sent, dropped = [] } of cases)
  t.test(`4.10 ${title} (${from} to ${to})`, async (t) => {
    const got = translate(from, to, body);
    t.same(without(got.body, 'model', 'max_tokens', 'store'), sent);
    t.same([...got.dropped].sort(), [...dropped].sort());
  });
