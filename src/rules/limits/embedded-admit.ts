import { charge, countQuota, openRings, prune, quotaOf, type Account, type Purse } from './account.js';
import { delist, enlist, extend, forget, tombstoneOf } from './leases.js';
import { LEASE_TTL_MS, SETTLED_TTL_MS } from './limiter.js';
import type { AdmitRequest, Progress, RenewReply, SettleRequest } from './limiter.js';
import { count, refund, waitMs, type Ring, type Window } from './sliding-window.js';
import { compileScopes, orNone, QUOTA_KINDS, subjectOf, whole, type Raw } from './wire.js';

/** One organization in one space. */
export interface Place {
  readonly account: Account;
  readonly purse: Purse;
}

const CONCURRENCY_HINT_MS = 1_000;

/** The twin of admit.lua, step by step; its head describes the reply. */
export const admitAt = (
  { account, purse }: Place,
  request: AdmitRequest,
  mode: 'admit' | 'watch' | 'read',
  clockMs: number,
): Raw => {
  const { leaseId, takesLease, scopes } = request;
  const { book } = account;
  const tokens = whole(request.tokens);
  const hold = orNone(request.credits?.hold);
  const budget = orNone(request.credits?.keyBudget);
  const { tags, limits } = compileScopes(scopes);
  const { rings, nowMs, stepped } = openRings(account, tags, clockMs);
  const keyTag = tags.at(-1)!;
  const pruned = prune(account, purse, rings[0]!, nowMs);
  const concurrent = tags.map((tag, i) => (i === 0 ? book.leases.size : (book.counts.get(tag) ?? 0)));
  const quotas = request.quotas.map((quota) => {
    const [kind, subject] = [QUOTA_KINDS[quota.window], subjectOf(quota)];
    return {
      kind,
      subject,
      mostRequests: orNone(quota.requests),
      mostTokens: orNone(quota.tokens),
      ...quotaOf(purse, kind, subject, nowMs),
    };
  });

  const asked = (limit: number): number => (limit > 0 ? Math.min(tokens, limit) : tokens);
  const violated: number[] = [];
  let longestMs = 0;
  const violate = (bucket: number, ms: number): void => {
    violated.push(bucket, ms);
    longestMs = Math.max(longestMs, ms);
  };
  const check = (bucket: number, window: Window, limit: number, of: 'requests' | 'tokens'): void => {
    if (limit < 0 || (of === 'tokens' && tokens === 0)) return;
    const over = window[of] + (of === 'tokens' ? asked(limit) : 1) - limit;
    if (over > 0) violate(bucket, waitMs(window, nowMs, over, of));
  };
  for (const [i, { minute, day }] of rings.entries()) {
    const [rpm, rpd, tpm, tpd, most] = limits[i] as [number, number, number, number, number];
    check(5 * i, minute, rpm, 'requests');
    check(5 * i + 1, day, rpd, 'requests');
    check(5 * i + 2, minute, tpm, 'tokens');
    if (i === 0) check(5 * i + 3, day, tpd, 'tokens');
    if (takesLease && most >= 0 && concurrent[i]! >= most) violate(5 * i + 4, CONCURRENCY_HINT_MS);
  }
  for (const [i, quota] of quotas.entries()) {
    const { requests, mostRequests, mostTokens, endsMs } = quota;
    const base = 5 * scopes.length + 2 * i;
    if (mostRequests >= 0 && requests + 1 > mostRequests) violate(base, endsMs - nowMs);
    if (mostTokens >= 0 && tokens > 0 && quota.tokens + asked(mostTokens) > mostTokens)
      violate(base + 1, endsMs - nowMs);
  }

  const balance = hold >= 0 ? purse.balance : null;
  const spent = balance === null || budget < 0 ? 0 : (purse.spent.get(keyTag) ?? 0);
  const held = (tag: string): number => book.held.get(tag) ?? 0;
  const decide = (): number => {
    if (mode === 'read') return 1;
    if ((book.settled.get(leaseId) ?? 0) > nowMs) return 3;
    if (book.leases.has(leaseId)) return 2;
    if (hold >= 0 && balance === null) return -2;
    if (mode === 'watch') return 1;
    if (violated.length > 0) return 0;
    if (hold < 0) return 1;
    return balance! - held('o') < hold || (budget >= 0 && budget - spent - held(keyTag) < hold) ? -1 : 1;
  };
  const code = decide();

  const countIn = (ring: Ring, tag: string, minuteTokens: number, dayTokens: number): void => {
    count(ring.minute, nowMs, 1, minuteTokens);
    count(ring.day, nowMs, 1, dayTokens);
    ring.seenMs = nowMs;
    account.rings.set(tag, ring);
  };
  const countRequests = (taken: number): void => {
    for (const [i, ring] of rings.entries()) countIn(ring, tags[i]!, taken, i === 0 ? taken : 0);
    for (const quota of quotas) {
      countQuota(purse, { kind: quota.kind, subject: quota.subject }, nowMs, 1, taken);
      quota.requests++;
      quota.tokens += taken;
    }
  };
  if (mode !== 'read' && code === 1) {
    countRequests(tokens);
    if (takesLease) {
      enlist(book, leaseId, {
        expiresMs: nowMs + LEASE_TTL_MS,
        dayCell: rings[0]!.day.next - 1,
        minuteCells: rings.map(({ minute }) => minute.next - 1),
        tokens,
        hold: Math.max(hold, 0),
        usedTokens: 0,
        usedCredits: 0,
        paid: 0,
        metered: hold >= 0,
        budgeted: budget >= 0,
        restored: false,
        tags: tags.slice(1),
        quotas: quotas.map(({ kind, subject, number }) => ({ kind, subject, period: number })),
      });
      for (let i = 0; i < concurrent.length; i++) concurrent[i]!++;
    }
  } else if (code === -1) countRequests(0);
  else if (code === 0 && request.countRefused === 'key') {
    const { minute, day } = rings.at(-1)!;
    const [rpm, rpd] = limits.at(-1) as [number, number];
    if ((rpm < 0 || minute.requests < rpm) && (rpd < 0 || day.requests < rpd)) {
      countIn(rings.at(-1)!, keyTag, 0, 0);
      for (const [window, limit] of [
        [minute, rpm],
        [day, rpd],
      ] as const)
        if (limit >= 0 && window.requests >= limit)
          longestMs = Math.max(longestMs, waitMs(window, nowMs, window.requests + 1 - limit, 'requests'));
    }
  }

  const reply = [code, nowMs, stepped ? 1 : 0, pruned];
  reply.push(balance === null ? 0 : 1, balance ?? 0, held('o'), spent, held(keyTag), longestMs);
  for (const [i, { minute, day }] of rings.entries()) {
    reply.push(minute.requests, minute.tokens, minute.lastMs);
    reply.push(day.requests, day.tokens, day.lastMs, concurrent[i]!);
  }
  for (const { requests, tokens: used, endsMs } of quotas) reply.push(requests, used, endsMs);
  reply.push(...violated);
  return reply;
};

