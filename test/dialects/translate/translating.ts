import type { DialectName, ForwardOptions, Json } from '../../../src/dialects/dialect.js';
import { chatDialect } from '../../../src/dialects/chat/dialect.js';
import { messagesDialect } from '../../../src/dialects/messages/dialect.js';
import { responsesDialect } from '../../../src/dialects/responses/dialect.js';
import { translateRequest } from '../../../src/dialects/translate/translate.js';

const dialects = { messages: messagesDialect, chat: chatDialect, responses: responsesDialect };

export const names: readonly DialectName[] = ['messages', 'chat', 'responses'];

/** Every pair of different formats. */
export const pairs: readonly (readonly [DialectName, DialectName])[] = names.flatMap((from) =>
  names.filter((to) => to !== from).map((to) => [from, to] as const),
);

/** The smallest request of each format. */
export const smallest: Readonly<Record<DialectName, Json>> = {
  messages: { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
  chat: { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
  responses: { model: 'm', input: 'hi' },
};

export interface Sent {
  readonly body: Json;
  readonly headers: Readonly<Record<string, string>>;
  readonly dropped: readonly string[];
}

/** Reads a body as the door does, and gives what the upstream would get. */
export const translate = (
  from: DialectName,
  to: DialectName,
  body: Json,
  options: Partial<ForwardOptions> = {},
): Sent => {
  const sent = translateRequest(from, to, dialects[from].read({ ...smallest[from], ...body }), {
    upstreamModel: 'up',
    clientHeaders: {},
    defaultMaxTokens: 4096,
    ...options,
  });
  return { ...sent, body: JSON.parse(sent.body) as Json };
};

/** The body less some of its fields. */
export const without = (body: Json, ...keys: readonly string[]): Json =>
  Object.fromEntries(Object.entries(body).filter(([key]) => !keys.includes(key)));
