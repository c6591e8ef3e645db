import { createHmac } from 'node:crypto';
import type { Clock } from '../../core/clock.js';
import { GatewayError, missingKey, storeUnavailable } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import type { Organization, Principal } from '../../core/principal.js';
import { readRecord } from '../../io/records/read-record.js';
import { GLOBAL, StoreUnavailable, type Records } from '../../io/records/records.js';
import { FREE_REQUEST_DAYS, FreeRequestDay } from './layout.js';
import { ANONYMOUS_ORGANIZATION } from './organizations.js';

const DAY_MS = 86_400_000;
const REMEMBER_MS = 30 * DAY_MS;
const PATIENCE = 20;

export interface FreeRequestOptions {
  readonly model: string;
  readonly maxTokens: number;
  /** Most anonymous requests of one UTC day, over all addresses; null = no bound. */
  readonly dailyCap: number | null;
  /** The network that counts as one client: an IPv4 address, an IPv6 /64. */
  readonly subnetOf: (clientAddress: string) => string;
}

export interface FreeRequestParts {
  readonly records: Records;
  readonly pepper: Buffer;
  readonly clock: Clock;
  readonly log: Log;
}

/** The one anonymous request of an address (D34). */
export interface FreeRequests {
  take(clientAddress: string): Promise<Principal>;
  /** For a request that never reached an upstream. Acts once, never rejects; other principals are left alone. */
  giveBack(principal: Principal): Promise<void>;
}

export const anonymousOrganization: Organization = {
  id: ANONYMOUS_ORGANIZATION,
  name: 'Anonymous',
  plan: 'free',
  lifetimePaidUsd: 0,
  metered: false,
};

const usedUp = (message: string): GatewayError =>
  new GatewayError('free_request_used', message, { headers: missingKey().headers });

/** Whether the header asks for the free request; any value but `true` is a fault. */
export const asksFreeRequest = (header: string | string[] | undefined): boolean => {
  if (header === undefined) return false;
  if (header === 'true') return true;
  throw new GatewayError('invalid_header', 'X-Free-Tier: the only allowed value is true.', {
    param: 'X-Free-Tier',
  });
};

export const createFreeRequests = (options: FreeRequestOptions, parts: FreeRequestParts): FreeRequests => {
  const { model, maxTokens, dailyCap, subnetOf } = options;
  const { records, pepper, clock, log } = parts;
  const permissions = new Set(['inference']);
  const held = new WeakMap<Principal, { readonly name: string; readonly day: string }>();

  const today = (): string => new Date(clock.nowMs()).toISOString().slice(0, 10);

  /** Counts the day up or down; false = it is full. */
  const count = async (day: string, by: 1 | -1): Promise<boolean> => {
    if (dailyCap === null) return true;
    for (let turn = 0; turn < PATIENCE; turn++) {
      const stored = await records.get(GLOBAL, FREE_REQUEST_DAYS, day);
      const taken = (stored ? readRecord(FreeRequestDay, stored).count : 0) + by;
      if (taken > dailyCap) return false;
      const committed = await records.commit(GLOBAL, [
        {
          op: 'put',
          collection: FREE_REQUEST_DAYS,
          id: day,
          value: { count: Math.max(0, taken) },
          expect: stored?.revision ?? 'absent',
          ttlMs: 2 * DAY_MS,
        },
      ]);
      if (committed.ok) return true;
    }
    throw new StoreUnavailable(new Error('Too many free requests at once.'));
  };

  const claim = async (name: string, day: string): Promise<void> => {
    if (!(await records.claim(name, REMEMBER_MS)))
      throw usedUp('The anonymous free request of this address is used up. Sign up to continue.');
    let counted = false;
    try {
      counted = await count(day, 1);
    } finally {
      if (!counted) await records.unclaim(name);
    }
    if (!counted) throw usedUp('The free requests of today are used up. Sign up to continue.');
  };

  return {
    async take(clientAddress) {
      const subnet = subnetOf(clientAddress);
      const identity = createHmac('sha256', pepper).update(`free-request ${subnet}`).digest('hex');
      const claimed = { name: `free_request/${identity}`, day: today() };
      await claim(claimed.name, claimed.day).catch((error: unknown) => {
        throw error instanceof StoreUnavailable ? storeUnavailable(error) : error;
      });
      const principal: Principal = {
        kind: 'anonymous',
        organization: anonymousOrganization,
        projectId: null,
        keyId: `anonymous_${identity.slice(0, 32)}`,
        permissions,
        models: [model],
        creditBudget: null,
        maxOutputTokens: maxTokens,
      };
      held.set(principal, claimed);
      return principal;
    },

    async giveBack(principal) {
      const claimed = held.get(principal);
      if (!claimed) return;
      held.delete(principal);
      try {
        await records.unclaim(claimed.name);
        await count(claimed.day, -1);
      } catch (error) {
        log.warn({ err: error }, 'A free request could not be given back.');
      }
    },
  };
};
