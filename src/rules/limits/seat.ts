import { shortenLeases, type Account, type Purse } from './account.js';
import type { Bucket, Space } from './limiter.js';
import { clear, DAY, evict, MINUTE, openRing, seenMs, touch, type Ring } from './sliding-window.js';
import { compileScopes, type Compiled } from './wire.js';

/** Where the calls of one key act: all that they touch, found once and kept with its scopes. */
export interface Seat {
  readonly space: Space;
  readonly organizationId: string;
  readonly compiled: Compiled;
  readonly account: Account;
  readonly purse: Purse;
  readonly rings: Ring[];
  /** Whether all its rings are the account's; those of a key that never counted are not. */
  isWhole: boolean;
  /** The time the call takes place at, and whether the clock fell back too far to be believed. */
  nowMs: number;
  hasStepped: boolean;
}

const STEP_MS = 5_000;

export const takeSeat = (
  { space, organizationId, scopes }: Bucket,
  account: Account,
  purse: Purse,
): Seat => ({
  space,
  organizationId,
  compiled: compileScopes(scopes),
  account,
  purse,
  rings: [],
  isWhole: false,
  nowMs: 0,
  hasStepped: false,
});

/** Finds the rings, settles what time it is, lets out what has left the windows of the first `amount` rings. */
export const enter = (seat: Seat, clockMs: number, amount = seat.compiled.tags.length): void => {
  if (!seat.isWhole) findRings(seat);
  const { rings } = seat;
  const lastMs = seenMs(rings[0]!);
  seat.hasStepped = lastMs - clockMs > STEP_MS;
  const nowMs = seat.hasStepped ? clockMs : Math.max(clockMs, lastMs);
  seat.nowMs = nowMs;
  if (seat.hasStepped) shortenLeases(seat.account.book, nowMs);
  for (let i = 0; i < amount; i++) {
    const ring = rings[i]!;
    if (seenMs(ring) > nowMs + STEP_MS) {
      clear(ring, MINUTE);
      touch(ring, nowMs);
    }
    const inMinute = evict(ring, MINUTE, nowMs);
    const inDay = evict(ring, DAY, nowMs);
    if (inMinute || inDay) touch(ring, nowMs);
  }
};

const findRings = (seat: Seat): void => {
  const { tags } = seat.compiled;
  seat.isWhole = true;
  for (let i = 0; i < tags.length; i++) {
    const ring = seat.account.rings.get(tags[i]!);
    seat.rings[i] = ring ?? openRing();
    if (!ring) seat.isWhole = false;
  }
};

/** Something was counted there: the ring is the account's from now on. */
export const keep = (seat: Seat, i: number): void => {
  const ring = seat.rings[i]!;
  touch(ring, seat.nowMs);
  if (!seat.isWhole) seat.account.rings.set(seat.compiled.tags[i]!, ring);
};
