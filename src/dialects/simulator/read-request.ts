import type { DialectName, Json } from '../dialect.js';
import { isObject } from '../event.js';
import { MalformedRequest } from './malformed-request.js';
import { readTurns, type Turn } from './read-turns.js';

/** A request as the simulator understands it, whatever its format. */
export interface Prompt {
  readonly format: DialectName;
  readonly body: Json;
  readonly model: string;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly maxTokens: number | null;
  readonly stopSequences: readonly string[];
  readonly lastUserText: string;
  /** What the tools gave, when the last turn is their results. */
  readonly toolResults: readonly string[];
  readonly tools: readonly Tool[];
  /** The tool that must be called, where the request insists. */
  readonly forcedTool: string | null;
  /** The schema the answer must fit; null = free text. */
  readonly outputSchema: Json | null;
  /** Everything a model would read, in order. */
  readonly texts: readonly string[];
}

export interface Tool {
  readonly name: string;
  readonly schema: unknown;
}

const asObject = (value: unknown): Json => (isObject(value) ? value : {});

const parseBody = (bytes: string | Buffer): Json => {
  let body: unknown;
  try {
    body = JSON.parse(bytes.toString());
  } catch {
    throw new MalformedRequest(null, 'The body is not valid JSON.');
  }
  if (!isObject(body)) throw new MalformedRequest(null, 'The body must be a JSON object.');
  return body;
};

const readMaxTokens = (body: Json): number | null => {
  for (const key of ['max_tokens', 'max_completion_tokens', 'max_output_tokens']) {
    const value = body[key];
    if (value === undefined || value === null) continue;
    if (!Number.isInteger(value) || (value as number) < 1)
      throw new MalformedRequest(key, `${key}: must be an integer of at least 1.`);
    return value as number;
  }
  return null;
};

const readTools = (body: Json): Tool[] => {
  if (body.tools === undefined || body.tools === null) return [];
  if (!Array.isArray(body.tools)) throw new MalformedRequest('tools', 'tools: must be an array.');
  return body.tools.filter(isObject).flatMap((tool) => {
    const named = isObject(tool.function) ? tool.function : tool;
    const schema = named.input_schema ?? named.parameters ?? {};
    return typeof named.name === 'string' ? [{ name: named.name, schema }] : [];
  });
};

const readForcedTool = (body: Json, tools: readonly Tool[]): string | null => {
  const choice = body.tool_choice;
  if (choice === 'required') return tools[0]?.name ?? null;
  const { type, name, function: inner } = asObject(choice);
  if (type === 'any') return tools[0]?.name ?? null;
  const forced = name ?? asObject(inner).name;
  return (type === 'tool' || type === 'function') && typeof forced === 'string' ? forced : null;
};

const ANY_OBJECT: Json = {
  type: 'object',
  properties: { answer: { type: 'string' } },
  required: ['answer'],
};

const readOutputSchema = (format: DialectName, body: Json): Json | null => {
  const wanted = {
    messages: () => asObject(body.output_config).format,
    chat: () => body.response_format,
    responses: () => asObject(body.text).format,
  }[format]();
  const { type, schema, json_schema: nested } = asObject(wanted);
  if (type === 'json_object') return ANY_OBJECT;
  if (type !== 'json_schema') return null;
  return asObject(schema ?? asObject(nested).schema);
};

const readStops = (body: Json): string[] => {
  const stops = body.stop_sequences ?? body.stop;
  const list: unknown[] = Array.isArray(stops) ? stops : [stops];
  return list.filter((stop): stop is string => typeof stop === 'string' && stop !== '');
};

/** The results that end the conversation, or the text of the last user turn. Directives of turns before are spent. */
const readLast = (turns: readonly Turn[]): Pick<Prompt, 'lastUserText' | 'toolResults'> => {
  const last = turns.findLastIndex((turn) => turn.role === 'user');
  const lastUserText = turns[last]?.text ?? '';
  let first = last;
  while (first >= 0 && turns[first]!.results.length > 0) first--;
  return { lastUserText, toolResults: turns.slice(first + 1, last + 1).flatMap((turn) => turn.results) };
};

/** Reads the bytes of a request. Throws MalformedRequest, naming the field where there is one. */
export const readRequest = (format: DialectName, bytes: string | Buffer): Prompt => {
  const body = parseBody(bytes);
  const { model } = body;
  if (typeof model !== 'string' || model === '')
    throw new MalformedRequest('model', 'model: must be a string that is not empty.');
  if (body.stream !== undefined && body.stream !== null && typeof body.stream !== 'boolean')
    throw new MalformedRequest('stream', 'stream: must be a boolean.');
  const turns = readTurns(format, body);
  const tools = readTools(body);
  const outputSchema = readOutputSchema(format, body);
  return {
    format,
    body,
    model,
    stream: body.stream === true,
    includeUsage: asObject(body.stream_options).include_usage === true,
    maxTokens: readMaxTokens(body),
    stopSequences: format === 'responses' ? [] : readStops(body),
    ...readLast(turns),
    tools,
    forcedTool: readForcedTool(body, tools),
    outputSchema,
    texts: [
      ...turns.flatMap((turn) => [turn.text, ...turn.results]),
      ...(tools.length > 0 ? [JSON.stringify(body.tools)] : []),
      ...(outputSchema ? [JSON.stringify(outputSchema)] : []),
    ],
  };
};

const BYTES_PER_TOKEN = 4;

/** The simulator's own rule: four bytes of what is read are one token, rounded up over the whole request. */
export const countInputTokens = (prompt: Prompt): number => {
  const bytes = prompt.texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return Math.max(1, Math.ceil(bytes / BYTES_PER_TOKEN));
};
