/** An admitted request under way. Plain data; the twin of the records in ring.lua. */
export interface LeaseRecord {
  expiresMs: number;
  /** Sequence numbers of the cells its tokens lie in: the organization's day, the minute of each scope; 0 = none. */
  readonly dayCell: number;
  readonly minuteCells: readonly number[];
  readonly tokens: number;
  readonly hold: number;
  usedTokens: number;
  usedCredits: number;
  readonly paid: number;
  readonly metered: boolean;
  /** Only a key with a budget has its own sums of credits. */
  readonly budgeted: boolean;
  /** Put back after it was lost: nothing is reserved for it. */
  readonly restored: boolean;
  /** Scopes below the organization, the key last. */
  readonly tags: readonly string[];
  readonly quotas: readonly { readonly kind: number; readonly period: number; readonly subject: string }[];
}

/** What a pruned lease has been charged already. */
export interface Tombstone {
  readonly deadlineMs: number;
  readonly tokens: number;
  readonly paid: number;
}

/** Live leases and the sums over them, which only `enlist` and `delist` touch. In order of expiry, as all live equally long. */
export interface LeaseBook {
  readonly leases: Map<string, LeaseRecord>;
  readonly counts: Map<string, number>;
  readonly held: Map<string, number>;
  readonly tombstones: Map<string, Tombstone>;
  /** Lease to the time until which it is known as settled; in order of that time. */
  readonly settled: Map<string, number>;
}

export const openLeaseBook = (): LeaseBook => ({
  leases: new Map(),
  counts: new Map(),
  held: new Map(),
  tombstones: new Map(),
  settled: new Map(),
});

const change = (sums: Map<string, number>, name: string, by: number): void => {
  if (by === 0) return;
  const sum = (sums.get(name) ?? 0) + by;
  if (sum > 0) sums.set(name, sum);
  else sums.delete(name);
};

const sign = (book: LeaseBook, { tags, hold, budgeted }: LeaseRecord, by: 1 | -1): void => {
  for (const tag of tags) change(book.counts, tag, by);
  if (hold === 0) return;
  change(book.held, 'o', by * hold);
  if (budgeted) change(book.held, tags.at(-1)!, by * hold);
};

export const enlist = (book: LeaseBook, id: string, lease: LeaseRecord): void => {
  book.leases.set(id, lease);
  sign(book, lease, 1);
};

export const delist = (book: LeaseBook, id: string): LeaseRecord | undefined => {
  const lease = book.leases.get(id);
  if (!lease) return undefined;
  book.leases.delete(id);
  sign(book, lease, -1);
  return lease;
};

/** To the end of the order. */
export const extend = (book: LeaseBook, id: string, lease: LeaseRecord, expiresMs: number): void => {
  lease.expiresMs = expiresMs;
  book.leases.delete(id);
  book.leases.set(id, lease);
};

export const tombstoneOf = (book: LeaseBook, id: string, nowMs: number): Tombstone | undefined => {
  const tombstone = book.tombstones.get(id);
  return tombstone && tombstone.deadlineMs > nowMs ? tombstone : undefined;
};

const SPARE_MS = 60_000; // for a clock that falls back a little

/** Drops what is past its time. Both maps are in order of it. */
export const forget = (book: LeaseBook, clockMs: number): void => {
  const nowMs = clockMs - SPARE_MS;
  for (const [id, deadlineMs] of book.settled) {
    if (deadlineMs > nowMs) break;
    book.settled.delete(id);
  }
  for (const [id, { deadlineMs }] of book.tombstones) {
    if (deadlineMs > nowMs) break;
    book.tombstones.delete(id);
  }
};
