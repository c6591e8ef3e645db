import { LRUCache } from 'lru-cache';
import type { AdmitReply, AdmitRequest, Limits, Scope } from './limiter.js';

/** What one replica may let through by itself: its share of every limit. */
export const shareLimits = (limits: Limits, replicas: number): Limits => {
  const share = (limit: number | null): number | null =>
    limit === null || limit === 0 ? limit : Math.max(1, Math.floor(limit / replicas));
  return {
    rpm: share(limits.rpm),
    rpd: share(limits.rpd),
    tpm: share(limits.tpm),
    tpd: share(limits.tpd),
    concurrent: share(limits.concurrent),
  };
};

/** The same of all scopes of a key: made once for the array in which it keeps them. */
export const createScopeShares = (replicas: number): ((scopes: readonly Scope[]) => readonly Scope[]) => {
  const known = new WeakMap<readonly Scope[], readonly Scope[]>();
  return (scopes) => {
    const found = known.get(scopes);
    if (found) return found;
    const shares = scopes.map((scope) => ({ ...scope, limits: shareLimits(scope.limits, replicas) }));
    known.set(scopes, shares);
    return shares;
  };
};

export interface Allowance {
  /** The balance as last seen. */
  readonly balance: number;
  readonly available: number;
  readonly keyAvailable: number | null;
}

const MOST = 10_000;

/** Balances as the shared limiter told them last: what there is to spend while it is away. */
export class Allowances {
  readonly #ofOrganizations = new LRUCache<string, { readonly balance: number; readonly available: number }>({
    max: MOST,
  });
  readonly #ofKeys = new LRUCache<string, number>({ max: MOST });

  learn({ organizationId, scopes }: AdmitRequest, { credits }: AdmitReply): void {
    if (!credits) return;
    const { balance, available, keyAvailable } = credits;
    if (balance === null) return;
    this.#ofOrganizations.set(organizationId, { balance, available });
    if (keyAvailable !== null) this.#ofKeys.set(`${organizationId}\n${scopes.at(-1)!.id}`, keyAvailable);
  }

  /** After a settlement. */
  note(organizationId: string, balance: number): void {
    const known = this.#ofOrganizations.get(organizationId);
    const available = known ? Math.min(known.available, balance) : balance;
    this.#ofOrganizations.set(organizationId, { balance, available });
  }

  balanceOf(organizationId: string): number | null {
    return this.#ofOrganizations.get(organizationId)?.balance ?? null;
  }

  of({ organizationId, scopes }: AdmitRequest): Allowance | null {
    const known = this.#ofOrganizations.get(organizationId);
    return known
      ? { ...known, keyAvailable: this.#ofKeys.get(`${organizationId}\n${scopes.at(-1)!.id}`) ?? null }
      : null;
  }
}
