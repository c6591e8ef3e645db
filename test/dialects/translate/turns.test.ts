import t from 'tap';
import type { DialectName, Json } from '../../../src/dialects/dialect.js';
import { pairs, translate } from './translating.js';

const png = 'iVBORw0KGgo=';
const pdf = 'JVBERi0=';
const pngUrl = `data:image/png;base64,${png}`;
const pdfUrl = `data:application/pdf;base64,${pdf}`;

const user = (...content: unknown[]) => ({ role: 'user', content });

/** One conversation, or a piece of one, as each format writes it. */
const same: readonly [title: string, forms: Readonly<Record<DialectName, Json>>][] = [
  [
    'system text and a plain turn',
    {
      messages: {
        system: [{ type: 'text', text: 'Be brief.' }],
        messages: [user({ type: 'text', text: 'hi' })],
      },
      chat: {
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'hi' },
        ],
      },
      responses: {
        instructions: 'Be brief.',
        input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] }],
      },
    },
  ],
  [
    'a later system turn',
    {
      messages: {
        messages: [
          user({ type: 'text', text: 'a' }),
          { role: 'system', content: [{ type: 'text', text: 'Now in French.' }] },
          user({ type: 'text', text: 'b' }),
        ],
      },
      chat: {
        messages: [
          { role: 'user', content: 'a' },
          { role: 'system', content: 'Now in French.' },
          { role: 'user', content: 'b' },
        ],
      },
      responses: {
        input: [
          { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'a' }] },
          { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Now in French.' }] },
          { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'b' }] },
        ],
      },
    },
  ],
  [
    'images as data and by address',
    {
      messages: {
        messages: [
          user(
            { type: 'text', text: 'look' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
            { type: 'image', source: { type: 'url', url: 'https://x.test/a.png' } },
          ),
        ],
      },
      chat: {
        messages: [
          user(
            { type: 'text', text: 'look' },
            { type: 'image_url', image_url: { url: pngUrl } },
            { type: 'image_url', image_url: { url: 'https://x.test/a.png' } },
          ),
        ],
      },
      responses: {
        input: [
          {
            type: 'message',
            role: 'user',
            content: [
              { type: 'input_text', text: 'look' },
              { type: 'input_image', image_url: pngUrl, detail: 'auto' },
              { type: 'input_image', image_url: 'https://x.test/a.png', detail: 'auto' },
            ],
          },
        ],
      },
    },
  ],
  [
    'a document',
    {
      messages: {
        messages: [
          user(
            {
              type: 'document',
              source: { type: 'base64', media_type: 'application/pdf', data: pdf },
              title: 'a.pdf',
            },
            { type: 'text', text: 'sum up' },
          ),
        ],
      },
      chat: {
        messages: [
          user(
            { type: 'file', file: { filename: 'a.pdf', file_data: pdfUrl } },
            { type: 'text', text: 'sum up' },
          ),
        ],
      },
      responses: {
        input: [
          {
            type: 'message',
            role: 'user',
            content: [
              { type: 'input_file', filename: 'a.pdf', file_data: pdfUrl },
              { type: 'input_text', text: 'sum up' },
            ],
          },
        ],
      },
    },
  ],
  [
    'parallel calls, their results and more text',
    {
      messages: {
        messages: [
          user({ type: 'text', text: 'weather?' }),
          {
            role: 'assistant',
            content: [
              { type: 'text', text: 'I look.' },
              { type: 'tool_use', id: 'call_1', name: 'look', input: { city: 'Bern' } },
              { type: 'tool_use', id: 'call_2', name: 'look', input: {} },
            ],
          },
          user(
            { type: 'tool_result', tool_use_id: 'call_1', content: 'rain' },
            { type: 'tool_result', tool_use_id: 'call_2', content: 'sun' },
            { type: 'text', text: 'So?' },
          ),
        ],
      },
      chat: {
        messages: [
          { role: 'user', content: 'weather?' },
          {
            role: 'assistant',
            content: 'I look.',
            tool_calls: [
              { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"city":"Bern"}' } },
              { id: 'call_2', type: 'function', function: { name: 'look', arguments: '{}' } },
            ],
          },
          { role: 'tool', tool_call_id: 'call_1', content: 'rain' },
          { role: 'tool', tool_call_id: 'call_2', content: 'sun' },
          { role: 'user', content: 'So?' },
        ],
      },
      responses: {
        input: [
          { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'weather?' }] },
          {
            type: 'message',
            role: 'assistant',
            content: [{ type: 'output_text', text: 'I look.', annotations: [] }],
          },
          { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"city":"Bern"}' },
          { type: 'function_call', call_id: 'call_2', name: 'look', arguments: '{}' },
          { type: 'function_call_output', call_id: 'call_1', output: 'rain' },
          { type: 'function_call_output', call_id: 'call_2', output: 'sun' },
          { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'So?' }] },
        ],
      },
    },
  ],
];

for (const [title, forms] of same)
  for (const [from, to] of pairs)
    t.test(`4.10 ${title}: ${from} reaches ${to} whole`, async (t) => {
      const { body, dropped } = translate(from, to, forms[from]);
      const { model, max_tokens, store, ...sent } = body;
      t.same(sent, forms[to]);
      t.same(dropped, []);
      t.equal(model, 'up');
      t.equal(max_tokens, to === 'messages' ? 4096 : undefined);
      t.equal(store, to === 'responses' ? false : undefined);
    });

t.test('4.10 ids of calls are made safe, the same for call and result, and never made equal', async (t) => {
  const ids = ['functions.look:0', 'functions.look_0', 'functions_look_0', 'x'.repeat(90), ''];
  const body = {
    messages: ids.flatMap((id) => [
      { role: 'assistant', tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: id, content: 'ok' },
    ]),
  };
  const list = translate('chat', 'messages', body).body.messages as { content: Json[] }[];
  const calls = list.flatMap(({ content }) => content.flatMap((block) => block.id ?? [])) as string[];
  const results = list.flatMap(({ content }) => content.flatMap((block) => block.tool_use_id ?? []));
  t.same(calls, results);
  t.equal(new Set(calls).size, ids.length);
  t.equal(calls[2], 'functions_look_0', 'a safe one stays');
  for (const id of calls) t.match(id, /^[A-Za-z0-9_-]{1,128}$/);
  const items = translate('chat', 'responses', body).body.input as Json[];
  for (const item of items) t.match(item.call_id, /^[A-Za-z0-9_-]{1,64}$/);
});

t.test('4.10 models that know system text only at the start get it there', async (t) => {
  const { body } = translate(
    'messages',
    'chat',
    {
      system: 'A.',
      messages: [
        { role: 'user', content: 'a' },
        { role: 'system', content: 'B.' },
      ],
    },
    { flags: { liftSystemTurns: true } },
  );
  t.same(body.messages, [
    { role: 'system', content: 'A.\n\nB.' },
    { role: 'user', content: 'a' },
  ]);
});
