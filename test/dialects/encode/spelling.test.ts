import t from 'tap';
import type { FinishReason, InferenceEvent } from '../../../src/core/events.js';
import { collectChat } from '../../../src/dialects/chat/collect.js';
import { encodeChat } from '../../../src/dialects/chat/encode.js';
import type { Json } from '../../../src/dialects/dialect.js';
import type { Encoder } from '../../../src/dialects/encoding.js';
import { collectMessages } from '../../../src/dialects/messages/collect.js';
import { encodeMessages } from '../../../src/dialects/messages/encode.js';
import { collectResponses } from '../../../src/dialects/responses/collect.js';
import { encodeResponses } from '../../../src/dialects/responses/encode.js';
import { checkChat } from './check-chat.js';
import { checkMessages } from './check-messages.js';
import { checkResponses } from './check-responses.js';
import { readFrames } from './frames.js';

const numberedIds = (): ((prefix: string) => string) => {
  let count = 0;
  return (prefix) => `${prefix}_${++count}`;
};

const options = (): { newId: (prefix: string) => string; nowMs: () => number } => ({
  newId: numberedIds(),
  nowMs: () => 1_700_000_000_900,
});

const usage = { input: 10, cacheRead: 4, cacheWrite: 2, output: 7, reasoning: 3 };
const start: InferenceEvent = { type: 'start', id: 'up_1', model: 'm', usage: null };
const finish = (reason: FinishReason, stopSequence: string | null = null): InferenceEvent => ({
  type: 'finish',
  reason,
  stopSequence,
});
const block = (index: number, kind: 'text' | 'refusal' | 'reasoning', text: string): InferenceEvent[] => [
  { type: 'block_open', index, kind },
  { type: 'delta', index, text },
  { type: 'block_close', index },
];
const call = (index: number, toolId: string, ...pieces: string[]): InferenceEvent[] => [
  { type: 'block_open', index, kind: 'tool', toolId, toolName: 'look' },
  ...pieces.map((text): InferenceEvent => ({ type: 'delta', index, text })),
  { type: 'block_close', index },
];
const write = (encoder: Encoder, ...events: InferenceEvent[]): string =>
  events.map((event) => encoder.push(event)).join('');

t.test('4.10 a Messages answer is spelt byte for byte as clients read it', async (t) => {
  const text = write(
    encodeMessages(options()),
    { type: 'start', id: 'up_1', model: 'm', usage: { ...usage, output: 0, reasoning: 0 } },
    ...block(0, 'text', 'Hi "you"'),
    { type: 'usage', usage: { ...usage, reasoning: 0 } },
    finish('stop'),
  );
  t.equal(
    text,
    [
      'event: message_start',
      'data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":2,"cache_read_input_tokens":4,"output_tokens":0}}}',
      '',
      'event: content_block_start',
      'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
      '',
      'event: content_block_delta',
      'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi \\"you\\""}}',
      '',
      'event: content_block_stop',
      'data: {"type":"content_block_stop","index":0}',
      '',
      'event: message_delta',
      'data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":10,"cache_creation_input_tokens":2,"cache_read_input_tokens":4,"output_tokens":7}}',
      '',
      'event: message_stop',
      'data: {"type":"message_stop"}',
      '',
      '',
    ].join('\n'),
  );
});

t.test('4.11 a Chat Completions answer is spelt byte for byte as clients read it', async (t) => {
  const text = write(
    encodeChat({ ...options(), includeUsage: true }),
    start,
    ...block(0, 'text', 'Hi'),
    ...call(1, 'call_9', '{"a":', '1}'),
    { type: 'usage', usage },
    finish('stop'),
  );
  const head = '{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m"';
  const chunk = (delta: string, reason = 'null'): string =>
    `data: ${head},"choices":[{"index":0,"delta":${delta},"finish_reason":${reason}}]}\n\n`;
  t.equal(
    text,
    chunk('{"role":"assistant","content":""}') +
      chunk('{"content":"Hi"}') +
      chunk(
        '{"tool_calls":[{"index":0,"id":"call_9","type":"function","function":{"name":"look","arguments":""}}]}',
      ) +
      chunk('{"tool_calls":[{"index":0,"function":{"arguments":"{\\"a\\":"}}]}') +
      chunk('{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}') +
      chunk('{}', '"tool_calls"') +
      `data: ${head},"choices":[],"usage":{"prompt_tokens":16,"completion_tokens":7,"total_tokens":23,"prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":2},"completion_tokens_details":{"reasoning_tokens":3}}}\n\n` +
      'data: [DONE]\n\n',
  );
});