/** The twin of settle.lua. */
export const settleAt = ({ account, purse }: Place, request: SettleRequest, clockMs: number): Raw => {
  const { leaseId: id, scopes } = request;
  const { book } = account;
  const tokens = whole(request.tokens);
  const { tags } = compileScopes(scopes);
  const { rings, nowMs } = openRings(account, tags, clockMs);
  const answer = (code: number, over: number): Raw => {
    const balance = request.credits === null ? null : purse.balance;
    return [code, nowMs, balance === null ? 0 : 1, balance ?? 0, over];
  };
  forget(book, nowMs);
  if ((book.settled.get(id) ?? 0) > nowMs) return answer(2, 0);
  const lease = delist(book, id);
  const tombstone = lease ? undefined : tombstoneOf(book, id, nowMs);
  if (!lease && !tombstone && request.again) return answer(5, 0);
  book.settled.set(id, nowMs + SETTLED_TTL_MS);
  if (tombstone) book.tombstones.delete(id);

  const touch = (ring: Ring, tag: string): void => {
    ring.seenMs = nowMs;
    account.rings.set(tag, ring);
  };
  const known = lease ?? tombstone;
  const over = tokens - (known?.tokens ?? 0);
  if (over > 0) {
    for (const [i, ring] of rings.entries()) {
      count(ring.minute, nowMs, 0, over);
      if (i === 0) count(ring.day, nowMs, 0, over);
      touch(ring, tags[i]!);
    }
    for (const quota of request.quotas)
      countQuota(purse, { kind: QUOTA_KINDS[quota.window], subject: subjectOf(quota) }, nowMs, 0, over);
  } else if (over < 0 && lease) {
    for (const [i, ring] of rings.entries()) {
      const inMinute = refund(ring.minute, lease.minuteCells[i] ?? 0, -over);
      const inDay = i === 0 && refund(ring.day, lease.dayCell, -over);
      if (inMinute || inDay) touch(ring, tags[i]!);
    }
    for (const { kind, subject, period } of lease.quotas)
      countQuota(purse, { kind, subject, number: period }, nowMs, 0, over);
  }
  if (request.credits !== null)
    charge(purse, tags.at(-1)!, whole(request.credits) - (known?.paid ?? 0), request.keyBudgeted ?? false);
  return answer(lease ? 1 : tombstone ? 3 : 4, Math.max(over, 0));
};

/** The twin of renew.lua; sums kept in one process need no recount. */
export const renewAt = (
  { account, purse }: Place,
  leases: readonly Progress[],
  clockMs: number,
): RenewReply => {
  const { book } = account;
  const { rings, nowMs } = openRings(account, ['o'], clockMs);
  const expiresMs = nowMs + LEASE_TTL_MS;
  rings[0]!.seenMs = nowMs; // so that leases stay in order of their expiry
  account.rings.set('o', rings[0]!);
  let missing = 0;
  for (const { leaseId: id, ...given } of leases) {
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
    enlist(book, id, {
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
      tags: compileScopes(given.scopes).tags.slice(1),
      quotas: [],
    });
  }
  return { missing, pruned: prune(account, purse, rings[0]!, nowMs) };
};
