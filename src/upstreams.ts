import { readFileSync } from 'node:fs';
import type { Config, ModelConfig, ProviderConfig } from './config/schema.js';
import { createSimulator } from './dialects/simulator/provider.js';
import { createPassthrough } from './endpoints/passthrough.js';
import { pathBelow } from './io/upstream/address.js';
import { createHttpProvider } from './io/upstream/http-provider.js';
import type { Provider } from './io/upstream/provider.js';
import { openTunnel } from './io/upstream/tunnel.js';
import type { Passthrough } from './routes.js';
import type { Model } from './rules/models/catalog.js';

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

/** The configured paths that are handed through unread (D43). */
export const createPassthroughs = (
  { providers, server }: Config,
  ticksMs: () => number,
): readonly Passthrough[] =>
  Object.entries(providers).flatMap(([name, given]) =>
    given.kind === 'simulator'
      ? []
      : given.passthrough.map(({ path }) => {
          const tunnel = openTunnel({
            ...remoteOptions(name, given),
            path: pathBelow(given.base_url, path),
            bodyBytes: server.max_body_bytes,
          });
          return { path, handle: createPassthrough(name, tunnel, ticksMs) };
        }),
  );

export const modelOf = (given: ModelConfig): Model => ({
  name: given.name,
  aliases: given.aliases,
  provider: given.provider,
  upstreamModel: given.upstream_model,
  fallbacks: given.fallbacks,
  maxOutputTokens: given.max_output_tokens,
  price: {
    inputPerMtok: given.price.input_per_mtok,
    outputPerMtok: given.price.output_per_mtok,
    cacheReadPerMtok: given.price.cache_read_per_mtok,
    cacheWritePerMtok: given.price.cache_write_per_mtok,
  },
});
