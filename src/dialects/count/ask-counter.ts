import type { IncomingHttpHeaders } from 'node:http';
import type { UpstreamFlags } from '../../core/upstream-flags.js';
import type { Forwarded, Json } from '../dialect.js';
import { isObject } from '../event.js';
import { messagesVersion } from '../messages/forward.js';
import { withoutForeignReasoning } from '../translate/foreign-reasoning.js';
import { adaptBody } from '../translate/same-format.js';
import { translateRequest } from '../translate/translate.js';
import type { CountRequest } from './read.js';

export interface CounterOptions {
  readonly upstreamModel: string;
  readonly clientHeaders: IncomingHttpHeaders;
  readonly flags: UpstreamFlags;
}

/** The question to a counter of the Messages format: what `/v1/messages` would send, less what only an answer needs. */
export const askMessagesCounter = ({ body }: CountRequest, options: CounterOptions): Forwarded => {
  const own = withoutForeignReasoning('messages', body);
  const { body: sent } = adaptBody('messages', own, options.flags);
  return {
    body: JSON.stringify({ ...sent, model: options.upstreamModel }),
    headers: messagesVersion(sent, options.clientHeaders),
  };
};

/** What OpenAI's counter takes of a Responses body. */
const RESPONSES_FIELDS = new Set([
  'model',
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'reasoning',
  'text',
]);

/** The same for OpenAI's counter. Throws where the request cannot be carried over. */
export const askResponsesCounter = ({ model, body }: CountRequest, options: CounterOptions): Forwarded => {
  const request = { model, stream: false, maxOutputTokens: null, flaggedCategories: [], body };
  const { body: bytes, headers } = translateRequest('messages', 'responses', request, {
    ...options,
    defaultMaxTokens: 1,
  });
  const fields = Object.entries(JSON.parse(bytes) as Json).filter(([key]) => RESPONSES_FIELDS.has(key));
  return { body: JSON.stringify(Object.fromEntries(fields)), headers };
};

/** The count in a counter's answer; null where there is none. */
export const readCounted = (answer: Buffer): number | null => {
  try {
    const parsed: unknown = JSON.parse(answer.toString());
    const tokens = isObject(parsed) ? parsed.input_tokens : null;
    return typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens >= 0 ? tokens : null;
  } catch {
    return null;
  }
};
