/** Whose limits: one request counts against all of its scopes. */
export type ScopeKind = 'organization' | 'project' | 'key';

/** Most of each; null = no limit. */
export interface Limits {
  readonly rpm: number | null;
  readonly rpd: number | null;
  readonly tpm: number | null;
  /** Acts in the organization only (seed 8.1). */
  readonly tpd: number | null;
  readonly concurrent: number | null;
}

export const noLimits: Limits = { rpm: null, rpd: null, tpm: null, tpd: null, concurrent: null };

export interface Scope {
  readonly kind: ScopeKind;
  readonly id: string;
  readonly limits: Limits;
}

/** A calendar bucket (D24): UTC days, weeks from Monday, months; null = no bound. */
export interface Quota {
  readonly subject: 'user' | 'project';
  readonly id: string;
  readonly window: QuotaWindow;
  readonly requests: number | null;
  readonly tokens: number | null;
}

export type QuotaWindow = 'daily' | 'weekly' | 'monthly';

/** Families keep their counts apart. */
export type Space = 'inference' | 'admin' | 'credits';

/** Where a request counts: the organization's scope first, the key's last. */
export interface Bucket {
  readonly space: Space;
  readonly organizationId: string;
  readonly scopes: readonly Scope[];
  readonly quotas: readonly Quota[];
}

export interface AdmitRequest extends Bucket {
  readonly leaseId: string;
  /** Whether it takes a place among the concurrent ones, to be given back by `settle`. */
  readonly takesLease: boolean;
  readonly tokens: number;
  /** null = the organization is not metered. */
  readonly credits: { readonly hold: number; readonly keyBudget: number | null } | null;
  /** Whether a refused attempt counts in its key, where there is room. */
  readonly countRefused: 'key' | 'none';
  /** false counts and reports, but refuses nothing. */
  readonly enforce: boolean;
}

export type Metric = 'rpm' | 'rpd' | 'tpm' | 'tpd' | 'concurrent' | 'quota_requests' | 'quota_tokens';

/** One counter after the call. */
export interface Reading {
  readonly scope: ScopeKind | 'user';
  readonly id: string;
  readonly metric: Metric;
  readonly window: QuotaWindow | 'minute' | 'day' | null;
  readonly limit: number | null;
  readonly used: number;
  /**
   * Of `used`, what requests under way hold. Tokens are summed for a refusal by tokens and for `read`, up to
   * MOST_SUMMED leases of the organization; null = they were not.
   */
  readonly reserved: number | null;
  /** Until it is back at its full limit if nothing more is sent. */
  readonly resetMs: number;
  /** Until this request would fit; 0 where it does. */
  readonly waitMs: number;
}

export interface CreditReading {
  /** null = no balance is known. */
  readonly balance: number | null;
  /** Less what requests under way hold. */
  readonly available: number;
  /** What the key's budget leaves; null = it has none. */
  readonly keyAvailable: number | null;
}

export type Outcome =
  | 'admitted'
  /** The same lease again, admitted before: its first call acted. */
  | 'repeated'
  /** The lease is over already. */
  | 'settled'
  | 'refused'
  | 'short_of_credits'
  /** Metered, but no balance was ever opened here. */
  | 'no_balance';

export interface AdmitReply {
  readonly outcome: Outcome;
  readonly nowMs: number;
  readonly readings: readonly Reading[];
  /** The violated constraint with the longest wait. */
  readonly binding: Reading | null;
  /** Waiting so long, alone, is enough for every constraint. */
  readonly retryMs: number;
  /** The smallest over the scopes; null = unlimited. */
  readonly concurrencyLeft: number | null;
  readonly credits: CreditReading | null;
  readonly clockStepped: boolean;
  readonly pruned: number;
}

export interface SettleRequest extends Bucket {
  readonly leaseId: string;
  readonly tokens: number;
  /** null = the organization is not metered. */
  readonly credits: number | null;
  /** The key has a budget, so what it spends is kept. */
  readonly keyBudgeted?: boolean;
  /** An earlier try may have acted long ago: charge only what still has a lease or a tombstone. */
  readonly again?: boolean;
  /** It was admitted elsewhere, so long ago: where nothing is known of it, it counts as a request as well. */
  readonly startedAgoMs?: number;
}

export interface SettleReply {
  readonly outcome: 'settled' | 'repeated' | 'late' | 'unknown' | 'ignored';
  readonly nowMs: number;
  readonly balance: number | null;
  /** Tokens beyond the reservation. */
  readonly overdraft: number;
}

/** A lease under way, as its holder knows it. */
export interface Progress extends Bucket {
  readonly leaseId: string;
  readonly tokens: number;
  readonly creditsUsed: number;
  /** null = the organization is not metered. */
  readonly hold: number | null;
}

export interface RenewReply {
  readonly missing: number;
  readonly pruned: number;
}

/**
 * Counts every scope in one step. Each call may be repeated: the lease id makes it act once, also where it was refused.
 */
export interface Limiter {
  admit(request: AdmitRequest): Promise<AdmitReply>;
  /** The readings a request would meet; counts nothing. */
  read(request: Omit<AdmitRequest, 'leaseId'>): Promise<AdmitReply>;
  settle(request: SettleRequest): Promise<SettleReply>;
  /** Keeps leases of one space and organization alive, and puts back those that were lost. */
  renew(leases: readonly Progress[]): Promise<RenewReply>;
  readonly credits: Credits;
  close(): Promise<void>;
}

/** What an organization was given in all, as the records tell it. The limiter takes from it what is spent. */
export interface Funds {
  readonly granted: number;
  /** Another one begins the balance anew at `granted`. */
  readonly epoch: number;
  /** Grows with every change: an older state never replaces a newer one. */
  readonly revision: number;
}

export interface Credits {
  /** null = none was opened. */
  balance(organizationId: string): Promise<number | null>;
  /** Brings the balance up to date with what was granted; may be repeated at will. Answers the balance. */
  fund(organizationId: string, funds: Funds): Promise<number>;
  /** Acts once per id; answers the balance. */
  addCredits(organizationId: string, amount: number, id: string): Promise<number>;
  /** The first balance of an organization; false = it has one. */
  setBalanceIfAbsent(organizationId: string, amount: number): Promise<boolean>;
  setBalance(organizationId: string, amount: number): Promise<void>;
}

/** A lease nobody renews for so long is over. */
export const LEASE_TTL_MS = 30_000;
/** How long a settled lease is remembered as such. */
export const SETTLED_TTL_MS = 120_000;
/** How long an attempt that counted and left no lease is remembered as such. */
export const ANSWERED_TTL_MS = 30_000;
/** More leases than these are not summed to tell what they reserve: a refusal must stay cheap. */
export const MOST_SUMMED = 256;
