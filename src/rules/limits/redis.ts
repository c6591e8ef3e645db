import type { Clock } from '../../core/clock.js';
import { silentLog } from '../../core/log.js';
import { openRedis } from '../../io/redis/connect.js';
import type { RedisClient, RedisLink, RedisOptions } from '../../io/redis/connect.js';
import { loadLua } from '../../io/redis/lua.js';
import { resending } from '../../io/redis/resend.js';
import { createDurable, type Durable } from './durable.js';
import {
  LEASE_TTL_MS,
  type AdmitReply,
  type AdmitRequest,
  type Bucket,
  type Credits,
  type Limiter,
  type Progress,
  type RenewReply,
  type Scope,
  type SettleReply,
  type SettleRequest,
  type Space,
} from './limiter.js';
import { readAdmitReply, readSettleReply, type Raw } from './replies.js';
import { compileScopes, nameOf, orNone, QUOTA_KINDS, subjectOf, whole } from './wire.js';

export interface RedisLimiterOptions extends RedisOptions {
  readonly keyPrefix: string;
  /** For tests; null = the time of Redis. */
  readonly clock?: Clock | null;
}

const RENEWED_AT_ONCE = 200;
const ADDED_TTL_MS = 30 * 86_400_000;

const shared = [new URL('./ring.lua', import.meta.url), new URL('./leases.lua', import.meta.url)];
const admit = loadLua(new URL('./admit.lua', import.meta.url), ...shared);
const settle = loadLua(new URL('./settle.lua', import.meta.url), ...shared);
const renew = loadLua(new URL('./renew.lua', import.meta.url), ...shared);
const credits = loadLua(new URL('./credits.lua', import.meta.url));

interface Plan {
  readonly keys: readonly string[];
  readonly marker: string;
  readonly limits: readonly (string | number)[];
}

const letters: Readonly<Record<Space, string>> = { inference: 'l', admin: 'a', credits: 'c' };

export interface RedisLimiter extends Limiter {
  /** What Redis drops when its memory is full; null where it may not be asked. */
  evictionPolicy(): Promise<string | null>;
}

/**
 * Keys, all of an organization in one Cluster slot, S = the space's letter:
 *   P{org}:S:o  P{org}:S:p:ID  P{org}:S:k:ID  rings of the scopes
 *   P{org}:S:l  P{org}:S:x  P{org}:S:t        leases, their expiries, tombstones
 *   P{org}:S:s:LEASE                          marker of a lease that is settled, or was refused
 *   P{org}:q1 :q2 :q3                         quotas: daily, weekly, monthly
 *   P{org}:b  P{org}:b:ID                     credits, marker of an addition
 */
export const openRedisLimiter = async (options: RedisLimiterOptions): Promise<RedisLimiter> => {
  if (/[{}]/.test(options.keyPrefix)) throw new RangeError('The key prefix must not contain braces.');
  const link = await openRedis(options);
  const resend = resending(link.client, options.commandTimeoutMs);
  const log = options.log ?? silentLog;
  const durable = createDurable({
    link,
    open: (commandTimeoutMs) => openRedis({ ...options, commandTimeoutMs, log: silentLog }),
    log,
  });
  return createRedisLimiter({ link, resend, durable }, `${options.keyPrefix}rl:`, options.clock ?? null);
};

interface Links {
  readonly link: RedisLink;
  readonly resend: ReturnType<typeof resending>;
  readonly durable: Durable;
}

