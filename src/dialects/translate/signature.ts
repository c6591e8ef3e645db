import type { DialectName } from '../dialect.js';
import type { Signature } from './neutral-request.js';

const TAG = /^sluice\.(messages|chat|responses)\.(.*)$/s;

/** Proof of reasoning shown to a client of another format, so that its issuer is known when it comes back. */
export const tagSignature = (issuer: DialectName, value: string): string => `sluice.${issuer}.${value}`;

/** Reads what a client sent back. Without a tag it was made by a provider of the client's own format. */
export const readSignature = (text: string | undefined, format: DialectName): Signature | null => {
  if (text === undefined || text === '') return null;
  const [, issuer, value] = TAG.exec(text) ?? [];
  if (issuer === undefined) return { issuer: format, value: text };
  return value ? { issuer: issuer as DialectName, value } : null;
};
