import { Cluster, Redis } from 'ioredis';
import type { ClusterOptions, RedisOptions as IoRedisOptions } from 'ioredis';
import { silentLog } from '../../core/log.js';
import type { Log } from '../../core/log.js';
import { parseRedisUrl, pick } from './address.js';
import type { RedisAddress } from './address.js';
import { keepSubscribed } from './subscribe.js';
import type { Subscriber } from './subscribe.js';

export interface RedisOptions {
  /** `redis://` or `rediss://`. With Sentinel or Cluster it gives user, password, database and TLS only. */
  readonly url: string;
  /** Start nodes of a Cluster, as URLs or host:port; empty = no Cluster. */
  readonly cluster?: readonly string[];
  readonly sentinel?: RedisSentinel | null;
  readonly commandTimeoutMs?: number;
  readonly connectTimeoutMs?: number;
  /** How long opening waits before it gives up. */
  readonly readyTimeoutMs?: number;
  readonly log?: Log;
}

export interface RedisSentinel {
  /** The name under which the Sentinels know the master. */
  readonly name: string;
  readonly nodes: readonly string[];
  readonly username?: string;
  readonly password?: string;
  readonly tls?: boolean;
}

export type RedisClient = Redis | Cluster;

export interface RedisLink {
  readonly client: RedisClient;
  /** Listens on a connection of its own and renews it for as long as the link is open. */
  subscribe(channel: string, subscriber: Subscriber): Promise<void>;
  /** One client per master: the place to SCAN. */
  masters(): readonly Redis[];
  close(): Promise<void>;
}

const KEEP_ALIVE_MS = 10_000;
const MAX_RECONNECT_DELAY_MS = 1_000;
const CLOSE_TIMEOUT_MS = 1_000;

/** Opens a client that fails fast while the server is away and finds it again by itself. */
export async function openRedis(options: RedisOptions): Promise<RedisLink> {
  const log = options.log ?? silentLog;
  const client = createClient(options);
  const lastError = observe(client, log);
  try {
    await waitUntilReady(client, options.readyTimeoutMs ?? 5_000, lastError);
  } catch (error) {
    client.disconnect();
    throw error;
  }
  const subscriptions = new Set<() => void>();
  return {
    client,
    async subscribe(channel, subscriber) {
      const subscription = keepSubscribed(() => createSubscriber(client), channel, subscriber);
      subscriptions.add(subscription.close);
      await within(subscription.subscribed, options.readyTimeoutMs ?? 5_000, lastError);
    },
    masters: () => (client instanceof Cluster ? client.nodes('master') : [client]),
    close: () => {
      for (const close of subscriptions) close();
      return end(client);
    },
  };
}

function createClient(options: RedisOptions): RedisClient {
  const login = parseRedisUrl(options.url);
  const { sentinel, cluster = [] } = options;
  if (cluster.length > 0) {
    const nodes = cluster.map((text) => parseRedisUrl(text));
    const { username, password, tls } = [...nodes, login].find((node) => node.password ?? node.tls) ?? login;
    return new Cluster(
      nodes.map(({ host, port }) => ({ host, port })),
      clusterOptions(nodeOptions(options, pick({ username, password, tls }))),
    );
  }
  const node = nodeOptions(options, login);
  if (sentinel) {
    return new Redis({
      ...node,
      name: sentinel.name,
      sentinels: sentinel.nodes.map((text) => {
        const { host, port } = parseRedisUrl(text, 26379);
        return { host, port };
      }),
      ...pick({ sentinelUsername: sentinel.username, sentinelPassword: sentinel.password }),
      ...(sentinel.tls ? { sentinelTLS: {} } : {}),
      ...(login.tls ? { enableTLSForSentinelMode: true } : {}),
      sentinelCommandTimeout: node.connectTimeout,
      sentinelRetryStrategy: reconnectDelayMs,
    });
  }
  return new Redis(node);
}

