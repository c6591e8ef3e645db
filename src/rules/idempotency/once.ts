import { createHmac } from 'node:crypto';
import { GatewayError } from '../../core/errors.js';
import { AlsoRefused, type Also } from '../../io/records/join.js';
import type { Records, Step } from '../../io/records/records.js';
import { keyOf, readKept, type Kept } from './kept.js';

export interface OnceParts {
  readonly records: Records;
  /** Keys the fingerprints: bodies may hold secrets. */
  readonly pepper: Buffer;
}

/** One request that may be sent again. */
export interface Attempt {
  /** Whose key it is. */
  readonly organizationId: string;
  /** Where the change is committed; absent = in the organization's own partition. */
  readonly partition?: string | undefined;
  /** The header as sent. */
  readonly key: string;
  /** Everything that makes two requests the same one. */
  readonly request: unknown;
}

/** What a client was answered. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

export type Once<T> =
  { readonly replayed: false; readonly result: T } | { readonly replayed: true; readonly answer: Answer };

const COLLECTION = 'idempotency';
const KEEP_MS = 24 * 60 * 60 * 1_000;
/** How long a request that never came to its end holds its key. */
const LEASE_MS = 60_000;

/**
 * Acts once per key (D10): the answer is kept in the very commit of the change, so it is there exactly when the
 * change is. `act` hands `keep` to that commit.
 */
export const once = async <T>(
  { records, pepper }: OnceParts,
  { organizationId, partition = organizationId, key: sent, request }: Attempt,
  act: (keep: Also<Answer>) => Promise<T>,
): Promise<Once<T>> => {
  const key = keyOf(sent);
  const id = partition === organizationId ? key : `${organizationId} ${key}`;
  const fingerprint = sign(pepper, canonical(request));
  const claim = `idempotency:${sign(pepper, JSON.stringify([organizationId, key]))}`;
  const keep = ({ status, body }: Answer): readonly Step[] => [
    {
      op: 'put',
      collection: COLLECTION,
      id,
      value: { fingerprint, status, body } satisfies Kept,
      expect: 'absent',
      ttlMs: KEEP_MS,
    },
  ];
  const replay = async (): Promise<Extract<Once<T>, { replayed: true }> | null> => {
    const stored = await records.get(partition, COLLECTION, id);
    if (!stored) return null;
    const kept = readKept(stored);
    if (kept.fingerprint !== fingerprint)
      throw new GatewayError(
        'idempotency_key_reuse',
        'This Idempotency-Key belongs to another request. Use a new one.',
        { param: 'idempotency-key' },
      );
    return { replayed: true, answer: { status: kept.status, body: kept.body } };
  };

  const claimed = await records.claim(claim, LEASE_MS);
  try {
    const earlier = await replay();
    if (earlier) return earlier;
    if (!claimed)
      throw new GatewayError(
        'idempotency_key_in_flight',
        'A request with this Idempotency-Key is under way. Try again shortly.',
        { param: 'idempotency-key', retryAfterS: 1, headers: { 'x-should-retry': 'true' } },
      );
    return { replayed: false, result: await act(keep) };
  } catch (error) {
    // Whoever outlived the lease may have been quicker; then the change that stands in the way is this very one.
    const beaten = claimed && (error instanceof AlsoRefused || isConflict(error)) ? await replay() : null;
    if (beaten) return beaten;
    throw error;
  } finally {
    // A claim that cannot be given back runs out by itself.
    if (claimed) await records.unclaim(claim).catch(() => undefined);
  }
};

const isConflict = (error: unknown): boolean =>
  error instanceof GatewayError &&
  (error.status === 404 || error.status === 409) &&
  error.code !== 'idempotency_key_reuse';

const sign = (pepper: Buffer, text: string): string =>
  createHmac('sha256', pepper).update('idempotency\n').update(text).digest('base64url');

/** JSON in which the order of keys does not matter. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
