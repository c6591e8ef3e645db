import { readFileSync } from 'node:fs';
import type { Config, ModelConfig, ProviderConfig } from './config/schema.js';
import type { UpstreamFlags } from './core/upstream-flags.js';
import type { Price } from './core/usage.js';
import { createSimulator } from './dialects/simulator/provider.js';
import { createPassthrough, passthroughDemand } from './endpoints/passthrough.js';
import { pathBelow } from './io/upstream/address.js';
import { createHttpProvider } from './io/upstream/http-provider.js';
import type { Provider } from './io/upstream/provider.js';
import { openTunnel } from './io/upstream/tunnel.js';
import type { Passthrough } from './routes.js';
import { Catalog, type Target } from './rules/models/catalog.js';

type RemoteConfig = Exclude<ProviderConfig, { kind: 'simulator' }>;

const remoteOptions = (name: string, given: RemoteConfig) => ({
  name,
  kind: given.kind,
  baseUrl: given.base_url,
  apiKey: given.api_key,
  timeouts: {
    connectMs: given.timeouts.connect,
    firstByteMs: given.timeouts.first_byte,
    idleMs: given.timeouts.idle,
    totalMs: given.timeouts.total,
  },
  attempts: given.retry.attempts,
  headers: given.headers,
  query: given.query,
  proxyUrl: given.proxy_url,
  caPem: given.ca_file === '' ? '' : readFileSync(given.ca_file, 'utf8'),
  maxConnections: given.max_connections,
});

/** The configured providers, by name. */
export const createProviders = ({ providers }: Config): ReadonlyMap<string, Provider> =>
  new Map(
    Object.entries(providers).map(([name, given]) => [
      name,
      given.kind === 'simulator'
        ? createSimulator({ name, ttftMs: given.ttft, tokensPerSecond: given.tokens_per_second })
        : createHttpProvider(remoteOptions(name, given)),
    ]),
  );

const priceOf = (given: ModelConfig['price']): Price => ({
  inputPerMtok: given.input_per_mtok,
  outputPerMtok: given.output_per_mtok,
  cacheReadPerMtok: given.cache_read_per_mtok,
  cacheWritePerMtok: given.cache_write_per_mtok,
});

/** The configured paths that are handed through unread (D43). */
export const createPassthroughs = (
  { providers, server, credits }: Config,
  ticksMs: () => number,
): readonly Passthrough[] => {
  const parts = { ticksMs, usdPerCredit: credits.usd_per_credit };
  return Object.entries(providers).flatMap(([name, given]) =>
    given.kind === 'simulator'
      ? []
      : given.passthrough.map(({ path, price: asWritten }) => {
          const tunnel = openTunnel({
            ...remoteOptions(name, given),
            path: pathBelow(given.base_url, path),
            bodyBytes: server.max_body_bytes,
          });
          const price = priceOf(asWritten);
          return {
            path,
            demand: passthroughDemand(price),
            handle: createPassthrough(name, price, tunnel, parts),
          };
        }),
  );
};

const flagsOf = (given: ModelConfig['flags']): UpstreamFlags => ({
  maxTokensField: given.max_tokens_field,
  dropSampling: given.drop_sampling,
  dropReasoning: given.drop_reasoning,
  dropServerTools: given.drop_server_tools,
  takesDocuments: given.takes_documents,
  takesReasoningText: given.takes_reasoning_text,
  takesTopK: given.takes_top_k,
  liftSystemTurns: given.lift_system_turns,
  thinking: given.thinking,
});

const MESSAGES = '/v1/messages';

/** Where a server of another format takes Messages requests as they are. */
const messagesPathOf = (provider: ProviderConfig | undefined, isNative: boolean): string | null =>
  isNative && (provider?.kind === 'openai_chat' || provider?.kind === 'openai_responses')
    ? pathBelow(provider.base_url, MESSAGES)
    : null;

const targetsOf = (given: ModelConfig, providers: Config['providers']): Target[] => {
  const { provider, upstream_model } = given;
  const targets = provider === null ? given.targets : [{ provider, upstream_model, weight: 1 }];
  return targets.map((target) => {
    const flags = ('flags' in target ? target.flags : undefined) ?? given.flags;
    return {
      provider: target.provider,
      upstreamModel: target.upstream_model,
      weight: target.weight,
      flags: flagsOf(flags),
      messagesPath: messagesPathOf(providers[target.provider], flags.native_messages),
    };
  });
};

/** The configured models. */
export const createCatalog = ({ models, providers }: Config): Catalog =>
  new Catalog(
    models.map((given) => ({
      name: given.name,
      aliases: given.aliases,
      listed: given.listed,
      targets: targetsOf(given, providers),
      fallbacks: given.fallbacks,
      maxOutputTokens: given.max_output_tokens,
      price: priceOf(given.price),
    })),
  );
