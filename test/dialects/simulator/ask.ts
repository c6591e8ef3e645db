import { text as readAll } from 'node:stream/consumers';
import type { DialectName, Json } from '../../../src/dialects/dialect.js';
import { createSimulator, type SimulatorOptions } from '../../../src/dialects/simulator/provider.js';
import type { Provider, UpstreamAnswer } from '../../../src/io/upstream/provider.js';
import { checkChat } from '../encode/check-chat.js';
import { checkMessages } from '../encode/check-messages.js';
import { checkResponses } from '../encode/check-responses.js';
import { readFrames, type Heard } from '../encode/frames.js';
import { hearChatBody, hearMessagesBody, hearResponsesBody } from '../encode/whole-bodies.js';

export const FORMATS = ['messages', 'chat', 'responses'] as const;

export const PATHS: Readonly<Record<DialectName, string>> = {
  messages: '/v1/messages',
  chat: '/chat/completions',
  responses: '/responses',
};

/** As fast as it is read. */
export const simulate = (options: Partial<SimulatorOptions> = {}): Provider =>
  createSimulator({ name: 'sim', ttftMs: 0, tokensPerSecond: 0, ...options });

/** One user message in the words of a format. */
export const requestOf = (format: DialectName, text: string, more: Json = {}): Json => ({
  model: 'sim-small',
  ...(format === 'responses' ? { input: text } : { messages: [{ role: 'user', content: text }] }),
  ...more,
});

export const send = (
  provider: Provider,
  path: string,
  body: unknown,
  signal: AbortSignal = new AbortController().signal,
): Promise<UpstreamAnswer> =>
  provider.send({
    path,
    headers: {},
    body: typeof body === 'string' ? body : JSON.stringify(body),
    signal,
  });

export interface Answered {
  readonly status: number;
  readonly headers: UpstreamAnswer['headers'];
  readonly body: string;
}

export const ask = async (path: string, body: unknown, provider = simulate()): Promise<Answered> => {
  const answer = await send(provider, path, body);
  return { status: answer.status, headers: answer.headers, body: await readAll(answer.body) };
};

/** What a stream says, its order checked. */
export const hearStream = (format: DialectName, stream: string): Heard => {
  const frames = readFrames(stream);
  if (format === 'messages') return checkMessages(frames);
  if (format === 'responses') return checkResponses(frames);
  return checkChat(frames, stream.includes('"usage"'));
};

export const hearBody = (format: DialectName, body: string): Heard => {
  const json = JSON.parse(body) as Json;
  if (format === 'messages') return hearMessagesBody(json);
  return format === 'responses' ? hearResponsesBody(json) : hearChatBody(json);
};

/** Asks for a stream and a whole answer alike. */
export const hear = async (
  format: DialectName,
  text: string,
  more: Json = {},
): Promise<{ readonly streamed: Heard; readonly whole: Heard; readonly stream: string }> => {
  const streaming = { stream: true, ...(format === 'chat' && { stream_options: { include_usage: true } }) };
  const { body: stream } = await ask(PATHS[format], requestOf(format, text, { ...more, ...streaming }));
  const { body } = await ask(PATHS[format], requestOf(format, text, more));
  return { streamed: hearStream(format, stream), whole: hearBody(format, body), stream };
};

const DELTA_KEYS: Readonly<Record<DialectName, RegExp>> = {
  messages: /"(?:text|thinking|input_json)_delta"/,
  chat: /"delta":\{(?:"content":"[^"]|"reasoning_content"|"tool_calls":\[\{"index":\d+,"function")/,
  responses: /"type":"response\.(?:output_text|reasoning_summary_text|function_call_arguments)\.delta"/,
};

/** How many deltas with text a stream holds. */
export const countDeltas = (format: DialectName, stream: string): number =>
  readFrames(stream).filter(({ raw }) => DELTA_KEYS[format].test(raw)).length;

/** Output tokens as the format reports them. */
export const outputTokens = (heard: Heard): unknown =>
  heard.usage?.output_tokens ?? heard.usage?.completion_tokens;
export const inputTokens = (heard: Heard): unknown => heard.usage?.input_tokens ?? heard.usage?.prompt_tokens;
