import type { IncomingHttpHeaders } from 'node:http';
import { badKey, missingKey } from '../../core/errors.js';
import type { Family } from '../../core/exchange.js';
import { looksLikeJwt, secretFault } from './secrets.js';

const JWT_CHARACTERS = 8 * 1_024;

export type Credential =
  { readonly kind: 'key'; readonly secret: string } | { readonly kind: 'jwt'; readonly token: string };

/** Families whose clients may send their key as `x-api-key` (D33); elsewhere a client of that kind says so itself. */
const takesApiKeyHeader: Readonly<Record<Family, boolean>> = {
  administration: false,
  messages: true,
  count_tokens: true,
  responses: false,
  openai: false,
};

/** The credential a request carries; null = none. A malformed one is refused before anything looks it up. */
export const readCredential = (headers: IncomingHttpHeaders, family: Family): Credential | null => {
  if (headers.authorization !== undefined) return readBearer(headers.authorization);
  const takes = takesApiKeyHeader[family] || (family === 'openai' && 'anthropic-version' in headers);
  const apiKey = takes ? headers['x-api-key'] : undefined;
  return apiKey === undefined ? null : readKey(String(apiKey));
};

const readBearer = (value: string): Credential => {
  const space = value.indexOf(' ');
  const scheme = space === -1 ? value : value.slice(0, space);
  const token = space === -1 ? '' : value.slice(space).trim();
  if (scheme !== '' && scheme.toLowerCase() !== 'bearer') throw badKey();
  if (token === '') throw missingKey();
  if (!looksLikeJwt(token)) return readKey(token);
  if (token.length > JWT_CHARACTERS) throw badKey();
  return { kind: 'jwt', token };
};

const readKey = (secret: string): Credential => {
  if (secret === '') throw missingKey();
  if (secretFault(secret) !== null) throw badKey();
  return { kind: 'key', secret };
};
