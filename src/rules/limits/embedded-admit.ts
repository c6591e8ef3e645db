import { countQuota, prune, quotaOf } from './account.js';
import { answerOf, enlist, isSettled, type Answer, type LeaseQuota } from './leases.js';
import { ANSWERED_TTL_MS, LEASE_TTL_MS, MOST_SUMMED, type AdmitRequest } from './limiter.js';
import { enter, keep, type Seat } from './seat.js';
import { Sheet } from './sheet.js';
import {
  changeLive,
  count,
  DAY,
  holdsCell,
  lastMs,
  live,
  MINUTE,
  newestCell,
  requestsIn,
  requestWaitMs,
  tokensIn,
  tokenWaitMs,
} from './sliding-window.js';
import { orNone, QUOTA_KINDS, subjectOf, whole } from './wire.js';

export type Mode = 'admit' | 'watch' | 'read';

interface QuotaState extends LeaseQuota {
  readonly mostRequests: number;
  readonly mostTokens: number;
  readonly endsMs: number;
  requests: number;
  tokens: number;
}

const CONCURRENCY_HINT_MS = 1_000;
const NO_QUOTAS: readonly QuotaState[] = [];

const sheet = new Sheet();

/** The twin of admit.lua, step by step; its head describes the reply, which holds until the next call. */
export const admitAt = (seat: Seat, request: AdmitRequest, mode: Mode, clockMs: number): Sheet => {
  enter(seat, clockMs);
  const { account, purse, rings, nowMs } = seat;
  const { book } = account;
  const { leaseId } = request;
  const tokens = whole(request.tokens);
  const hold = orNone(request.credits?.hold);
  const budget = orNone(request.credits?.keyBudget);
  const pruned = prune(account, purse, rings[0]!, nowMs);
  const quotas = request.quotas.length === 0 ? NO_QUOTAS : quotasAt(seat, request);
  sheet.clear();
  checkScopes(seat, tokens, request.takesLease);
  checkQuotas(quotas, tokens, 5 * rings.length, nowMs);

  const keyTag = seat.compiled.tags[rings.length - 1]!;
  const balance = hold >= 0 ? purse.balance : null;
  const spent = balance === null || budget < 0 ? 0 : (purse.spent.get(keyTag) ?? 0);
  const keyHeld = (): number => (book.keyHeld.size === 0 ? 0 : (book.keyHeld.get(keyTag) ?? 0));
  const isShort =
    balance !== null && (balance - book.held < hold || (budget >= 0 && budget - spent - keyHeld() < hold));

  const answer = mode === 'read' ? undefined : answerOf(book, leaseId, nowMs);
  let code = 1;
  if (mode === 'read') code = 1;
  else if (isSettled(book, leaseId, nowMs)) code = 3;
  else if (answer) code = answer.code;
  else if (book.leases.has(leaseId)) code = 2;
  else if (hold >= 0 && balance === null) code = -2;
  else if (mode === 'watch') code = 1;
  else if (sheet.violated.length > 0) code = 0;
  else if (isShort) code = -1;

  if (code === 1 && mode !== 'read') {
    countRequest(seat, quotas, tokens);
    if (request.takesLease) giveLease(seat, leaseId, tokens, hold, budget >= 0, quotas);
    else remember(seat, leaseId, 2, 0);
  } else if (code === -1) {
    if (answer) sheet.forgive();
    else {
      countRequest(seat, quotas, 0);
      remember(seat, leaseId, -1, 0);
    }
  } else if (code === 0) {
    if (answer && sheet.violated.length === 0) sheet.violate(answer.bucket, 1);
    if (!answer && request.countRefused === 'key' && countRefused(seat))
      remember(seat, leaseId, 0, sheet.binding);
  }

  sheet.add(code);
  sheet.add(nowMs);
  sheet.add(seat.hasStepped ? 1 : 0);
  sheet.add(pruned);
  sheet.add(balance === null ? 0 : 1);
  sheet.add(balance ?? 0);
  sheet.add(book.held);
  sheet.add(spent);
  sheet.add(keyHeld());
  sheet.add(sheet.longestMs);
  const isSummed =
    (mode === 'read' || (code === 0 && violatesTokens(rings.length))) && book.leases.size <= MOST_SUMMED;
  sheet.add(isSummed ? 1 : 0);
  addCounters(seat, quotas);
  if (isSummed) addReserved(seat, quotas);
  for (let i = 0; i < sheet.violated.length; i++) sheet.add(sheet.violated[i]!);
  return sheet;
};