t.test('4.11 a Responses answer names its events in the order clients check', async (t) => {
  const encoder = encodeResponses({ ...options(), request: { instructions: 'Be kind.', temperature: 0.5 } });
  const frames = readFrames(
    write(
      encoder,
      start,
      ...block(0, 'reasoning', 'Hm'),
      ...block(1, 'text', 'Hi'),
      ...call(2, 'call_9', '{}'),
      { type: 'usage', usage },
      finish('tool_calls'),
    ),
  );
  checkResponses(frames);
  t.strictSame(
    frames.map(({ event }) => event?.replace('response.', '')),
    [
      'created',
      'in_progress',
      'output_item.added',
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
      'output_item.done',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
      'completed',
    ],
  );
  const response = frames.at(-1)!.data.response as Json;
  t.match(response, {
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    created_at: 1_700_000_000,
    instructions: 'Be kind.',
    temperature: 0.5,
    error: null,
    usage: {
      input_tokens: 16,
      input_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 },
      output_tokens: 7,
      output_tokens_details: { reasoning_tokens: 3 },
      total_tokens: 23,
    },
  });
  t.strictSame(
    (response.output as Json[]).map(({ id, type, status }) => [id, type, status]),
    [
      ['rs_2', 'reasoning', undefined],
      ['msg_3', 'message', 'completed'],
      ['fc_4', 'function_call', 'completed'],
    ],
  );
});

const REASONS: readonly [FinishReason, messages: string, chat: string, responses: string][] = [
  ['stop', 'end_turn', 'stop', 'completed'],
  ['stop_sequence', 'stop_sequence', 'stop', 'completed'],
  ['pause', 'pause_turn', 'stop', 'completed'],
  ['length', 'max_tokens', 'length', 'max_output_tokens'],
  ['refusal', 'refusal', 'content_filter', 'content_filter'],
  ['tool_calls', 'tool_use', 'tool_calls', 'completed'],
];

for (const [reason, messages, chat, responses] of REASONS)
  t.test(`4.10 the reason ${reason} is said in each format's own word`, async (t) => {
    const said = reason === 'tool_calls' ? call(0, 'c', '{}') : block(0, 'text', 'Hi');
    const events = [start, ...said, finish(reason, 'END')];
    const heard = checkMessages(readFrames(write(encodeMessages(), ...events)));
    t.equal(heard.finish, messages);
    t.equal(collectMessages(events).stop_sequence, reason === 'stop_sequence' ? 'END' : null);
    t.equal(checkChat(readFrames(write(encodeChat(), ...events)), false).finish, chat);
    t.equal(checkResponses(readFrames(write(encodeResponses(), ...events))).finish, responses);
  });

t.test('4.10 a call that was sent is always announced as one, and never where there was none', async (t) => {
  const called = [start, ...call(0, 'c'), finish('stop')];
  t.equal(collectMessages(called).stop_reason, 'tool_use');
  t.match(collectChat(called).choices, [{ finish_reason: 'tool_calls' }]);
  const silent = [start, ...block(0, 'text', 'No.'), finish('tool_calls')];
  t.equal(collectMessages(silent).stop_reason, 'end_turn');
  t.match(collectChat(silent).choices, [{ finish_reason: 'stop' }]);
});

