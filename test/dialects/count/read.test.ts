import t from 'tap';
import { GatewayError } from '../../../src/core/errors.js';
import { invalidJsonDetail } from '../../../src/dialects/count/detail.js';
import { readCount } from '../../../src/dialects/count/read.js';

const valid = { model: 'claude-x', messages: [{ role: 'user', content: 'hi' }] };

const detailOf = (body: unknown): readonly unknown[] => {
  try {
    readCount(body);
  } catch (error) {
    if (error instanceof GatewayError && error.status === 422 && error.detail) return error.detail;
    throw error;
  }
  return [];
};

const faults: readonly [title: string, body: unknown, detail: readonly unknown[]][] = [
  [
    'nothing',
    {},
    [
      { type: 'missing', loc: ['body', 'model'], msg: 'Field required', input: {} },
      { type: 'missing', loc: ['body', 'messages'], msg: 'Field required', input: {} },
    ],
  ],
  ['no body', undefined, [{ type: 'missing', loc: ['body'], msg: 'Field required', input: null }]],
  [
    'a list for a body',
    [1],
    [
      {
        type: 'model_attributes_type',
        loc: ['body'],
        msg: 'Input should be a valid dictionary or object to extract fields from',
        input: [1],
      },
    ],
  ],
  [
    'an empty model and no messages',
    { model: '', messages: [] },
    [
      {
        type: 'string_too_short',
        loc: ['body', 'model'],
        msg: 'String should have at least 1 character',
        input: '',
        ctx: { min_length: 1 },
      },
      {
        type: 'too_short',
        loc: ['body', 'messages'],
        msg: 'List should have at least 1 item after validation, not 0',
        input: [],
        ctx: { field_type: 'List', min_length: 1, actual_length: 0 },
      },
    ],
  ],
  [
    'values of other types',
    { ...valid, model: 5, system: 6, tools: {}, thinking: { budget_tokens: 1.5 } },
    [
      { type: 'string_type', loc: ['body', 'model'], msg: 'Input should be a valid string', input: 5 },
      { type: 'string_type', loc: ['body', 'system'], msg: 'Input should be a valid string', input: 6 },
      { type: 'list_type', loc: ['body', 'tools'], msg: 'Input should be a valid list', input: {} },
      {
        type: 'int_from_float',
        loc: ['body', 'thinking', 'budget_tokens'],
        msg: 'Input should be a valid integer, got a number with a fractional part',
        input: 1.5,
      },
    ],
  ],
  [
    'a message without content, a tool that is a text',
    { ...valid, messages: [valid.messages[0], { role: 'user' }], tools: ['x'] },
    [
      {
        type: 'missing',
        loc: ['body', 'messages', 1, 'content'],
        msg: 'Field required',
        input: { role: 'user' },
      },
      { type: 'dict_type', loc: ['body', 'tools', 0], msg: 'Input should be a valid dictionary', input: 'x' },
    ],
  ],
  [
    'a flag that is a text, a choice without a schema',
    {
      ...valid,
      tool_choice: { disable_parallel_tool_use: 'x' },
      output_config: { format: { type: 'json_object' } },
    },
    [
      {
        type: 'bool_type',
        loc: ['body', 'tool_choice', 'disable_parallel_tool_use'],
        msg: 'Input should be a valid boolean',
        input: 'x',
      },
      {
        type: 'literal_error',
        loc: ['body', 'output_config', 'format', 'type'],
        msg: "Input should be 'json_schema'",
        input: 'json_object',
        ctx: { expected: "'json_schema'" },
      },
      {
        type: 'missing',
        loc: ['body', 'output_config', 'format', 'schema'],
        msg: 'Field required',
        input: { type: 'json_object' },
      },
    ],
  ],
  [
    'an edit that removes reasoning',
    {
      ...valid,
      context_management: {
        edits: [
          { type: 'clear_thinking_20251015', keep: 'all' },
          { type: 'clear_thinking_20251015', keep: { type: 'thinking_turns', value: 1 } },
        ],
      },
    },
    [
      {
        type: 'literal_error',
        loc: ['body', 'context_management', 'edits', 1, 'keep', 'type'],
        msg: "Input should be 'all'",
        input: 'thinking_turns',
        ctx: { expected: "'all'" },
      },
    ],
  ],
  [
    'another edit',
    { ...valid, context_management: { edits: [{ type: 'clear_tool_uses_20250919', keep: 'all' }] } },
    [
      {
        type: 'literal_error',
        loc: ['body', 'context_management', 'edits', 0, 'type'],
        msg: "Input should be 'clear_thinking_20251015'",
        input: 'clear_tool_uses_20250919',
        ctx: { expected: "'clear_thinking_20251015'" },
      },
    ],
  ],
];

for (const [title, body, detail] of faults)
  t.test(`4.12 ${title}: 422 with every fault in its place`, async (t) => {
    t.strictSame(detailOf(body), detail);
  });

t.test('4.12 a large body is not sent back with its fault', async (t) => {
  const [fault] = detailOf({ messages: [{ content: 'x'.repeat(5_000) }] });
  t.match(fault, { type: 'missing', loc: ['body', 'model'], input: null });
});

t.test('4.12 a body full of faults is answered with the first hundred', async (t) => {
  t.equal(detailOf({ ...valid, messages: Array.from({ length: 5_000 }, () => ({})) }).length, 100);
});

t.test('4.12 a body that is no JSON has its place too', async (t) => {
  t.same(invalidJsonDetail(7, 'Expecting value'), {
    type: 'json_invalid',
    loc: ['body', 7],
    msg: 'JSON decode error',
    input: {},
    ctx: { error: 'Expecting value' },
  });
});

t.test('D41 what clients send beside the seed passes, edits that remove nothing are consumed', async (t) => {
  const body = {
    ...valid,
    system: [{ type: 'text', text: 'a' }],
    thinking: { type: 'adaptive' },
    tool_choice: { type: 'auto' },
    output_config: { effort: 'high' },
    novel: 1,
  };
  const edits = [
    { type: 'clear_thinking_20251015', keep: 'all' },
    { type: 'clear_thinking_20251015', keep: { type: 'all' } },
  ];
  t.same(readCount({ ...body, context_management: { edits } }), { model: 'claude-x', body });
  t.same(readCount({ ...body, tools: null }).body, { ...body, tools: null });
});
