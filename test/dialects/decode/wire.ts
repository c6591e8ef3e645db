import type { DialectName, Json } from '../../../src/dialects/dialect.js';

/** Frames as an upstream writes them; a text stands for itself. */
export type Wire = Json | string;

const frame = (format: DialectName, wire: Wire): string => {
  if (typeof wire === 'string') return wire;
  const name = format !== 'chat' && typeof wire.type === 'string' ? `event: ${wire.type}\n` : '';
  return `${name}data: ${JSON.stringify(wire)}\n\n`;
};

export const stream = (format: DialectName, frames: readonly Wire[]): Buffer =>
  Buffer.from(frames.map((wire) => frame(format, wire)).join(''));

// Messages
export const start = (message: Json = {}): Json => ({
  type: 'message_start',
  message: {
    id: 'msg_up',
    role: 'assistant',
    model: 'm',
    content: [],
    usage: { input_tokens: 7, output_tokens: 1 },
    ...message,
  },
});
export const opens = (index: number, content_block: Json): Json => ({
  type: 'content_block_start',
  index,
  content_block,
});
export const textBlock = { type: 'text', text: '' };
export const toolBlock = (name: string, input: Json = {}): Json => ({
  type: 'tool_use',
  id: `toolu_${name}`,
  name,
  input,
});
export const delta = (index: number, body: Json): Json => ({
  type: 'content_block_delta',
  index,
  delta: body,
});
export const text = (index: number, said: string): Json => delta(index, { type: 'text_delta', text: said });
export const thinks = (index: number, said: string): Json =>
  delta(index, { type: 'thinking_delta', thinking: said });
export const input = (index: number, partial_json: unknown): Json =>
  delta(index, { type: 'input_json_delta', partial_json });
export const closes = (index: number): Json => ({ type: 'content_block_stop', index });
export const ending = (stop_reason: string | null, more: Json = {}): Json => ({
  type: 'message_delta',
  delta: { stop_reason, stop_sequence: null },
  usage: { output_tokens: 9 },
  ...more,
});
export const stop: Json = { type: 'message_stop' };

// Chat Completions
export const chunk = (body: Json, finish_reason: string | null = null, more: Json = {}): Json => ({
  id: 'chatcmpl-up',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta: body, finish_reason }],
  ...more,
});
export const call = (piece: Json): Json => chunk({ tool_calls: [piece] });
export const done = 'data: [DONE]\n\n';

// Responses
export const response = (status: string, more: Json = {}): Json => ({
  type: status === 'in_progress' ? 'response.created' : `response.${status}`,
  response: { id: 'resp_up', object: 'response', created_at: 1, model: 'm', status, output: [], ...more },
});
export const added = (output_index: number, item: Json): Json => ({
  type: 'response.output_item.added',
  output_index,
  item,
});
export const finished = (output_index: number, item: Json): Json => ({
  type: 'response.output_item.done',
  output_index,
  item,
});
export const messageItem = (content: readonly Json[] = [], more: Json = {}): Json => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'in_progress',
  content,
  ...more,
});
export const callItem = (name: string, args = '', more: Json = {}): Json => ({
  id: `fc_${name}`,
  type: 'function_call',
  call_id: `call_${name}`,
  name,
  arguments: args,
  ...more,
});
export const outputText = (said: string): Json => ({ type: 'output_text', text: said, annotations: [] });
export const part = (output_index: number, content_index: number, shape: Json = outputText('')): Json => ({
  type: 'response.content_part.added',
  item_id: 'msg_1',
  output_index,
  content_index,
  part: shape,
});
export const said = (output_index: number, piece: string, more: Json = {}): Json => ({
  type: 'response.output_text.delta',
  item_id: 'msg_1',
  output_index,
  content_index: 0,
  delta: piece,
  ...more,
});
export const args = (output_index: number, piece: string, more: Json = {}): Json => ({
  type: 'response.function_call_arguments.delta',
  item_id: 'fc_a',
  output_index,
  delta: piece,
  ...more,
});
