import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from './config/schema.js';
import { systemClock } from './core/clock.js';
import { GatewayError } from './core/errors.js';
import { newId } from './core/ids.js';
import type { Log } from './core/log.js';
import { errorReply, familyOf } from './endpoints/error-bodies.js';
import { createGeneration, type Generation, type Ground } from './generation.js';
import { listen, type ConnectionFault } from './io/http/listen.js';
import { createTokenizer } from './io/tokenizer/tokenizer.js';
import { openLimits } from './limits.js';
import { createMetrics, type Metrics } from './io/metrics/metrics.js';
import { lockFolder } from './io/records/folder-lock.js';
import type { Records } from './io/records/records.js';
import { openPolicing } from './policing.js';
import type { Accounts } from './rules/auth/accounts.js';
import { createDirectory } from './rules/auth/directory.js';
import { bootstrap, type KeyOutcome } from './rules/auth/bootstrap.js';
import { seedPolicies } from './rules/policies/seed.js';
import { seedConfig } from './rules/policy-gateway/store.js';
import { bootstrapOrganization, openAccounts, storeFolder, policyBook } from './store.js';
import { openTrail } from './trail.js';

export interface GatewayOptions {
  readonly log: Log;
  readonly version: string;
}

/** A key that was generated at this start: to be shown once. */
export interface MadeKey {
  readonly organizationId: string;
  readonly projectId: string | null;
  readonly kind: 'admin' | 'project';
  readonly name: string;
  readonly secret: string;
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface Gateway {
  readonly address: Address;
  readonly adminAddress: Address | null;
  readonly madeKeys: readonly MadeKey[];
  /** Swaps in a new configuration and gives the keys generated for it; on failure the old one stays and the error is thrown. */
  reload(config: Config): Promise<readonly MadeKey[]>;
  /** A new configuration had faults, so the one in force stays. */
  noteFaults(): void;
  /** Not ready, stop accepting, let answers finish within the grace. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

const EVERYWHERE = '0.0.0.0';
const STORE_CHECK_MS = 2_000;
/** How long streams that outlived the grace get to write their format's own ending. */
const LAST_WORDS_MS = 2_000;

const faultCodes = {
  malformed: ['invalid_header', 'The request is not well-formed HTTP.'],
  timeout: ['request_timeout', 'The request was not received in time.'],
  headers_too_large: ['headers_too_large', 'The request headers are too large or too many.'],
  upgrade: ['upgrade_refused', 'No other protocol is spoken here: send the same request over plain HTTP.'],
} as const satisfies Record<ConnectionFault, readonly [string, string]>;

const refuse = (fault: ConnectionFault, path: string | null) => {
  const [code, message] = faultCodes[fault];
  const requestId = newId('req');
  const family = path === null ? 'administration' : familyOf(path);
  const headers = fault === 'upgrade' ? { upgrade: 'HTTP/1.1' } : {};
  const reply = errorReply(new GatewayError(code, message, { headers }), family, requestId);
  return { ...reply, headers: { ...reply.headers, 'x-request-id': requestId, 'request-id': requestId } };
};

const tlsFiles = ({ server: { tls } }: Config) =>
  tls && { certPem: readFileSync(tls.cert, 'utf8'), keyPem: readFileSync(tls.key, 'utf8') };

/** What was opened, to be closed in the reverse order. */
class Opened {
  readonly #steps: (() => Promise<void> | void)[] = [];

  add(close: () => Promise<void> | void): void {
    this.#steps.push(close);
  }

  async close(): Promise<void> {
    for (const close of this.#steps.splice(0).reverse()) await close();
  }
}

/** Builds the house and opens its doors. */
export const startGateway = async (config: Config, options: GatewayOptions): Promise<Gateway> => {
  const opened = new Opened();
  try {
    return await open(config, options, opened);
  } catch (error) {
    await opened.close();
    throw error;
  }
};

const open = async (config: Config, { log, version }: GatewayOptions, opened: Opened): Promise<Gateway> => {
  const folder = storeFolder(config);
  if (folder !== null) opened.add(lockFolder(folder));
  const accounts = await openAccounts(config, log);
  opened.add(() => accounts.records.close());
  const metrics = createMetrics({ version });
  opened.add(() => metrics.close());
  const store = watchStore(accounts.records, metrics);
  opened.add(store.stop);
  const limits = await openLimits(config, accounts, metrics, log);
  opened.add(() => limits.close());
  const madeKeys = await furnish(accounts, config, log);
  const trail = await openTrail(config, accounts, metrics, log);
  opened.add(() => trail.close());
  const policing = await openPolicing(config, accounts.records, trail.audit, metrics, log);
  opened.add(() => policing.close());

  const directory = createDirectory({
    ...accounts,
    onDegraded: (on) => metrics.degraded('auth', on),
  });
  opened.add(directory.close);

  const tokenizer = createTokenizer({ log });
  opened.add(() => tokenizer.close());

  let draining = false;
  const ground: Ground = {
    accounts,
    directory,
    limits,
    policing,
    trail,
    tokenizer,
    metrics,
    log,
    // A store that went away later is told but does not count: a Redis outage must not take down every pod (D32).
    readiness: () => ({
      ready: !draining,
      reasons: [...(draining ? ['draining'] : []), ...(store.isAway() ? ['store_unavailable'] : [])],
    }),
  };
  let current = createGeneration(config, ground);
  const retiring = new Map<Generation, Promise<void>>();
  const retire = (generation: Generation): void => {
    const retired = generation.retire().finally(() => retiring.delete(generation));
    retiring.set(generation, retired);
  };
  opened.add(async () => {
    retire(current);
    await Promise.all(retiring.values());
  });

  let { drain: pace } = config.server;
  const { host, port, admin_port: adminPort } = config.server;
  const operations =
    adminPort === null
      ? null
      : await listen({ host: EVERYWHERE, port: adminPort, tls: null, refuse, log }, (req, res) =>
          current.serveOperations(req, res),
        );
  if (operations) opened.add(() => operations.close());
  if (config.telemetry.tracing.otlp_endpoint !== '')
    log.warn({ what: 'telemetry.tracing' }, 'this version does not trace: the setting has no effect');
  const main = await listen({ host, port, tls: tlsFiles(config), refuse, log }, (req, res) =>
    current.serveApi(req, res),
  );
  opened.add(() => main.close());

  return {
    address: { host, port: main.port },
    adminAddress: operations && { host: EVERYWHERE, port: operations.port },
    madeKeys,

    async reload(next) {
      // The one of the two that does not serve in the end: the new one after a failure, otherwise the old one.
      let spare: Generation | null = null;
      try {
        const files = tlsFiles(next);
        spare = createGeneration(next, ground);
        const keys = await furnish(accounts, next, log);
        if (files && config.server.tls) main.setTls(files);
        [current, spare] = [spare, current];
        pace = next.server.drain;
        metrics.configReload(true);
        return keys;
      } catch (error) {
        metrics.configReload(false);
        throw error;
      } finally {
        if (spare) retire(spare);
      }
    },

    noteFaults: () => metrics.configReload(false),

    async drain() {
      if (draining) return;
      draining = true;
      await sleep(pace.delay);
      const lastCall = setTimeout(() => {
        const reason = new GatewayError('shutting_down', 'The gateway is shutting down.');
        for (const generation of [current, ...retiring.keys()]) generation.abort(reason);
      }, pace.grace);
      const cut = await main.drain(pace.grace + LAST_WORDS_MS);
      clearTimeout(lastCall);
      log.info({ cut }, 'drained');
    },

    close: () => opened.close(),
  };
};

/** Creates what the configuration wants to exist; gives the keys that were generated for it. */
const furnish = async (accounts: Accounts, config: Config, log: Log): Promise<MadeKey[]> => {
  const organizations = config.bootstrap.organizations.map(bootstrapOrganization);
  const policies = new Map(config.bootstrap.organizations.map((given) => [given.id, given.policies]));
  const gateways = new Map(config.bootstrap.organizations.map((given) => [given.id, given.gateway]));
  const { keys } = await bootstrap(accounts, {
    organizations,
    seed: async ({ id }) => {
      await seedPolicies(policyBook(config, accounts), id, policies.get(id) ?? []);
      const configured = gateways.get(id);
      if (configured) await seedConfig({ ...accounts, clock: systemClock }, id, configured);
    },
  });
  for (const { outcome, name, keyId } of keys) {
    const remark = remarks[outcome];
    if (remark) log.warn({ key_id: keyId }, `bootstrap key "${name}": ${remark}`);
  }
  return keys.flatMap(({ secret, ...key }) => (secret === null ? [] : [{ ...key, secret }]));
};

const remarks: Partial<Record<KeyOutcome, string>> = {
  added: 'its value changed; the older key stays valid until it is revoked',
  taken: 'its value belongs to another key, so it was left out',
  revoked: 'it was revoked, and stays so',
};

/** Keeps an eye on the store, for the metric and for /readyz. */
const watchStore = (records: Records, metrics: Metrics) => {
  let away = false;
  const tell = (now: boolean): void => {
    away = now;
    metrics.degraded('store', now);
  };
  const check = setInterval(() => {
    records.ping().then(
      () => tell(false),
      () => tell(true),
    );
  }, STORE_CHECK_MS);
  check.unref();
  return { isAway: () => away, stop: () => clearInterval(check) };
};