t.test('4.10 a refusal is shown as text and explained in Messages', async (t) => {
  const events = [start, ...block(0, 'refusal', 'I cannot help with that.'), finish('stop')];
  const details = { type: 'refusal', category: null, explanation: 'I cannot help with that.' };
  const frames = readFrames(write(encodeMessages(), ...events));
  t.strictSame(frames.at(-2)!.data.delta, {
    stop_reason: 'refusal',
    stop_sequence: null,
    stop_details: details,
  });
  t.match(collectMessages(events), {
    content: [{ type: 'text', text: 'I cannot help with that.' }],
    stop_details: details,
  });
});

t.test('4.11 an item cut short is marked incomplete with its response', async (t) => {
  const frames = readFrames(write(encodeResponses(), start, ...block(0, 'text', 'Hi'), finish('length')));
  t.match(frames.at(-2)!.data, { type: 'response.output_item.done', item: { status: 'incomplete' } });
  t.match(frames.at(-1)!.data, {
    type: 'response.incomplete',
    response: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
  });
  t.match(collectResponses([start, ...block(0, 'text', 'Hi'), finish('length')]), {
    status: 'incomplete',
    output: [{ status: 'incomplete' }],
  });
});

t.test('4.10 thinking keeps its signature, also without a text', async (t) => {
  const events: InferenceEvent[] = [
    start,
    { type: 'block_open', index: 0, kind: 'reasoning' },
    { type: 'block_close', index: 0, signature: 'sig' },
    ...block(1, 'text', 'Hi'),
    finish('stop'),
  ];
  t.strictSame(checkMessages(readFrames(write(encodeMessages(), ...events))).signatures, ['sig']);
  t.match(collectMessages(events).content, [{ type: 'thinking', thinking: '', signature: 'sig' }, {}]);
});

t.test('4.10 the usage of an upstream that tells it late is estimated at the start', async (t) => {
  const encoder = encodeMessages({ estimatedInputTokens: 12 });
  const [frame] = readFrames(encoder.push(start));
  t.match(frame!.data.message, { usage: { input_tokens: 12, output_tokens: 0 } });
});

t.test('4.10 ids of the format are kept, others are minted, odd call ids are made plain', async (t) => {
  t.equal(collectMessages([{ ...start, id: 'msg_up' }, finish('stop')]).id, 'msg_up');
  t.match(String(collectResponses([start, finish('stop')]).id), /^resp_/);
  t.match(String(collectChat([start, finish('stop')]).id), /^chatcmpl-[0-9A-Z]+$/);
  const events = [start, ...call(0, 'functions.look:0', '{"a":1}'), finish('stop')];
  t.match(collectMessages(events).content, [{ id: 'functions_look_0', input: { a: 1 } }]);
  t.match(collectResponses(events).output, [{ call_id: 'functions.look:0', arguments: '{"a":1}' }]);
});

t.test('D39 the credit fields stand in the last event of each format', async (t) => {
  const fields = { remaining_credits: 5, estimated_credits_used: 2, estimated_cost_usd: 0.1 };
  const last = (encoder: Encoder): Json[] => {
    encoder.push(start);
    return readFrames(encoder.push(finish('stop'), fields)).map(({ data }) => data);
  };
  t.match(last(encodeMessages())[0], { type: 'message_delta', ...fields, usage: fields });
  t.match(last(encodeChat())[0], { choices: [{ finish_reason: 'stop' }], ...fields });
  t.match(last(encodeChat({ includeUsage: true }))[1], { choices: [], ...fields, usage: fields });
  t.match(last(encodeResponses())[0], {
    type: 'response.completed',
    response: { ...fields, usage: fields },
  });
});

t.test('4.10 an error in a Messages stream has the type its code stands for', async (t) => {
  const typeOf = (code: string): unknown => {
    const [frame] = readFrames(encodeMessages().push({ type: 'error', code, message: 'x' }));
    return (frame!.data.error as Json).type;
  };
  t.equal(typeOf('provider_overloaded'), 'overloaded_error');
  t.equal(typeOf('provider_rate_limited'), 'rate_limit_error');
  t.equal(typeOf('provider_timeout'), 'timeout_error');
  t.equal(typeOf('overloaded_error'), 'overloaded_error');
  t.equal(typeOf('anything'), 'api_error');
});
