import { resolve } from 'node:path';
import { systemClock } from './core/clock.js';
import type { Log } from './core/log.js';
import type { Config, OrganizationConfig } from './config/schema.js';
import { openEmbeddedRecords } from './io/records/embedded.js';
import { openRedisRecords } from './io/records/redis.js';
import type { Records } from './io/records/records.js';
import type { RedisOptions } from './io/redis/connect.js';
import type { AccountLimits, Accounts } from './rules/auth/accounts.js';
import type { BootstrapOrganization } from './rules/auth/bootstrap.js';
import { loadPepper } from './rules/auth/pepper.js';
import type { PolicyBook } from './rules/policies/book.js';

const MEMORY = ':memory:';

/** The folder of the embedded store; null where nothing is kept in files. */
export const storeFolder = ({ store }: Config): string | null =>
  store.kind === 'embedded' && store.path !== MEMORY ? resolve(store.path) : null;

export const redisOptions = ({ store: { redis } }: Config, log: Log): RedisOptions => ({
  url: redis.url,
  cluster: redis.cluster,
  sentinel: redis.sentinel && {
    name: redis.sentinel.master,
    nodes: redis.sentinel.nodes,
    password: redis.sentinel.password,
  },
  commandTimeoutMs: redis.command_timeout,
  log,
});

/** Opens the store and what stands directly on it. The caller closes `accounts.records`. */
export const openAccounts = async (config: Config, log: Log): Promise<Accounts> => {
  const folder = storeFolder(config);
  const keep = folder === null ? (config.store.kind === 'embedded' ? 'memory' : 'nowhere') : { folder };
  const pepper = await loadPepper({ given: config.auth.pepper, keep });
  return {
    records: await openRecords(config, log),
    pepper,
    clock: systemClock,
    limits: accountLimits(config),
  };
};

export const accountLimits = ({ auth }: Config): AccountLimits => ({
  adminKeys: auth.max_admin_keys,
  projects: auth.max_projects,
  projectKeys: auth.max_project_keys,
});

const openRecords = (config: Config, log: Log): Promise<Records> =>
  config.store.kind === 'embedded'
    ? openEmbeddedRecords({ path: storeFolder(config) ?? MEMORY, log })
    : openRedisRecords({ ...redisOptions(config, log), keyPrefix: config.store.redis.key_prefix });

/** What the policies of all organizations are kept with. */
export const policyBook = (config: Config, { records, clock }: Accounts): PolicyBook => ({
  records,
  clock,
  maxPolicies: config.policies.max_per_organization,
});

/** The `bootstrap` part of the configuration in the words of the rooms. */
export const bootstrapOrganization = (given: OrganizationConfig): BootstrapOrganization => ({
  id: given.id,
  name: given.name,
  plan: given.plan,
  lifetimePaidUsd: given.lifetime_paid_usd,
  credits: given.credits,
  adminKeys: given.admin_keys.map(({ name, value, permissions }) => ({ name, value, permissions })),
  projects: given.projects.map((project) => ({
    id: project.id,
    name: project.name,
    keys: project.keys.map((key) => ({
      name: key.name,
      value: key.value,
      permissions: key.permissions,
      models: key.models,
      expiresAtS: key.expires_at === null ? null : Math.floor(key.expires_at / 1_000),
      creditBudget: key.credit_budget,
    })),
  })),
  policies: given.policies,
  gateway: given.gateway,
});
