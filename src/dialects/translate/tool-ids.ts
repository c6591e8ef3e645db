import { createHash } from 'node:crypto';

const UNSAFE = /[^A-Za-z0-9_-]/g;
const HASH_DIGITS = 12;

/** Ids as the upstream accepts them. The same id always becomes the same: calls and results stay together, and cached prefixes stay equal. */
export const safeIds =
  (mostLength: number) =>
  (id: string): string => {
    const plain = id.replace(UNSAFE, '_');
    if (plain === id && id !== '' && id.length <= mostLength) return id;
    const hash = createHash('sha256').update(id).digest('hex').slice(0, HASH_DIGITS);
    return `${plain.slice(0, mostLength - HASH_DIGITS - 1)}_${hash}`;
  };
