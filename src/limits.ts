import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from './config/schema.js';
import { systemClock } from './core/clock.js';
import type { Admit } from './core/exchange.js';
import type { Log } from './core/log.js';
import type { Principal } from './core/principal.js';
import { policyHeadersOf } from './endpoints/review/policy-headers.js';
import { keepFunded, type Funding } from './funding.js';
import type { Metrics } from './io/metrics/metrics.js';
import type { Live } from './io/records/live.js';
import type { Accounts } from './rules/auth/accounts.js';
import { createEmbeddedLimiter, openEmbeddedLimiter } from './rules/limits/embedded.js';
import type { LimitEvents } from './rules/limits/events.js';
import { createGate, type Gate, type GateOptions } from './rules/limits/gate.js';
import { guardLimiter, type Guard } from './rules/limits/guard.js';
import type { AdmitReply, Credits, Limiter } from './rules/limits/limiter.js';
import { openRedisLimiter } from './rules/limits/redis.js';
import { Refusals } from './rules/limits/refusals.js';
import { SNAPSHOT } from './rules/limits/snapshot-file.js';
import { loadTiers, type Tiers } from './rules/limits/tiers.js';
import type { CompiledConfig } from './rules/policy-gateway/compile.js';
import { quotasOf } from './rules/policy-gateway/quotas.js';
import { Tally } from './rules/usage/tally.js';
import { redisOptions, storeFolder } from './store.js';

/** Everything of limits and credits that outlives a reload. */
export interface LimitGround {
  readonly guard: Guard;
  readonly tiers: Tiers;
  readonly refusals: Refusals;
  readonly tally: Tally;
  readonly events: LimitEvents;
  readonly funding: Funding;
  /** Gates of all generations, for their leases. */
  readonly gates: Set<Gate>;
  close(): Promise<void>;
}

const HARMLESS = 'noeviction';

const openLimiter = async (config: Config, log: Log): Promise<Limiter> => {
  if (config.store.kind === 'embedded') return openEmbeddedLimiter({ folder: storeFolder(config), log });
  const limiter = await openRedisLimiter({
    ...redisOptions(config, log),
    keyPrefix: config.store.redis.key_prefix,
  });
  const policy = await limiter.evictionPolicy();
  if (policy !== null && policy !== HARMLESS)
    log.warn(
      { policy },
      'Redis may evict counters and balances, which forgives usage: set maxmemory-policy noeviction',
    );
  return limiter;
};

const eventsFor = (metrics: Metrics, { limits } = metrics): LimitEvents => ({
  decided: ({ space, outcome, scope, metric, degraded: alone }) => {
    limits.decision(space, outcome, scope ?? 'none', metric ?? 'none');
    if (alone) limits.fallback(space, outcome);
  },
  settled: (outcome, overdraft) => limits.settled(outcome, overdraft),
  pruned: (leases) => limits.pruned(leases),
  clockStepped: () => limits.clockStepped(),
  degraded: (on) => metrics.degraded('limits', on),
  waiting: (settlements, dropped) => limits.waiting(settlements, dropped),
});

export const openLimits = async (
  config: Config,
  accounts: Accounts,
  metrics: Metrics,
  log: Log,
): Promise<LimitGround> => {
  const events = eventsFor(metrics);
  const { redis, kind } = config.store;
  const guard = guardLimiter({
    limiter: await openLimiter(config, log),
    away: kind === 'redis' ? { mode: redis.on_unavailable, replicasHint: redis.replicas_hint } : null,
    log,
    events,
  });
  const { records } = accounts;
  const refusals = new Refusals({ records, log });
  const tally = new Tally({ records, clock: systemClock, log });
  const funding = keepFunded(accounts, guard.credits, log);
  const gates = new Set<Gate>();
  return {
    guard,
    tiers: loadTiers(),
    refusals,
    tally,
    events,
    funding,
    gates,
    async close() {
      funding.stop();
      await Promise.all([refusals.close(), tally.close()]);
      await guard.close();
    },
  };
};

interface GateParts {
  readonly priceOf: GateOptions['priceOf'];
  /** What organizations configured, for their quotas (D24). */
  readonly configs: Live<CompiledConfig>;
  readonly log: Log;
}

interface LimitedRoad {
  readonly gate: Gate;
  readonly admit: Admit;
  /** Where a caller stands, quotas included; counts nothing. */
  readonly read: (principal: Principal, user: string | null) => Promise<AdmitReply>;
}

/** The limits of one configuration. */
export const createLimitGate = (
  config: Config,
  ground: LimitGround,
  { priceOf, configs, log }: GateParts,
): LimitedRoad => {
  const { limits, credits } = config;
  const quotasFor = (
    { config: given }: CompiledConfig,
    { projectId, keyId }: Principal,
    user: string | null,
  ) => quotasOf(given, { user, projectId, keyId });
  const gate = createGate({
    guard: ground.guard,
    tiers: ground.tiers,
    overrides: limits.overrides,
    admin: {
      credentialRpm: limits.admin.credential_rpm,
      organizationRpm: limits.admin.organization_rpm,
      concurrent: limits.admin.concurrent,
    },
    enforce: limits.enforce,
    countRefused: limits.count_refused,
    usdPerCredit: credits.usd_per_credit,
    priceOf,
    quotasOf: ({ principal, headers }) => {
      const compiled = configs.get(principal.organization.id);
      return compiled instanceof Promise ? [] : quotasFor(compiled, principal, policyHeadersOf(headers).user);
    },
    firstBalance: ground.funding.fund,
    onRefused: (facts) => ground.refusals.note(facts),
    log,
    events: ground.events,
  });
  ground.gates.add(gate);
  const admit: Admit = async (call, demand) => {
    const { organization } = call.principal;
    // What was granted while no gateway ran is taken over with the first request.
    if (organization.metered && !ground.funding.knows(organization.id))
      await ground.funding.ensure(organization.id);
    // Quotas are read without waiting, so the first request of an organization waits for them here.
    if (call.route.limits === 'inference') await configs.get(organization.id);
    return gate.admit(call, demand);
  };
  const read: LimitedRoad['read'] = async (principal, user) =>
    gate.read(principal, quotasFor(await configs.get(principal.organization.id), principal, user));
  return { gate, admit, read };
};

/** Balances for a command that may run beside a gateway: of the embedded limiter a reading, as it was last kept. */
export const openCredits = async (
  config: Config,
  log: Log,
): Promise<{ readonly credits: Credits; close(): Promise<void> }> => {
  if (config.store.kind === 'redis')
    return openRedisLimiter({ ...redisOptions(config, log), keyPrefix: config.store.redis.key_prefix });
  const limiter = createEmbeddedLimiter(systemClock);
  const folder = storeFolder(config);
  const bytes = folder === null ? null : await readFile(join(folder, SNAPSHOT)).catch(() => null);
  if (bytes) limiter.restore(bytes);
  return limiter;
};
