import { charge, countQuota, periodOf, prune, restoreLease, type Purse } from './account.js';
import { answerOf, delist, extend, forget, isSettled, tombstoneOf, type Answer } from './leases.js';
import {
  LEASE_TTL_MS,
  SETTLED_TTL_MS,
  type Progress,
  type RenewReply,
  type SettleReply,
  type SettleRequest,
} from './limiter.js';
import { enter, keep, type Seat } from './seat.js';
import { changeLive, count, countPast, DAY, MINUTE, refund } from './sliding-window.js';
import { compileScopes, QUOTA_KINDS, subjectOf, whole } from './wire.js';

/** The twin of settle.lua. */
export const settleAt = (seat: Seat, request: SettleRequest, clockMs: number): SettleReply => {
  enter(seat, clockMs);
  const { account, purse, nowMs } = seat;
  const { book } = account;
  const { leaseId: id } = request;
  const tokens = whole(request.tokens);
  forget(book, nowMs);
  if (isSettled(book, id, nowMs)) return replyOf('repeated', seat, request, 0);
  const lease = book.leases.get(id);
  const tombstone = lease ? undefined : tombstoneOf(book, id, nowMs);
  const known = lease ?? tombstone;
  if (!known && request.again) return replyOf('ignored', seat, request, 0);
  book.settled.set(id, nowMs + SETTLED_TTL_MS);
  const answer = answerOf(book, id, nowMs);
  if (answer) book.answers.delete(id);
  if (lease) {
    delist(book, id, lease);
    for (let i = 1; i < seat.rings.length; i++) changeLive(seat.rings[i]!, -1);
  } else if (tombstone) book.tombstones.delete(id);

  const over = tokens - (known?.tokens ?? 0);
  if (!known && request.startedAgoMs !== undefined) countElsewhere(seat, request, over, answer);
  else if (over > 0) countOver(seat, request, over);
  else if (over < 0 && lease) {
    for (let i = 0; i < seat.rings.length; i++) {
      const ring = seat.rings[i]!;
      const inMinute = refund(ring, MINUTE, lease.minuteCells[i] ?? 0, -over);
      const inDay = i === 0 && refund(ring, DAY, lease.dayCell, -over);
      if (inMinute || inDay) keep(seat, i);
    }
    for (const { kind, subject, period } of lease.quotas)
      countQuota(purse, { kind, subject, number: period }, nowMs, 0, over);
  }
  if (request.credits !== null) {
    const keyTag = seat.compiled.tags.at(-1)!;
    charge(purse, keyTag, whole(request.credits) - (known?.paid ?? 0), request.keyBudgeted ?? false);
  }
  return replyOf(lease ? 'settled' : tombstone ? 'late' : 'unknown', seat, request, Math.max(over, 0));
};

const replyOf = (
  outcome: SettleReply['outcome'],
  { nowMs, purse }: { readonly nowMs: number; readonly purse: Purse },
  { credits }: SettleRequest,
  overdraft: number,
): SettleReply => ({ outcome, nowMs, balance: credits === null ? null : purse.balance, overdraft });

const countOver = (seat: Seat, { quotas }: SettleRequest, over: number): void => {
  const { rings, purse, nowMs } = seat;
  for (let i = 0; i < rings.length; i++) {
    count(rings[i]!, MINUTE, nowMs, 0, over);
    if (i === 0) count(rings[i]!, DAY, nowMs, 0, over);
    keep(seat, i);
  }
  for (const quota of quotas)
    countQuota(purse, { kind: QUOTA_KINDS[quota.window], subject: subjectOf(quota) }, nowMs, 0, over);
};

/**
 * A request that was admitted without this limiter: counted where it belongs in time. An attempt that was refused here
 * has counted in its key, one without credits everywhere.
 */
const countElsewhere = (seat: Seat, request: SettleRequest, tokens: number, answer?: Answer): void => {
  const { rings, purse, nowMs } = seat;
  const startMs = nowMs - whole(request.startedAgoMs ?? 0);
  const unseen = !answer || answer.code === 0 ? 1 : 0;
  for (let i = 0; i < rings.length; i++) {
    const requests = answer && i === rings.length - 1 ? 0 : unseen;
    const inMinute = countPast(rings[i]!, MINUTE, startMs, nowMs, requests, tokens);
    const inDay = countPast(rings[i]!, DAY, startMs, nowMs, requests, i === 0 ? tokens : 0);
    if (inMinute || inDay) keep(seat, i);
  }
  for (const quota of request.quotas) {
    const kind = QUOTA_KINDS[quota.window];
    if (periodOf(kind, startMs).number === periodOf(kind, nowMs).number)
      countQuota(purse, { kind, subject: subjectOf(quota) }, nowMs, unseen, tokens);
  }
};

/** The twin of renew.lua; sums kept in one process need no recount. */
export const renewAt = (seat: Seat, leases: readonly Progress[], clockMs: number): RenewReply => {
  enter(seat, clockMs, 1);
  const { account, purse, nowMs, rings } = seat;
  const { book } = account;
  const expiresMs = nowMs + LEASE_TTL_MS;
  keep(seat, 0); // so that leases stay in order of their expiry
  let missing = 0;
  for (const given of leases) {
    const id = given.leaseId;
    const [usedTokens, usedCredits] = [whole(given.tokens), whole(given.creditsUsed)];
    const lease = book.leases.get(id);
    if (lease) {
      lease.usedTokens = usedTokens;
      lease.usedCredits = usedCredits;
      extend(book, id, lease, expiresMs);
      continue;
    }
    missing++;
    const tombstone = tombstoneOf(book, id, nowMs);
    if (tombstone) book.tombstones.delete(id);
    restoreLease(account, id, {
      expiresMs,
      dayCell: 0,
      minuteCells: [],
      tokens: tombstone?.tokens ?? 0,
      hold: whole(given.hold ?? 0),
      usedTokens,
      usedCredits,
      paid: tombstone?.paid ?? 0,
      metered: given.hold !== null,
      budgeted: false,
      restored: true,
      tags: compileScopes(given.scopes).below,
      quotas: [],
    });
  }
  return { missing, pruned: prune(account, purse, rings[0]!, nowMs) };
};
