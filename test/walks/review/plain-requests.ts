import type { DialectName } from '../../../src/dialects/dialect.js';
import type { Json } from '../../support/review.js';

export const paths: Readonly<Record<DialectName, string>> = {
  messages: '/v1/messages',
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
};
export const user = { role: 'user', content: 'Tell me something about gardens.' };
/** One of each format, for something to be hidden in. */
export const base: Readonly<Record<DialectName, Json>> = {
  messages: { model: 'on-messages', max_tokens: 100, messages: [user] },
  chat: { model: 'on-chat', messages: [user] },
  responses: { model: 'on-responses', input: [user] },
};
/** What the house `denying` does not want to hear. */
export const BAD = 'a forbidden fruit';
