import fc from 'fast-check';
import t from 'tap';
import type { Json } from '../../../src/dialects/dialect.js';
import { countInput } from '../../../src/dialects/count/count-input.js';
import { imageSize } from '../../../src/dialects/count/image-size.js';
import { layOutInput } from '../../../src/dialects/count/lay-out.js';
import { byteEstimate, tokenFactor, vocabularyOf } from '../../../src/dialects/count/tokenizer.js';
import { gif, jpeg, png, webpExtended, webpLossless, webpLossy } from './pictures.js';

const body = (...content: unknown[]): Json => ({ model: 'm', messages: [{ role: 'user', content }] });
const extra = (input: Json): number => layOutInput(input).extraTokens - layOutInput(body()).extraTokens;
const texts = (input: Json): readonly string[] => layOutInput(input).texts;

t.test('4.12 everything a model reads is counted, reasoning and tools included', async (t) => {
  const input = {
    system: [{ type: 'text', text: 'system' }],
    messages: [
      { role: 'user', content: 'plain' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'thought', signature: 'not read' },
          { type: 'text', text: 'said' },
          { type: 'tool_use', id: 'x', name: 'look', input: { a: 1 } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'x', content: 'result' },
          { type: 'tool_result', tool_use_id: 'y', content: [{ type: 'text', text: 'inner' }] },
          { type: 'document', title: 't', source: { type: 'text', data: 'doc' } },
          { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'block' }] } },
          { type: 'search_result', title: 'st', source: 'ss', content: [{ type: 'text', text: 'sc' }] },
          { type: 'novel', a: 1 },
        ],
      },
    ],
    tools: [
      { name: 'look', description: 'Looks.', input_schema: { type: 'object' }, cache_control: {} },
      { type: 'web_search_20250305', name: 'web' },
    ],
    output_config: { format: { type: 'json_schema', schema: { type: 'string' } } },
  };
  t.same(texts(input), [
    ...['system', 'plain', 'thought', 'said', 'look', '{"a":1}', 'result', 'inner', 't', 'doc', 'block'],
    ...['st', 'ss', 'sc', '{"type":"novel","a":1}'],
    ...['look', 'Looks.', '{"type":"object"}', '{"type":"web_search_20250305","name":"web"}'],
    '{"type":"string"}',
  ]);
  t.equal(layOutInput(input).extraTokens, 3 + 3 * 4 + 350);
});

t.test('4.12 a picture is counted by its size, one of unknown size as a large one', async (t) => {
  const image = (bytes: Buffer) =>
    extra(body({ type: 'image', source: { type: 'base64', data: bytes.toString('base64') } }));
  t.equal(image(png(750, 100)), 100);
  t.equal(image(jpeg(200, 200)), 54);
  t.equal(image(png(15_680, 100)), 21, 'scaled down by its longer edge');
  t.equal(image(png(8_000, 8_000)), 1_600);
  t.equal(image(Buffer.from('no picture at all')), 1_600);
  t.equal(extra(body({ type: 'image', source: { type: 'url', url: 'https://x.test' } })), 1_600);
  t.equal(extra(body({ type: 'image' })), 1_600);
  const nested = {
    type: 'tool_result',
    content: [{ type: 'image', source: { data: png(750, 10).toString('base64') } }],
  };
  t.equal(extra(body(nested)), 10, 'inside a result too');
});

t.test('4.12 the size of every kind of picture is read from its head', async (t) => {
  for (const make of [png, gif, jpeg, webpExtended, webpLossless, webpLossy])
    t.same(imageSize(make(1_234, 567).toString('base64')), { width: 1_234, height: 567 }, make.name);
  t.equal(imageSize(''), null);
  t.equal(imageSize(jpeg(5, 5, 60_000).subarray(0, 100).toString('base64')), null, 'cut off');
});

t.test('4.12 no bytes make the reader of sizes fail', async () => {
  const heads = [
    png(1, 1),
    gif(1, 1),
    jpeg(1, 1, 8),
    webpExtended(1, 1),
    webpLossless(1, 1),
    webpLossy(1, 1),
  ];
  fc.assert(
    fc.property(
      fc.constantFrom(...heads),
      fc.uint8Array({ maxLength: 60 }),
      fc.nat(40),
      (head, tail, cut) => {
        imageSize(Buffer.concat([head.subarray(0, cut), tail]).toString('base64'));
      },
    ),
  );
});

t.test('4.12 a document is counted by its pages, or by its size where they are packed', async (t) => {
  const document = (data: string) =>
    extra(body({ type: 'document', source: { type: 'base64', data: Buffer.from(data).toString('base64') } }));
  t.equal(document('%PDF /Type /Pages /Type /Page /Type/Page\n'), 6_000);
  t.equal(document(`%PDF ${'x'.repeat(250_000)}`), 9_000);
  t.equal(document('/Type /Page '.repeat(1_000_000)), 3_000_000_000, 'a long one by its beginning');
  t.equal(extra(body({ type: 'document', source: { type: 'url', url: 'https://x.test' } })), 3_000);
});

t.test('4.12 sealed reasoning counts by its length', async (t) => {
  t.equal(extra(body({ type: 'redacted_thinking', data: 'x'.repeat(1_600) })), 300);
});

t.test('4.12 newer Claude models make more of a text than older ones, others what they are', async (t) => {
  for (const [model, factor] of [
    ['gpt-5', 1],
    ['claude-3-5-sonnet-20241022', 1.1],
    ['claude-sonnet-4-20250514', 1.1],
    ['claude-opus-4-6', 1.1],
    ['anthropic/claude-opus-4.7', 1.43],
    ['claude-opus-4-7-20260301', 1.43],
    ['claude-sonnet-5', 1.43],
    ['claude-opus-4-10', 1.43],
    ['claude-fable', 1.43],
    ['claude-instant', 1.1],
  ] as const)
    t.equal(tokenFactor(model), factor, model);
});

t.test('4.12 older GPT models have a vocabulary of their own, all others the newer one', async (t) => {
  for (const model of [
    'gpt-4',
    'gpt-4-turbo-2024-04-09',
    'gpt-4-32k',
    'gpt-3.5-turbo',
    'gpt-35-turbo',
    'openai/GPT-4',
  ])
    t.equal(vocabularyOf(model), 'cl100k_base', model);
  for (const model of [
    'gpt-4o',
    'gpt-4.1-mini',
    'gpt-4.5-preview',
    'gpt-5',
    'gpt-oss-20b',
    'o3',
    'claude-4',
    'my-gpt-4',
  ])
    t.equal(vocabularyOf(model), 'o200k_base', model);
});

t.test('4.12 the count is whole, and never less than its parts', async (t) => {
  const input = body({ type: 'text', text: 'x'.repeat(400) });
  t.equal(await countInput(input, 'gpt-5', byteEstimate), 107);
  t.equal(await countInput(input, 'claude-opus-4-6', byteEstimate), 118);
  const exact = { exact: true, count: async () => 50 };
  t.equal(await countInput(input, 'claude-opus-4-7', exact), 57, 'the model’s own counter is believed');
  t.equal(byteEstimate.count(['é', 'abcde', '']), 3);
});
