import { systemClock, type Clock } from '../../core/clock.js';
import type { Admit, Call, Demand, Lease, LimitFamily, Settlement, Spent } from '../../core/exchange.js';
import { storeUnavailable } from '../../core/errors.js';
import { newId } from '../../core/ids.js';
import { silentLog, type Log } from '../../core/log.js';
import type { Principal } from '../../core/principal.js';
import { costUsd, creditsFor, type Price, type Usage } from '../../core/usage.js';
import { silentEvents, type LimitEvents } from './events.js';
import { factsOf, type RefusalFacts } from './facts.js';
import { DEGRADED, type Admitted, type Guard } from './guard.js';
import {
  noLimits,
  type AdmitReply,
  type AdmitRequest,
  type Quota,
  type Scope,
  type Space,
} from './limiter.js';
import { NegativeCache } from './negative-cache.js';
import { createOverrides, type Override } from './overrides.js';
import { creditsShort, headersOf, limitReached } from './refusal.js';
import { Renewals, type Renewable } from './renewals.js';
import type { Tiers } from './tiers.js';

export interface GateOptions {
  readonly guard: Guard;
  readonly tiers: Tiers;
  readonly overrides: readonly Override[];
  readonly admin: {
    readonly credentialRpm: number;
    readonly organizationRpm: number;
    readonly concurrent: number;
  };
  readonly enforce: boolean;
  readonly countRefused: 'key' | 'none';
  readonly usdPerCredit: number;
  /** What a model costs and how much it can answer; null = unknown. */
  readonly priceOf: (model: string) => { readonly price: Price; readonly maxOutputTokens: number } | null;
  /** Calendar quotas of the caller (D24). */
  readonly quotasOf?: (call: Omit<Call, 'lease'>) => readonly Quota[];
  /** The balance of an organization that has none here yet; null = it has none at all. */
  readonly firstBalance?: (organizationId: string) => Promise<number | null>;
  /** Told of every refusal, so that it can be explained for an hour. */
  readonly onRefused?: (facts: RefusalFacts) => void;
  readonly renewEveryMs?: number;
  readonly clock?: Clock;
  readonly log?: Log;
  readonly events?: LimitEvents;
}

export interface Gate {
  readonly admit: Admit;
  /** Where a caller stands in inference; counts nothing. */
  read(principal: Principal, quotas?: readonly Quota[]): Promise<AdmitReply>;
  /** Leases under way. */
  readonly underWay: number;
  close(): Promise<void>;
}

type Counted = Exclude<LimitFamily, 'none'>;

const spaces: Readonly<Record<Counted, Space>> = {
  inference: 'inference',
  count_tokens: 'inference',
  admin: 'admin',
  credits: 'credits',
  reads: 'credits',
};

const unmetered: Settlement = { remainingCredits: null };
const unlimited: Lease = { headers: {}, settle: () => Promise.resolve(unmetered) };

const tokensOf = ({ input, cacheRead, cacheWrite, output }: Usage): number =>
  input + cacheRead + cacheWrite + output;