const quotasAt = ({ purse, nowMs }: Seat, request: AdmitRequest): readonly QuotaState[] =>
  request.quotas.map((quota) => {
    const [kind, subject] = [QUOTA_KINDS[quota.window], subjectOf(quota)];
    const { number, ...used } = quotaOf(purse, kind, subject, nowMs);
    const [mostRequests, mostTokens] = [orNone(quota.requests), orNone(quota.tokens)];
    return { kind, subject, period: number, mostRequests, mostTokens, ...used };
  });

const checkScopes = (seat: Seat, tokens: number, takesLease: boolean): void => {
  const { rings, nowMs, account } = seat;
  const { limits } = seat.compiled;
  for (let i = 0; i < rings.length; i++) {
    const ring = rings[i]!;
    const at = 5 * i;
    sheet.violate(at, requestWaitMs(ring, MINUTE, limits[at]!, nowMs));
    sheet.violate(at + 1, requestWaitMs(ring, DAY, limits[at + 1]!, nowMs));
    sheet.violate(at + 2, tokenWaitMs(ring, MINUTE, limits[at + 2]!, tokens, nowMs));
    if (i === 0) sheet.violate(at + 3, tokenWaitMs(ring, DAY, limits[at + 3]!, tokens, nowMs));
    const most = limits[at + 4]!;
    const underWay = i === 0 ? account.book.leases.size : live(ring);
    if (takesLease && most >= 0 && underWay >= most) sheet.violate(at + 4, CONCURRENCY_HINT_MS);
  }
};

const checkQuotas = (quotas: readonly QuotaState[], tokens: number, from: number, nowMs: number): void => {
  for (let i = 0; i < quotas.length; i++) {
    const { requests, mostRequests, tokens: used, mostTokens, endsMs } = quotas[i]!;
    const bucket = from + 2 * i;
    if (mostRequests >= 0 && requests + 1 > mostRequests) sheet.violate(bucket, endsMs - nowMs);
    const asked = mostTokens > 0 ? Math.min(tokens, mostTokens) : tokens;
    if (mostTokens >= 0 && tokens > 0 && used + asked > mostTokens) sheet.violate(bucket + 1, endsMs - nowMs);
  }
};

const countRequest = (seat: Seat, quotas: readonly QuotaState[], tokens: number): void => {
  const { rings, purse, nowMs } = seat;
  for (let i = 0; i < rings.length; i++) {
    count(rings[i]!, MINUTE, nowMs, 1, tokens);
    count(rings[i]!, DAY, nowMs, 1, i === 0 ? tokens : 0);
    keep(seat, i);
  }
  for (const quota of quotas) {
    countQuota(purse, { kind: quota.kind, subject: quota.subject }, nowMs, 1, tokens);
    quota.requests++;
    quota.tokens += tokens;
  }
};

const giveLease = (
  { account, rings, compiled, nowMs }: Seat,
  id: string,
  tokens: number,
  hold: number,
  budgeted: boolean,
  quotas: readonly LeaseQuota[],
): void => {
  const org = rings[0]!;
  enlist(account.book, id, {
    expiresMs: nowMs + LEASE_TTL_MS,
    dayCell: newestCell(org, DAY),
    minuteCells:
      rings.length === 2
        ? [newestCell(org, MINUTE), newestCell(rings[1]!, MINUTE)]
        : [newestCell(org, MINUTE), newestCell(rings[1]!, MINUTE), newestCell(rings[2]!, MINUTE)],
    tokens,
    hold: Math.max(hold, 0),
    usedTokens: 0,
    usedCredits: 0,
    paid: 0,
    metered: hold >= 0,
    budgeted,
    restored: false,
    tags: compiled.below,
    quotas:
      quotas.length === 0
        ? NO_QUOTAS
        : quotas.map(({ kind, subject, period }) => ({ kind, subject, period })),
  });
  for (let i = 1; i < rings.length; i++) changeLive(rings[i]!, 1);
};

