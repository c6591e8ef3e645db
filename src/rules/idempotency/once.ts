import { createHmac } from 'node:crypto';
import { GatewayError } from '../../core/errors.js';
import { AlsoRefused, type Also } from '../../io/records/join.js';
import { GLOBAL, type Expect, type Records, type Step } from '../../io/records/records.js';
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
  /** Where the change is committed: GLOBAL, or where it is absent the organization's own partition. */
  readonly partition?: typeof GLOBAL | undefined;
  /** The header as sent. */
  readonly key: string;
  /** Everything that makes two requests the same one. */
  readonly request: unknown;
}

/** What a client was answered. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
  /** Something in it is known only after the commit. */
  readonly provisional?: boolean | undefined;
}

interface Replayed {
  readonly replayed: true;
  readonly answer: Answer;
}

export type Once<T> = { readonly replayed: false; readonly result: T } | Replayed;

/** Puts the whole answer in the place of a provisional one; nothing to do for any other. */
type Settle = (answer: Answer) => Promise<void>;

const COLLECTION = 'idempotency';
const KEEP_MS = 24 * 60 * 60 * 1_000;
/** How long a request that never came to its end holds its key. */
const LEASE_MS = 60_000;
const FIRST_REVISION = 1;

/**
 * Acts once per key (D10): the answer is kept in the very commit of the change, so it is there exactly when the
 * change is. `act` hands `keep` to that commit.
 */
export const once = async <T>(
  { records, pepper }: OnceParts,
  { organizationId, key: sent, request, ...where }: Attempt,
  act: (keep: Also<Answer>, settle: Settle) => Promise<T>,
): Promise<Once<T>> => {
  const key = keyOf(sent);
  const partition = where.partition ?? organizationId;
  const idIn = (place: string): string => (place === GLOBAL ? `${organizationId} ${key}` : key);
  const fingerprint = sign(pepper, canonical(request));
  const claim = `idempotency:${sign(pepper, JSON.stringify([organizationId, key]))}`;
  const put = (value: Omit<Kept, 'fingerprint'>, expect: Expect): Step => ({
    op: 'put',
    collection: COLLECTION,
    id: idIn(partition),
    value: { fingerprint, ...value } satisfies Kept,
    expect,
    ttlMs: KEEP_MS,
  });
  let isProvisional = false;
  const keep = ({ status, body, provisional = false }: Answer): readonly Step[] => {
    isProvisional = provisional;
    return [put({ status, body, ...(provisional && { provisional }) }, 'absent')];
  };
  const settle = async ({ status, body }: Answer): Promise<void> => {
    // The change stands; where this fails, what was committed with it is replayed.
    if (isProvisional)
      await records.commit(partition, [put({ status, body }, FIRST_REVISION)]).catch(() => undefined);
  };
  const replay = async (mayBeProvisional: boolean): Promise<Replayed | null> => {
    // A key is one key wherever its change was committed.
    const stored = await Promise.all(
      [organizationId, GLOBAL].map((place) => records.get(place, COLLECTION, idIn(place))),
    );
    const all = stored.flatMap((one) => (one ? [readKept(one)] : []));
    const kept = all.find((one) => one.fingerprint === fingerprint);
    if (!kept && all.length > 0)
      throw new GatewayError(
        'idempotency_key_reuse',
        'This Idempotency-Key belongs to another request. Use a new one.',
        { param: 'idempotency-key' },
      );
    if (!kept || (kept.provisional && !mayBeProvisional)) return null;
    return { replayed: true, answer: { status: kept.status, body: kept.body } };
  };

  const claimed = await records.claim(claim, LEASE_MS);
  try {
    // Whoever holds the claim knows that nobody is left to make a provisional answer whole.
    const earlier = await replay(claimed);
    if (earlier) return earlier;
    if (!claimed)
      throw new GatewayError(
        'idempotency_key_in_flight',
        'A request with this Idempotency-Key is under way. Try again shortly.',
        { param: 'idempotency-key', retryAfterS: 1, headers: { 'x-should-retry': 'true' } },
      );
    return { replayed: false, result: await act(keep, settle) };
  } catch (error) {
    // Whoever outlived the lease may have been quicker; then the change that stands in the way is this very one.
    const beaten = claimed && (error instanceof AlsoRefused || isConflict(error)) ? await replay(true) : null;
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