/** Stands before every handler: takes all limits of a call in one step, gives them back as one settlement. */
export const createGate = (options: GateOptions): Gate => {
  const { guard, tiers, usdPerCredit, clock = systemClock, log = silentLog, events = silentEvents } = options;
  const limitsOf = createOverrides(options.overrides);
  const renewals = new Renewals(log, options.renewEveryMs);
  const refused = new NegativeCache(() => clock.ticksMs());
  // A principal is made anew when anything about it changes, so its scopes are kept with it.
  const scopesByFamily: Readonly<Record<Counted, WeakMap<Principal, readonly Scope[]>>> = {
    inference: new WeakMap(),
    count_tokens: new WeakMap(),
    admin: new WeakMap(),
    credits: new WeakMap(),
    reads: new WeakMap(),
  };

  const makeScopes = (family: Counted, { organization, projectId, keyId }: Principal): readonly Scope[] => {
    const space = spaces[family];
    const tier = space === 'credits' ? tiers.creditReads : tiers.tierOf(organization).limits;
    const { admin } = options;
    const org = { kind: 'organization', id: organization.id } as const;
    const key = { kind: 'key', id: keyId } as const;
    if (space === 'admin')
      return [
        { ...org, limits: { ...noLimits, rpm: admin.organizationRpm } },
        { ...key, limits: { ...noLimits, rpm: admin.credentialRpm, concurrent: admin.concurrent } },
      ];
    // Beside each other: whoever lists models a lot can still see the balance (seed 8.3).
    const aside = family === 'reads' ? '.reads' : '';
    if (space === 'credits')
      return [
        { ...org, id: org.id + aside, limits: tier.organization },
        { ...key, id: key.id + aside, limits: tier.key },
      ];
    return [
      { ...org, limits: limitsOf('organization', org.id, tier) },
      ...(projectId === null
        ? []
        : [{ kind: 'project', id: projectId, limits: limitsOf('project', projectId, tier) } as const]),
      { ...key, limits: limitsOf('key', key.id, tier) },
    ];
  };
  const scopesOf = (family: Counted, principal: Principal): readonly Scope[] => {
    const known = scopesByFamily[family].get(principal);
    if (known) return known;
    const scopes = makeScopes(family, principal);
    scopesByFamily[family].set(principal, scopes);
    return scopes;
  };

  const requestOf = (call: Omit<Call, 'lease'>, demand: Demand, family: Counted) => {
    const { principal } = call;
    const space = spaces[family];
    const isInference = family === 'inference';
    const model = isInference && demand.model !== null ? options.priceOf(demand.model) : null;
    const each = Math.min(
      demand.outputTokens,
      model?.maxOutputTokens ?? Infinity,
      principal.maxOutputTokens ?? Infinity,
    );
    const output = each * (demand.answers ?? 1);
    const usage = { input: demand.inputTokens, cacheRead: 0, cacheWrite: 0, output, reasoning: 0 };
    const price = model?.price ?? demand.price;
    const hold = price ? creditsFor(costUsd(usage, price), usdPerCredit) : 0;
    const metered = isInference && principal.organization.metered;
    return {
      space,
      organizationId: principal.organization.id,
      scopes: scopesOf(family, principal),
      quotas: space === 'inference' ? (options.quotasOf?.(call) ?? []) : [],
      leaseId: newId('lease'),
      takesLease: space !== 'credits',
      tokens: isInference ? demand.inputTokens + output : 0,
      credits: metered ? { hold, keyBudget: principal.creditBudget } : null,
      countRefused: options.countRefused,
      enforce: options.enforce,
    } satisfies AdmitRequest;
  };

  /** Admits, opening the balance of an organization the limiter has not met yet. */
  const ask = async (request: AdmitRequest): Promise<Admitted> => {
    const admitted = await guard.admit(request);
    if (admitted.reply?.outcome !== 'no_balance') return admitted;
    try {
      const balance = (await options.firstBalance?.(request.organizationId)) ?? 0;
      await guard.credits.setBalanceIfAbsent(request.organizationId, balance);
    } catch (error) {
      throw storeUnavailable(error);
    }
    return guard.admit(request);
  };

  const refuse = (call: Omit<Call, 'lease'>, request: AdmitRequest, reply: AdmitReply, degraded: boolean) => {
    const { outcome, binding } = reply;
    const isLimit = outcome === 'refused';
    const metric = isLimit ? (binding?.metric ?? null) : 'credits';
    events.decided({ space: request.space, outcome, scope: binding?.scope ?? null, metric, degraded });
    options.onRefused?.(factsOf(call.requestId, call.principal, request, reply, degraded));
    return isLimit
      ? limitReached(reply, request.space, degraded ? DEGRADED : {})
      : creditsShort(reply, request.space, request.credits?.hold ?? 0, degraded ? DEGRADED : {});
  };

  const admit: Admit = async (call, demand) => {
    const family = call.route.limits;
    if (family === 'none') return unlimited;
    const request = requestOf(call, demand, family);
    const known = request.enforce ? refused.find(request) : null;
    if (known) throw refuse(call, request, known, false);
    const sentMs = clock.ticksMs();
    const admitted = await ask(request).catch((error: unknown) => {
      events.decided({
        space: request.space,
        outcome: 'unavailable',
        scope: null,
        metric: null,
        degraded: true,
      });
      throw error;
    });
    const { reply, degraded } = admitted;
    if (
      reply?.outcome === 'refused' ||
      reply?.outcome === 'short_of_credits' ||
      reply?.outcome === 'no_balance'
    ) {
      if (!degraded) refused.learn(request, reply, sentMs);
      throw refuse(call, request, reply, degraded);
    }
    const { space } = request;
    events.decided({ space, outcome: 'admitted', scope: null, metric: null, degraded });
    const headers = { ...(reply && headersOf(reply, space)), ...(degraded && DEGRADED) };
    return request.takesLease
      ? leaseOf(call, request, admitted, headers)
      : { headers, settle: () => Promise.resolve(unmetered) };
  };

  const leaseOf = (
    { meter }: Omit<Call, 'lease'>,
    request: AdmitRequest,
    { settle, renew }: Admitted,
    headers: Lease['headers'],
  ): Lease => {
    const { space, organizationId, scopes, quotas, leaseId, credits } = request;
    const keyBudgeted = credits !== null && credits.keyBudget !== null;
    const bucket = { space, organizationId, scopes, quotas, leaseId };
    const renewable: Renewable | null = renew && {
      renew,
      progress: () => {
        const usage = meter.live?.() ?? meter.usage;
        return {
          ...bucket,
          tokens: tokensOf(usage),
          creditsUsed: meter.price ? creditsFor(costUsd(usage, meter.price), usdPerCredit) : 0,
          hold: credits?.hold ?? null,
        };
      },
    };
    if (renewable) renewals.add(renewable);
    const end = async ({ usage, credits: used }: Spent): Promise<Settlement> => {
      if (renewable) renewals.remove(renewable);
      const tokens = tokensOf(usage);
      return { remainingCredits: await settle({ ...bucket, tokens, credits: credits && used, keyBudgeted }) };
    };
    let settlement: Promise<Settlement> | null = null;
    return { headers, settle: (spent) => (settlement ??= end(spent)) };
  };

  return {
    admit,
    read: (principal, quotas = []) =>
      guard.read({
        space: 'inference',
        organizationId: principal.organization.id,
        scopes: scopesOf('inference', principal),
        quotas,
        takesLease: true,
        tokens: 0,
        credits: principal.organization.metered ? { hold: 0, keyBudget: principal.creditBudget } : null,
        countRefused: options.countRefused,
        enforce: options.enforce,
      }),
    get underWay() {
      return renewals.size;
    },
    close: () => renewals.close(),
  };
};