const createRedisLimiter = (
  { link, resend, durable }: Links,
  prefix: string,
  clock: Clock | null,
): RedisLimiter => {
  const { client } = link;
  const time = (): number | '' => clock?.nowMs() ?? '';
  const home = (organizationId: string): string => `${prefix}{${nameOf(organizationId)}}:`;

  /** The keys of a call but its marker, and the scopes as arguments: made once per key that calls. */
  const plans = new WeakMap<readonly Scope[], Partial<Record<Space, Plan>>>();
  const planOf = ({ space, organizationId, scopes }: Bucket): Plan => {
    let bySpace = plans.get(scopes);
    if (!bySpace) plans.set(scopes, (bySpace = {}));
    return (bySpace[space] ??= makePlan(space, organizationId, scopes));
  };
  const makePlan = (space: Space, organizationId: string, scopes: readonly Scope[]): Plan => {
    const { tags, limits } = compileScopes(scopes);
    const org = home(organizationId);
    const own = `${org}${letters[space]}:`;
    const base = [`${own}l`, `${own}x`, `${own}t`, `${org}b`, `${org}q1`, `${org}q2`, `${org}q3`];
    return {
      keys: [...base, ...tags.map((tag) => own + tag)],
      marker: `${own}s:`,
      limits: tags.flatMap((tag, i) => [tag, ...limits.slice(5 * i, 5 * i + 5)]),
    };
  };

  const ask = async (request: AdmitRequest, mode: 'admit' | 'watch' | 'read'): Promise<AdmitReply> => {
    const { leaseId, tokens, credits: metered, scopes, quotas } = request;
    const plan = planOf(request);
    const args: (string | number)[] = [
      time(),
      leaseId,
      request.takesLease ? LEASE_TTL_MS : 0,
      whole(tokens),
      orNone(metered?.hold),
      orNone(metered?.keyBudget),
      mode,
      request.countRefused,
      scopes.length,
      ...plan.limits,
    ];
    for (const quota of quotas)
      args.push(QUOTA_KINDS[quota.window], subjectOf(quota), orNone(quota.requests), orNone(quota.tokens));
    const keys = [...plan.keys, plan.marker + leaseId];
    return readAdmitReply((await resend(() => admit(client, keys, args))) as Raw, request);
  };

  const change = async (
    op: 'add' | 'open' | 'set' | 'fund',
    organizationId: string,
    amount: number,
    id = '',
    more: readonly number[] = [],
  ): Promise<readonly [number, number]> => {
    if (!Number.isSafeInteger(amount)) throw new RangeError('Credits are whole numbers.');
    const key = `${home(organizationId)}b`;
    const send = (to: RedisClient) =>
      credits(to, [key, `${key}:${nameOf(id)}`], [op, amount, ADDED_TTL_MS, ...more]);
    const isGrant = op === 'add' || op === 'fund';
    return (await (isGrant ? durable.change(send) : send(client))) as [number, number];
  };

  const purse: Credits = {
    balance: async (organizationId) => {
      const balance = await client.hget(`${home(organizationId)}b`, 'b');
      return balance === null ? null : Number(balance);
    },
    fund: async (organizationId, { granted, epoch, revision }) =>
      (await change('fund', organizationId, granted, '', [epoch, revision]))[1],
    addCredits: async (organizationId, amount, id) => (await change('add', organizationId, amount, id))[1],
    setBalanceIfAbsent: async (organizationId, amount) =>
      (await change('open', organizationId, amount))[0] === 1,
    setBalance: async (organizationId, amount) => {
      await change('set', organizationId, amount);
    },
  };

  return {
    admit: (request) => ask(request, request.enforce ? 'admit' : 'watch'),
    read: (request) => ask({ ...request, leaseId: '-' }, 'read'),
    settle: async (request: SettleRequest): Promise<SettleReply> => {
      const plan = planOf(request);
      const args = [
        time(),
        request.leaseId,
        whole(request.tokens),
        orNone(request.credits),
        request.again ? 1 : 0,
        request.keyBudgeted ? 1 : 0,
        orNone(request.startedAgoMs),
        ...request.quotas.flatMap((quota) => [QUOTA_KINDS[quota.window], subjectOf(quota)]),
      ];
      const keys = [...plan.keys, plan.marker + request.leaseId];
      return readSettleReply((await resend(() => settle(client, keys, args))) as Raw);
    },
    renew: async (leases: readonly Progress[]): Promise<RenewReply> => {
      let missing = 0;
      let pruned = 0;
      for (let at = 0; at < leases.length; at += RENEWED_AT_ONCE) {
        const some = leases.slice(at, at + RENEWED_AT_ONCE);
        const args = some.flatMap((lease) => [
          lease.leaseId,
          whole(lease.tokens),
          whole(lease.creditsUsed),
          orNone(lease.hold),
          compileScopes(lease.scopes).lines,
        ]);
        const reply = (await renew(client, planOf(some[0]!).keys.slice(0, 8), [
          time(),
          LEASE_TTL_MS,
          ...args,
        ])) as Raw;
        missing += reply[1]!;
        pruned += reply[2]!;
      }
      return { missing, pruned };
    },
    credits: purse,
    evictionPolicy: async () => {
      const [master] = link.masters();
      const reply = await master?.call('CONFIG', 'GET', 'maxmemory-policy').catch(() => null);
      return Array.isArray(reply) && typeof reply[1] === 'string' ? reply[1] : null;
    },
    close: async () => {
      await durable.close();
      await link.close();
    },
  };
};
