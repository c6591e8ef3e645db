import type { Recorder } from './core/audit.js';
import { systemClock } from './core/clock.js';
import type { Log } from './core/log.js';
import { readShippedBytes } from './commands/shipped.js';
import type { Config } from './config/schema.js';
import { createLive, type Live } from './io/records/live.js';
import type { Records } from './io/records/records.js';
import type { Metrics } from './io/metrics/metrics.js';
import { createEmbeddedEngine } from './rules/moderation/embedded.js';
import type { Engine } from './rules/moderation/engine.js';
import { loadModel } from './rules/moderation/model-file.js';
import { createRuleCompiler, type RuleCompiler } from './rules/policies/compiler.js';
import { createLivePolicies } from './rules/policies/live-policies.js';
import type { PolicySet } from './rules/policies/policy-set.js';
import { compileConfig, type CompiledConfig } from './rules/policy-gateway/compile.js';
import { EmbeddedSpikes } from './rules/policy-gateway/embedded-rollback.js';
import { rollbackFacts } from './rules/policy-gateway/facts.js';
import { GATEWAY } from './rules/policy-gateway/layout.js';
import { openRedisSpikes } from './rules/policy-gateway/redis-rollback.js';
import type { Rollback, SpikeLedger } from './rules/policy-gateway/rollback.js';
import { getConfig } from './rules/policy-gateway/store.js';
import { redisOptions } from './store.js';

/** What decides, and outlives a reload. */
export interface PolicingGround {
  readonly configs: Live<CompiledConfig>;
  readonly policies: Live<PolicySet>;
  readonly spikes: SpikeLedger;
  readonly compiler: RuleCompiler;
  readonly embedded: Engine;
  close(): Promise<void>;
}

const MODEL = 'config/moderation/model.bin';

let embedded: Engine | null = null;

/** Shipped with the program, so it is read once however many gateways a process opens. */
const embeddedEngine = (): Engine => (embedded ??= createEmbeddedEngine(loadModel(readShippedBytes(MODEL))));

const openSpikes = (config: Config, log: Log): Promise<SpikeLedger> =>
  config.store.kind === 'redis'
    ? openRedisSpikes({ ...redisOptions(config, log), keyPrefix: config.store.redis.key_prefix })
    : Promise.resolve(new EmbeddedSpikes({ log }));

export const openPolicing = async (
  config: Config,
  records: Records,
  recorder: Recorder,
  metrics: Metrics,
  log: Log,
): Promise<PolicingGround> => {
  const spikes = await openSpikes(config, log);
  const compiler = createRuleCompiler();
  const stale = new Set<string>();
  const onStale =
    (what: string) =>
    (organizationId: string, isStale: boolean): void => {
      if (isStale) stale.add(`${what} ${organizationId}`);
      else stale.delete(`${what} ${organizationId}`);
      metrics.degraded('policies', stale.size > 0);
    };
  const configs = createLive<CompiledConfig>({
    records,
    clock: systemClock,
    log,
    load: async (organizationId) => compileConfig((await getConfig({ records }, organizationId)).config),
    touches: ({ collection }) => collection === GATEWAY,
    onStale: onStale('configuration'),
  });
  const policies = createLivePolicies({
    records,
    compiler,
    clock: systemClock,
    log,
    onFault: () => metrics.policing.fault('rule'),
    onStale: onStale('policies'),
  });

  const tell = async (rollback: Rollback): Promise<void> => {
    try {
      const { config: own } = await configs.get(rollback.organizationId);
      await recorder.record(rollbackFacts(rollback, own));
    } catch (error) {
      log.error({ err: error }, 'a rollback was not recorded');
    }
  };
  const unlisten = spikes.onRollback((rollback) => {
    metrics.policing.rollback();
    if (rollback.here) void tell(rollback);
  });

  return {
    configs,
    policies,
    spikes,
    compiler,
    embedded: embeddedEngine(),
    async close() {
      unlisten();
      configs.close();
      policies.close();
      await Promise.all([spikes.close(), compiler.close()]);
    },
  };
};
