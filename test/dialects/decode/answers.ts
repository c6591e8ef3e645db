import type { DialectName, Json } from '../../../src/dialects/dialect.js';
import {
  added,
  args,
  call,
  callItem,
  chunk,
  closes,
  delta,
  done,
  ending,
  finished,
  input,
  messageItem,
  opens,
  outputText,
  part,
  response,
  said,
  start,
  stop,
  text,
  textBlock,
  thinks,
  toolBlock,
  type Wire,
} from './wire.js';

const LONG = 'Naïve 你好 😀 "quoted" \\ and\nlines. '.repeat(40);

/** One answer as each upstream streams it: reasoning, a long text, two calls at once. */
export const fullAnswer: Readonly<Record<DialectName, readonly Wire[]>> = {
  messages: [
    start(),
    opens(0, { type: 'thinking', thinking: '', signature: '' }),
    thinks(0, 'Let me '),
    thinks(0, 'see.'),
    delta(0, { type: 'signature_delta', signature: 'SIG' }),
    closes(0),
    opens(1, textBlock),
    ...LONG.match(/.{1,9}/gsu)!.map((piece) => text(1, piece)),
    closes(1),
    opens(2, toolBlock('a')),
    input(2, '{"x"'),
    input(2, ':1}'),
    closes(2),
    opens(3, toolBlock('b')),
    closes(3),
    ending('tool_use'),
    stop,
  ],
  chat: [
    chunk({ role: 'assistant', content: '' }),
    chunk({ reasoning_content: 'Let me ' }),
    chunk({ reasoning_content: 'see.' }),
    ...LONG.match(/.{1,9}/gsu)!.map((piece) => chunk({ content: piece })),
    call({ index: 0, id: 'toolu_a', type: 'function', function: { name: 'a', arguments: '' } }),
    call({ index: 0, function: { arguments: '{"x"' } }),
    call({ index: 0, function: { arguments: ':1}' } }),
    call({ index: 1, id: 'toolu_b', type: 'function', function: { name: 'b', arguments: '{}' } }),
    chunk({}, 'tool_calls'),
    { ...chunk({}), choices: [], usage: { prompt_tokens: 7, completion_tokens: 9 } },
    done,
  ],
  responses: [
    response('in_progress'),
    added(0, { id: 'rs', type: 'reasoning', summary: [] }),
    {
      type: 'response.reasoning_summary_part.added',
      item_id: 'rs',
      output_index: 0,
      summary_index: 0,
      part: { type: 'summary_text', text: '' },
    },
    ...['Let me ', 'see.'].map((piece) => ({
      type: 'response.reasoning_summary_text.delta',
      item_id: 'rs',
      output_index: 0,
      summary_index: 0,
      delta: piece,
    })),
    finished(0, { id: 'rs', type: 'reasoning', summary: [{ type: 'summary_text', text: 'Let me see.' }] }),
    added(1, messageItem()),
    part(1, 0),
    ...LONG.match(/.{1,9}/gsu)!.map((piece, at) =>
      said(1, piece, { sequence_number: at + 7, logprobs: [], obfuscation: 'x'.repeat(at % 5) }),
    ),
    finished(1, messageItem([outputText(LONG)])),
    added(2, callItem('a', '', { call_id: 'toolu_a' })),
    args(2, '{"x"'),
    args(2, ':1}'),
    finished(2, callItem('a', '{"x":1}', { call_id: 'toolu_a' })),
    added(3, callItem('b', '', { call_id: 'toolu_b' })),
    finished(3, callItem('b', '{}', { call_id: 'toolu_b' })),
    response('completed', { usage: { input_tokens: 7, output_tokens: 9 } }),
  ],
};

/** What every client must make of it. */
export const fullText = LONG;

/** The same as each upstream answers at once. */
export const wholeAnswer: Readonly<Record<DialectName, Json>> = {
  messages: {
    id: 'msg_up',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [
      { type: 'thinking', thinking: 'Let me see.', signature: 'SIG' },
      { type: 'text', text: LONG },
      toolBlock('a', { x: 1 }),
      toolBlock('b'),
    ],
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 7, output_tokens: 9 },
  },
  chat: {
    id: 'chatcmpl-up',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: LONG,
          reasoning_content: 'Let me see.',
          tool_calls: [
            { id: 'toolu_a', type: 'function', function: { name: 'a', arguments: '{"x":1}' } },
            { id: 'toolu_b', type: 'function', function: { name: 'b', arguments: '{}' } },
          ],
        },
        finish_reason: 'tool_calls',
      },
    ],
    usage: { prompt_tokens: 7, completion_tokens: 9, total_tokens: 16 },
  },
  responses: {
    id: 'resp_up',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'm',
    output: [
      { id: 'rs', type: 'reasoning', summary: [{ type: 'summary_text', text: 'Let me see.' }] },
      messageItem([outputText(LONG)]),
      callItem('a', '{"x":1}', { call_id: 'toolu_a' }),
      callItem('b', '{}', { call_id: 'toolu_b' }),
    ],
    usage: { input_tokens: 7, output_tokens: 9, total_tokens: 16 },
  },
};
