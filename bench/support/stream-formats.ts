import type { DialectName } from '../../src/dialects/dialect.js';

const frame = (type: string, data: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;

/** A stream of one format in three pieces, of which the middle one is sent again and again. */
export interface ReadyStream {
  readonly path: string;
  readonly head: string;
  /** One event with this text. */
  delta(text: string): string;
  tail(events: number): string;
  /** Ends every complete stream, and nothing else does. */
  readonly terminal: string;
}

const message = { id: 'msg_bench', type: 'message', role: 'assistant', model: 'bench', stop_sequence: null };

const messages: ReadyStream = {
  path: '/v1/messages',
  head:
    frame('message_start', {
      message: { ...message, content: [], stop_reason: null, usage: { input_tokens: 12, output_tokens: 1 } },
    }) + frame('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  delta: (text) => frame('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
  tail: (events) =>
    frame('content_block_stop', { index: 0 }) +
    frame('message_delta', {
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: events },
    }) +
    frame('message_stop', {}),
  terminal: 'event: message_stop',
};

const chunk = (choices: readonly object[], more: object = {}): string =>
  `data: ${JSON.stringify({ id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1_760_000_000, model: 'bench', service_tier: 'default', system_fingerprint: 'fp_bench', choices, usage: null, ...more })}\n\n`;
const choice = (delta: object, finish_reason: string | null = null): string =>
  chunk([{ index: 0, delta, logprobs: null, finish_reason }]);

const chat: ReadyStream = {
  path: '/v1/chat/completions',
  head: choice({ role: 'assistant', content: '', refusal: null }),
  delta: (content) => choice({ content }),
  tail: (events) =>
    choice({}, 'stop') +
    chunk([], { usage: { prompt_tokens: 12, completion_tokens: events, total_tokens: events + 12 } }) +
    'data: [DONE]\n\n',
  terminal: 'data: [DONE]',
};

const response = (status: string, output: readonly object[], more: object = {}): object => ({
  response: {
    id: 'resp_bench',
    object: 'response',
    created_at: 1_760_000_000,
    status,
    model: 'bench',
    output,
    ...more,
  },
});
const at = { item_id: 'msg_bench', output_index: 0 };
const part = { type: 'output_text', annotations: [], logprobs: [], text: '' };
const item = (status: string, content: readonly object[]): object => ({
  output_index: 0,
  item: { id: 'msg_bench', type: 'message', status, role: 'assistant', content },
});

const responses: ReadyStream = {
  path: '/v1/responses',
  head:
    frame('response.created', { sequence_number: 0, ...response('in_progress', []) }) +
    frame('response.in_progress', { sequence_number: 1, ...response('in_progress', []) }) +
    frame('response.output_item.added', { sequence_number: 2, ...item('in_progress', []) }) +
    frame('response.content_part.added', { sequence_number: 3, ...at, content_index: 0, part }),
  delta: (delta) =>
    frame('response.output_text.delta', { sequence_number: 4, ...at, content_index: 0, delta, logprobs: [] }),
  tail: (events) => {
    const usage = { input_tokens: 12, output_tokens: events, total_tokens: events + 12 };
    const done = item('completed', [part]) as { item: object };
    return (
      frame('response.output_text.done', { sequence_number: 5, ...at, content_index: 0, text: '' }) +
      frame('response.content_part.done', { sequence_number: 6, ...at, content_index: 0, part }) +
      frame('response.output_item.done', { sequence_number: 7, ...done }) +
      frame('response.completed', { sequence_number: 8, ...response('completed', [done.item], { usage }) })
    );
  },
  terminal: 'event: response.completed',
};

export const readyStreams: Readonly<Record<DialectName, ReadyStream>> = { messages, chat, responses };

/** The shortest request of each format for a stream; the scripted upstream reads only its model. */
export const requestFor = (format: DialectName, model: string): string =>
  JSON.stringify({
    model,
    stream: true,
    ...(format === 'responses' ? { input: 'Go on.' } : { messages: [{ role: 'user', content: 'Go on.' }] }),
    ...(format === 'messages' && { max_tokens: 100_000 }),
  });