/** Where the key has room, and never above its limit; then the wait must hold for the key as it is now. */
const countRefused = (seat: Seat): boolean => {
  const { rings, compiled, nowMs } = seat;
  const i = rings.length - 1;
  const key = rings[i]!;
  const [rpm, rpd] = [compiled.limits[5 * i]!, compiled.limits[5 * i + 1]!];
  if (requestWaitMs(key, MINUTE, rpm, nowMs) > 0 || requestWaitMs(key, DAY, rpd, nowMs) > 0) return false;
  count(key, MINUTE, nowMs, 1, 0);
  count(key, DAY, nowMs, 1, 0);
  keep(seat, i);
  const waitMs = Math.max(requestWaitMs(key, MINUTE, rpm, nowMs), requestWaitMs(key, DAY, rpd, nowMs));
  sheet.longestMs = Math.max(sheet.longestMs, waitMs);
  return true;
};

const remember = ({ account, nowMs }: Seat, id: string, code: Answer['code'], bucket: number): void => {
  account.book.answers.set(id, { deadlineMs: nowMs + ANSWERED_TTL_MS, code, bucket });
};

const violatesTokens = (scopes: number): boolean => {
  for (let i = 0; i < sheet.violated.length; i += 2) {
    const bucket = sheet.violated[i]!;
    const metric = bucket < 5 * scopes ? bucket % 5 : 2 * ((bucket - 5 * scopes) % 2);
    if (metric === 2 || metric === 3) return true;
  }
  return false;
};

const addCounters = ({ rings, account }: Seat, quotas: readonly QuotaState[]): void => {
  for (let i = 0; i < rings.length; i++) {
    const ring = rings[i]!;
    sheet.add(requestsIn(ring, MINUTE));
    sheet.add(tokensIn(ring, MINUTE));
    sheet.add(lastMs(ring, MINUTE));
    sheet.add(requestsIn(ring, DAY));
    sheet.add(tokensIn(ring, DAY));
    sheet.add(lastMs(ring, DAY));
    sheet.add(i === 0 ? account.book.leases.size : live(ring));
  }
  for (const { requests, tokens, endsMs } of quotas) {
    sheet.add(requests);
    sheet.add(tokens);
    sheet.add(endsMs);
  }
};

/** What live leases have reserved in the windows as they are now. */
const addReserved = ({ rings, compiled, account }: Seat, quotas: readonly QuotaState[]): void => {
  const { tags } = compiled;
  const from = sheet.length;
  for (let i = 0; i < 2 * tags.length + quotas.length; i++) sheet.add(0);
  const { numbers } = sheet;
  for (const lease of account.book.leases.values()) {
    if (holdsCell(rings[0]!, DAY, lease.dayCell)) numbers[from + 1]! += lease.tokens;
    for (let i = 0; i < tags.length; i++) {
      const at = i === 0 ? 0 : lease.tags.indexOf(tags[i]!) + 1;
      const isThere = (i === 0 || at > 0) && holdsCell(rings[i]!, MINUTE, lease.minuteCells[at] ?? 0);
      if (isThere) numbers[from + 2 * i]! += lease.tokens;
    }
    for (const [i, quota] of quotas.entries())
      if (lease.quotas.some((each) => isSame(each, quota)))
        numbers[from + 2 * tags.length + i]! += lease.tokens;
  }
};

const isSame = (one: LeaseQuota, other: LeaseQuota): boolean =>
  one.kind === other.kind && one.subject === other.subject && one.period === other.period;
