import type { DialectName, Json } from '../dialect.js';
import { isObject } from '../event.js';
import { readSignature } from './signature.js';

type Keeps = (block: unknown) => boolean;

/** Whether the proof was made by the format's own vendor. Some servers sign nothing: that proves nothing to others. */
const isOwn = (proof: unknown, format: DialectName): boolean =>
  typeof proof === 'string' && readSignature(proof, format)?.issuer === format;

const keepsBlock: Keeps = (block) => {
  if (!isObject(block)) return true;
  if (block.type === 'thinking') return isOwn(block.signature, 'messages');
  return block.type !== 'redacted_thinking' || isOwn(block.data, 'messages');
};

/** The ids this gateway mints are unknown to a provider that is asked to look them up. */
const MINTED_ID = /^rs_[0-9A-HJKMNP-TV-Z]{26}$/;

const keepsItem: Keeps = (item) => {
  if (!isObject(item) || item.type !== 'reasoning') return true;
  if (typeof item.encrypted_content === 'string') return isOwn(item.encrypted_content, 'responses');
  return typeof item.id !== 'string' || !MINTED_ID.test(item.id);
};

const lessForeign = (list: unknown, keeps: Keeps): unknown =>
  Array.isArray(list) && !list.every(keeps) ? list.filter(keeps) : list;

const lessForeignMessage = (message: unknown): unknown => {
  if (!isObject(message)) return message;
  const content = lessForeign(message.content, keepsBlock);
  return content === message.content ? message : { ...message, content };
};

const isEmptied = (message: unknown): boolean =>
  isObject(message) && Array.isArray(message.content) && message.content.length === 0;

/**
 * A body for an upstream of its own format, less the reasoning another format's upstream gave the client:
 * after a fallback the history holds both, and the proof of one is refused by the other.
 */
export const withoutForeignReasoning = (format: DialectName, body: Json): Json => {
  if (format === 'responses') {
    const input = lessForeign(body.input, keepsItem);
    return input === body.input ? body : { ...body, input };
  }
  if (format !== 'messages' || !Array.isArray(body.messages)) return body;
  const before: unknown[] = body.messages;
  const messages = before.map(lessForeignMessage);
  if (messages.every((message, index) => message === before[index])) return body;
  return {
    ...body,
    messages: messages.filter((message, index) => message === before[index] || !isEmptied(message)),
  };
};
