import type { DialectName, Json } from '../dialect.js';
import { isObject } from '../event.js';
import { MalformedRequest } from './malformed-request.js';

/** One turn of a conversation: its text, and what tools gave in it. */
export interface Turn {
  readonly role: 'system' | 'user' | 'assistant';
  readonly text: string;
  readonly results: readonly string[];
}

/** The keys under which blocks of the three formats keep what a model reads. */
const TEXT_KEYS = ['text', 'refusal', 'thinking', 'arguments'];

const blockText = (block: unknown): string => {
  if (typeof block === 'string') return block;
  if (!isObject(block)) return '';
  if (block.type === 'tool_use') return JSON.stringify(block.input ?? {});
  const found = TEXT_KEYS.map((key) => block[key]).find((value) => typeof value === 'string');
  return typeof found === 'string' ? found : '';
};

const textOf = (content: unknown): string =>
  Array.isArray(content) ? content.map(blockText).join('\n') : blockText(content);

const roleOf = (role: unknown): Turn['role'] => {
  if (role === 'assistant') return 'assistant';
  return role === 'system' || role === 'developer' ? 'system' : 'user';
};

const listOf = (body: Json, key: string): Json[] => {
  const list = body[key];
  if (!Array.isArray(list) || list.length === 0)
    throw new MalformedRequest(key, `${key}: must be an array of at least one item.`);
  return list.map((item: unknown, index) => {
    if (!isObject(item)) throw new MalformedRequest(`${key}.${index}`, `${key}.${index}: must be an object.`);
    return item;
  });
};

const systemTurn = (content: unknown): Turn[] =>
  content === undefined || content === null ? [] : [{ role: 'system', text: textOf(content), results: [] }];

const needRole = (item: Json, at: string): void => {
  if (typeof item.role !== 'string')
    throw new MalformedRequest(`${at}.role`, `${at}.role: must be a string.`);
};

const messagesTurn = (message: Json, index: number): Turn => {
  needRole(message, `messages.${index}`);
  const blocks: unknown[] = Array.isArray(message.content) ? message.content : [message.content];
  const isResult = (block: unknown): block is Json => isObject(block) && block.type === 'tool_result';
  return {
    role: roleOf(message.role),
    text: textOf(blocks.filter((block) => !isResult(block))),
    results: blocks.filter(isResult).map((block) => textOf(block.content)),
  };
};

const chatTurn = (message: Json, index: number): Turn => {
  needRole(message, `messages.${index}`);
  const text = textOf(message.content);
  if (message.role === 'tool') return { role: 'user', text: '', results: [text] };
  const calls: unknown[] = Array.isArray(message.tool_calls) ? message.tool_calls : [];
  const said = calls.map((call) => (isObject(call) ? blockText(call.function) : ''));
  return { role: roleOf(message.role), text: [text, ...said].join('\n'), results: [] };
};

const responsesTurn = (item: Json): Turn => {
  if (item.type === 'function_call_output') return { role: 'user', text: '', results: [textOf(item.output)] };
  if (item.type === 'function_call') return { role: 'assistant', text: blockText(item), results: [] };
  if (item.type === 'reasoning') return { role: 'assistant', text: textOf(item.summary), results: [] };
  // Items of kinds the simulator does not know are nobody's words.
  const role = typeof item.role === 'string' ? roleOf(item.role) : 'assistant';
  return { role, text: textOf(item.content), results: [] };
};

const READERS: Readonly<Record<DialectName, (body: Json) => Turn[]>> = {
  messages: (body) => [...systemTurn(body.system), ...listOf(body, 'messages').map(messagesTurn)],
  chat: (body) => listOf(body, 'messages').map(chatTurn),
  responses: (body) => [
    ...systemTurn(body.instructions),
    ...(typeof body.input === 'string'
      ? [{ role: 'user', text: body.input, results: [] } as const]
      : listOf(body, 'input').map(responsesTurn)),
  ],
};

/** The conversation of a request. Throws MalformedRequest where it has none. */
export const readTurns = (format: DialectName, body: Json): Turn[] => READERS[format](body);
