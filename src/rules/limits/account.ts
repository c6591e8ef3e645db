import { delist, enlist, openLeaseBook, type LeaseBook, type LeaseRecord } from './leases.js';
import { LEASE_TTL_MS, type Funds, type QuotaWindow } from './limiter.js';
import { periodAt } from './period.js';
import { changeLive, DAY, openRing, refund, touch, type Ring } from './sliding-window.js';

/** What an organization has in one space; plain data. */
export interface Account {
  readonly rings: Map<string, Ring>;
  readonly book: LeaseBook;
}

/** What an organization has once, whatever the space; plain data. */
export interface Purse {
  balance: number | null;
  /** What the balance accounts for; null = it was never funded from the records. */
  funds: Funds | null;
  /** By keys that have a budget. */
  readonly spent: Map<string, number>;
  /** Ids of additions, with the time until which they are known. */
  readonly added: Map<string, number>;
  readonly quotas: readonly QuotaBook[];
}

interface QuotaBook {
  period: number;
  used: Map<string, { requests: number; tokens: number }>;
}

const TOMBSTONE_MS = 3_600_000;
const MOST_PRUNED = 500;
const KINDS: readonly QuotaWindow[] = ['daily', 'weekly', 'monthly'];

export const openAccount = (): Account => ({ rings: new Map(), book: openLeaseBook() });

export const openPurse = (): Purse => ({
  balance: null,
  funds: null,
  spent: new Map(),
  added: new Map(),
  quotas: KINDS.map(() => ({ period: -1, used: new Map() })),
});

export const periodOf = (kind: number, nowMs: number) => periodAt(KINDS[kind - 1]!, nowMs);

export const quotaOf = (purse: Purse, kind: number, subject: string, nowMs: number) => {
  const { number, endsMs } = periodOf(kind, nowMs);
  const { period, used } = purse.quotas[kind - 1]!;
  const { requests = 0, tokens = 0 } = (period === number ? used.get(subject) : undefined) ?? {};
  return { number, endsMs, requests, tokens };
};

/** Adds to a quota of the period `number`, or of the present one; an older period is gone, and so is what it held. */
export const countQuota = (
  purse: Purse,
  { kind, subject, number }: { readonly kind: number; readonly subject: string; readonly number?: number },
  nowMs: number,
  requests: number,
  tokens: number,
): void => {
  const book = purse.quotas[kind - 1]!;
  const present = periodOf(kind, nowMs).number;
  if (number !== undefined && (number !== present || number !== book.period)) return;
  if (book.period !== present) {
    book.period = present;
    book.used = new Map();
  }
  const used = book.used.get(subject);
  if (!used) book.used.set(subject, { requests, tokens: Math.max(0, tokens) });
  else {
    used.requests += requests;
    used.tokens = Math.max(0, used.tokens + tokens);
  }
};

/** Charges an organization that has a balance, and a key that has a budget. */
export const charge = (purse: Purse, keyTag: string, credits: number, budgeted: boolean): void => {
  if (purse.balance === null || credits === 0) return;
  purse.balance -= credits;
  if (budgeted) purse.spent.set(keyTag, (purse.spent.get(keyTag) ?? 0) + credits);
};

const changePlaces = ({ rings }: Account, { tags }: LeaseRecord, by: 1 | -1): void => {
  for (const tag of tags) {
    let ring = rings.get(tag);
    if (!ring && by > 0) rings.set(tag, (ring = openRing()));
    if (ring) changeLive(ring, by);
  }
};

/** Ends leases nobody has renewed: charges the progress they reported, frees what they had reserved beyond it. */
export const prune = (account: Account, purse: Purse, org: Ring, nowMs: number): number => {
  const { book } = account;
  if (book.earliestMs > nowMs) return 0;
  let pruned = 0;
  for (const [id, lease] of book.leases) {
    book.earliestMs = lease.expiresMs;
    if (lease.expiresMs > nowMs || pruned === MOST_PRUNED) break;
    delist(book, id, lease);
    changePlaces(account, lease, -1);
    let { paid } = lease;
    let accounted = lease.tokens;
    if (!lease.restored) {
      if (lease.metered) {
        charge(purse, lease.tags.at(-1)!, lease.usedCredits - paid, lease.budgeted);
        paid = lease.usedCredits;
      }
      accounted = Math.min(lease.usedTokens, lease.tokens);
      const back = lease.tokens - accounted;
      if (back > 0) {
        if (refund(org, DAY, lease.dayCell, back)) touch(org, nowMs);
        for (const { kind, subject, period } of lease.quotas)
          countQuota(purse, { kind, subject, number: period }, nowMs, 0, -back);
      }
    }
    book.tombstones.set(id, { deadlineMs: nowMs + TOMBSTONE_MS, tokens: accounted, paid });
    pruned++;
  }
  return pruned;
};

/** Puts a lost lease back among the living. */
export const restoreLease = (account: Account, id: string, lease: LeaseRecord): void => {
  enlist(account.book, id, lease);
  changePlaces(account, lease, 1);
};

/** Leases must not outlive their time by what the clock fell back. */
export const shortenLeases = (book: LeaseBook, nowMs: number): void => {
  for (const lease of book.leases.values()) lease.expiresMs = Math.min(lease.expiresMs, nowMs + LEASE_TTL_MS);
  book.earliestMs = 0;
};