/** What every connection shares, so that a caller never waits for a dead server. */
function nodeOptions(options: RedisOptions, login: Partial<RedisAddress>) {
  const commandTimeout = options.commandTimeoutMs ?? 250;
  return {
    ...pick(login),
    protocol: 2,
    commandTimeout,
    connectTimeout: options.connectTimeoutMs ?? 2_000,
    disconnectTimeout: 500,
    // A peer that vanished without a FIN is only noticed by its silence.
    socketTimeout: Math.max(3_000, commandTimeout * 4),
    keepAlive: KEEP_ALIVE_MS,
    enableOfflineQueue: false,
    enableAutoPipelining: false,
    maxRetriesPerRequest: 1,
    retryStrategy: reconnectDelayMs,
    // After a failover the old master answers READONLY: leave it and send the command again.
    reconnectOnError: (error: Error) => (error.message.startsWith('READONLY') ? 2 : false),
  } as const satisfies IoRedisOptions;
}

function clusterOptions(node: ReturnType<typeof nodeOptions>) {
  const { enableOfflineQueue, retryStrategy, ...redisOptions } = node;
  return {
    enableOfflineQueue, // acts in a Cluster at this level only
    clusterRetryStrategy: retryStrategy,
    slotsRefreshTimeout: node.connectTimeout,
    maxRedirections: 8,
    retryDelayOnFailover: 50,
    retryDelayOnClusterDown: 50,
    retryDelayOnTryAgain: 50,
    redisOptions,
  } as const satisfies ClusterOptions;
}

/** In a Cluster every node hears every PUBLISH, so any node will do, and another one after a loss. */
function createSubscriber(client: RedisClient): Redis | null {
  const nodes = client instanceof Cluster ? client.nodes() : [client];
  const node = nodes[Math.floor(Math.random() * nodes.length)];
  return (
    node?.duplicate({
      enableOfflineQueue: true,
      lazyConnect: false,
      readOnly: false,
      autoResubscribe: false,
      maxRetriesPerRequest: null,
      commandTimeout: 2_000,
      socketTimeout: undefined,
      retryStrategy: null,
      sentinelRetryStrategy: () => null,
    }) ?? null
  );
}

/** Keeps the process safe from 'error' events and remembers the last one for the message of a failed start. */
function observe(client: RedisClient, log: Log): () => string {
  let last = 'no answer';
  let isUp = false;
  const note = (error: unknown): void => {
    last = error instanceof Error && error.message !== '' ? error.message : last;
  };
  client.on('error', note);
  if (client instanceof Cluster) client.on('node error', note);
  client.on('ready', () => {
    if (!isUp) log.info({}, 'Redis is connected.');
    isUp = true;
  });
  client.on('close', () => {
    if (isUp) log.warn({ reason: last }, 'The connection to Redis is lost.');
    isUp = false;
  });
  return () => last;
}

async function waitUntilReady(client: RedisClient, timeoutMs: number, reason: () => string): Promise<void> {
  const ready = new Promise<void>((resolve, reject) => {
    client.once('ready', resolve);
    client.once('end', () => reject(new Error(`Redis closed the connection: ${reason()}`)));
  });
  await within(ready, timeoutMs, reason);
  // A Cluster connects to a node with its first command: do it now, not under the first request.
  if (client instanceof Cluster) {
    await within(Promise.all(client.nodes('master').map((node) => node.ping())), timeoutMs, reason);
  }
}

async function within<T>(promise: Promise<T>, timeoutMs: number, reason: () => string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const expiry = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`Redis is not ready after ${timeoutMs} ms: ${reason()}`)),
      timeoutMs,
    );
  });
  try {
    return await Promise.race([promise, expiry]);
  } finally {
    clearTimeout(timer);
  }
}

/** A client between two attempts to connect has nothing to end and never says 'end'. */
async function end(client: RedisClient): Promise<void> {
  const isConnected = ['connecting', 'connect', 'ready'].includes(client.status);
  const ended = new Promise<void>((resolve) => client.once('end', () => resolve()));
  client.disconnect();
  if (isConnected) await within(ended, CLOSE_TIMEOUT_MS, () => 'closing').catch(() => {});
}

const reconnectDelayMs = (attempt: number): number =>
  Math.min(25 * 2 ** Math.min(attempt, 10), MAX_RECONNECT_DELAY_MS);
