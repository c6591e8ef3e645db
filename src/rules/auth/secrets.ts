import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

export type KeyKind = 'admin' | 'project';

const PREFIXES: Readonly<Record<KeyKind, string>> = { admin: 'sk-sl-admin-', project: 'sk-sl-' };
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_BYTES = 32;
const RANDOM_DIGITS = 43; // 62^43 > 256^32
const CHECK_DIGITS = 6; // 62^6 > 2^32

const mintedShape = new RegExp(`^sk-sl-(?:admin-)?[0-9A-Za-z]{${RANDOM_DIGITS + CHECK_DIGITS}}$`);
const givenShape = /^[\x21-\x7e]{20,512}$/;

/** A number in base 62, padded to a fixed width. */
export const encodeBase62 = (number: bigint, width: number): string => {
  let text = '';
  for (let rest = number; text.length < width; rest /= 62n) text = DIGITS[Number(rest % 62n)]! + text;
  return text;
};

const checksumOf = (head: string): string => encodeBase62(BigInt(crc32(head)), CHECK_DIGITS);

/** A new secret: prefix, 32 random bytes, and a checksum that lets scanners and the shape check reject typos. */
export const mintSecret = (kind: KeyKind): string => {
  const random = BigInt(`0x${randomBytes(RANDOM_BYTES).toString('hex')}`);
  const head = PREFIXES[kind] + encodeBase62(random, RANDOM_DIGITS);
  return head + checksumOf(head);
};

/** A bearer of three dot-separated parts is a JWT, anything else a key (D33). */
export const looksLikeJwt = (token: string): boolean => token.split('.', 4).length === 3;

/** Why a text can never be the secret of a key; null when it can. Operators may give any secret of their own (D47). */
export const secretFault = (text: string): string | null => {
  if (!givenShape.test(text)) return 'must be 20 to 512 visible ASCII characters';
  if (looksLikeJwt(text)) return 'must not have three dot-separated parts, which read as a JWT';
  if (mintedShape.test(text) && checksumOf(text.slice(0, -CHECK_DIGITS)) !== text.slice(-CHECK_DIGITS))
    return 'looks like a generated key but its checksum is wrong: a typing error?';
  return null;
};

/** What is stored of a secret, and what it is found by. */
export const digestOf = (pepper: Buffer, secret: string): string =>
  createHmac('sha256', pepper).update(secret).digest('hex');

export const sameDigest = (a: string, b: string): boolean => {
  const left = Buffer.from(a, 'hex');
  const right = Buffer.from(b, 'hex');
  return left.length === right.length && timingSafeEqual(left, right);
};

export const redact = (secret: string): string => `${secret.slice(0, 8)}...${secret.slice(-4)}`;
