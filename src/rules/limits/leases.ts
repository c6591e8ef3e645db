/** An admitted request under way. Plain data; the twin of the records in leases.lua. */
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
  /** Only a key with a budget has its own sum of credits. */
  readonly budgeted: boolean;
  /** Put back after it was lost: nothing is reserved for it. */
  readonly restored: boolean;
  /** Scopes below the organization, the key last. */
  readonly tags: readonly string[];
  readonly quotas: readonly LeaseQuota[];
}

export interface LeaseQuota {
  readonly kind: number;
  readonly subject: string;
  readonly period: number;
}

/** What a pruned lease has been charged already. */
export interface Tombstone {
  readonly deadlineMs: number;
  readonly tokens: number;
  readonly paid: number;
}

/** An attempt that counted and left no lease: the same again is answered alike, and counts no more. */
export interface Answer {
  readonly deadlineMs: number;
  /** As in admit.lua: 0 refused, -1 short of credits, 2 admitted. */
  readonly code: 0 | -1 | 2;
  /** What refused it, as in admit.lua. */
  readonly bucket: number;
}

/** Live leases, in order of expiry, as all live equally long. How many a scope has stands in its ring. */
export interface LeaseBook {
  readonly leases: Map<string, LeaseRecord>;
  /** No lease expires before. */
  earliestMs: number;
  /** Credits held by all leases, and by those of each key that has a budget. */
  held: number;
  readonly keyHeld: Map<string, number>;
  readonly tombstones: Map<string, Tombstone>;
  /** Lease to the time until which it is known as settled; in order of that time. */
  readonly settled: Map<string, number>;
  readonly answers: Map<string, Answer>;
  forgotMs: number;
}

export const openLeaseBook = (): LeaseBook => ({
  leases: new Map(),
  earliestMs: 0,
  held: 0,
  keyHeld: new Map(),
  tombstones: new Map(),
  settled: new Map(),
  answers: new Map(),
  forgotMs: 0,
});

const changeHeld = (book: LeaseBook, { hold, budgeted, tags }: LeaseRecord, sign: 1 | -1): void => {
  if (hold === 0) return;
  book.held += sign * hold;
  if (!budgeted) return;
  const keyTag = tags.at(-1)!;
  const sum = (book.keyHeld.get(keyTag) ?? 0) + sign * hold;
  if (sum > 0) book.keyHeld.set(keyTag, sum);
  else book.keyHeld.delete(keyTag);
};

export const enlist = (book: LeaseBook, id: string, lease: LeaseRecord): void => {
  if (book.leases.size === 0) book.earliestMs = lease.expiresMs;
  book.leases.set(id, lease);
  changeHeld(book, lease, 1);
};

export const delist = (book: LeaseBook, id: string, lease: LeaseRecord): void => {
  book.leases.delete(id);
  changeHeld(book, lease, -1);
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

export const isSettled = ({ settled }: LeaseBook, id: string, nowMs: number): boolean =>
  (settled.get(id) ?? 0) > nowMs;

export const answerOf = ({ answers }: LeaseBook, id: string, nowMs: number): Answer | undefined => {
  if (answers.size === 0) return undefined;
  const answer = answers.get(id);
  return answer && answer.deadlineMs > nowMs ? answer : undefined;
};

const SPARE_MS = 60_000; // for a clock that falls back a little
const FORGET_EVERY_MS = 1_000;

/** Drops what is past its time, now and then. The maps are in order of it. */
export const forget = (book: LeaseBook, clockMs: number): void => {
  if (Math.abs(clockMs - book.forgotMs) < FORGET_EVERY_MS) return;
  book.forgotMs = clockMs;
  const nowMs = clockMs - SPARE_MS;
  for (const [id, deadlineMs] of book.settled) {
    if (deadlineMs > nowMs) break;
    book.settled.delete(id);
  }
  for (const map of [book.tombstones, book.answers] as const)
    for (const [id, { deadlineMs }] of map) {
      if (deadlineMs > nowMs) break;
      map.delete(id);
    }
};
