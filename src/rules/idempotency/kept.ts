import * as v from 'valibot';
import { GatewayError } from '../../core/errors.js';
import type { Stored } from '../../io/records/records.js';

/** What is kept of an answered request. */
const Kept = v.object({
  fingerprint: v.string(),
  status: v.number(),
  body: v.unknown(),
  /** The answer was not whole when the change was committed; the whole one follows, or never came. */
  provisional: v.optional(v.boolean()),
});
export type Kept = v.InferOutput<typeof Kept>;

export const readKept = (stored: Stored): Kept => v.parse(Kept, stored.value);

const BARE = /^[\x21-\x7e]{1,255}$/;
/** A string as structured headers spell it; `"a"` and `a` are one key. */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\]){1,255})"$/;

/** The key as it is kept, from the header as it was sent. */
export const keyOf = (header: string): string => {
  const quoted = QUOTED.exec(header)?.[1];
  if (quoted !== undefined) return quoted.replace(/\\(.)/g, '$1');
  if (BARE.test(header)) return header;
  throw new GatewayError('invalid_header', 'idempotency-key: must have 1 to 255 visible ASCII characters.', {
    param: 'idempotency-key',
  });
};
