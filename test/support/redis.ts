import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freeClusterPort, freePort } from './ports.js';

export interface RedisServer {
  readonly port: number;
  readonly url: string;
  /** Ends the process at once, as a crash would. */
  kill(): Promise<void>;
  /** Starts it again on the same port with the same files. */
  restart(): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  stop(): Promise<void>;
}

export interface RedisServerOptions {
  /** fsync of the append-only file; none = nothing is kept on disk. */
  readonly appendfsync?: 'always' | 'everysec';
  readonly args?: readonly string[];
  readonly port?: number;
}

let binary: string | undefined;

function serverBinary(): string {
  binary ??= ['redis-server', 'valkey-server'].find((name) => spawnSync(name, ['--version']).status === 0);
  if (!binary)
    throw new Error('No redis-server or valkey-server on the PATH: run `npm test`, which installs one.');
  return binary;
}

/** A real Redis on a free loopback port, with a folder of its own. */
export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const port = options.port ?? (await freePort());
  const folder = mkdtempSync(join(tmpdir(), 'sluice-redis-'));
  const persistence = options.appendfsync
    ? ['--appendonly', 'yes', '--appendfsync', options.appendfsync]
    : ['--appendonly', 'no'];
  const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder, '--save', '', ...persistence];
  const start = (): ChildProcess =>
    spawn(serverBinary(), [...args, ...(options.args ?? [])], { stdio: 'ignore' });

  let child = start();
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  };
  const stop = async (): Promise<void> => {
    await end('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await answers(port, child);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    port,
    url: `redis://127.0.0.1:${port}/0`,
    kill: () => end('SIGKILL'),
    restart: async () => {
      await end('SIGKILL');
      child = start();
      await answers(port, child);
    },
    signal: (signal) => void child.kill(signal),
    stop,
  };
}

export interface RedisCluster {
  readonly servers: readonly RedisServer[];
  readonly nodes: readonly string[];
  stop(): Promise<void>;
}

/** Three masters that share the slots; when one is away, the others go on. */
export async function startCluster(): Promise<RedisCluster> {
  const servers = await Promise.all(
    [0, 1, 2].map(async () =>
      startRedis({
        port: await freeClusterPort(),
        args: [
          '--cluster-enabled',
          'yes',
          '--cluster-node-timeout',
          '2000',
          '--cluster-require-full-coverage',
          'no',
        ],
      }),
    ),
  );
  const stop = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.stop()));
  };
  try {
    await joinCluster(servers);
  } catch (error) {
    await stop();
    throw error;
  }
  return { servers, nodes: servers.map(({ port }) => `127.0.0.1:${port}`), stop };
}

async function joinCluster(servers: readonly RedisServer[]): Promise<void> {
  const clients = servers.map(({ port }) => plainClient(port));
  try {
    const share = Math.ceil(16384 / clients.length);
    for (const [i, client] of clients.entries()) {
      const slots = Array.from({ length: Math.min(share, 16384 - i * share) }, (_, slot) => i * share + slot);
      await client.call('CLUSTER', 'ADDSLOTS', ...slots);
      await client.call('CLUSTER', 'SET-CONFIG-EPOCH', i + 1);
    }
    for (const { port } of servers.slice(1)) await clients[0]!.call('CLUSTER', 'MEET', '127.0.0.1', port);
    for (const client of clients) {
      await until(async () => {
        const info = String(await client.call('CLUSTER', 'INFO'));
        return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${clients.length}`);
      });
    }
  } finally {
    for (const client of clients) client.disconnect();
  }
}

export interface RedisFamily {
  readonly master: RedisServer;
  readonly replica: RedisServer;
  readonly sentinels: readonly string[];
  readonly name: string;
  stop(): Promise<void>;
}

/** A master, its replica, and one Sentinel that suffices to move the mastership. */
export async function startSentinelFamily(): Promise<RedisFamily> {
  const master = await startRedis();
  const replica = await startRedis({ args: ['--replicaof', '127.0.0.1', `${master.port}`] });
  const observer = plainClient(master.port);
  await until(async () => /state=online/.test(await observer.info('replication')));
  observer.disconnect();

  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'sluice-sentinel-'));
  const file = join(folder, 'sentinel.conf');
  writeFileSync(
    file,
    `port ${port}
bind 127.0.0.1
dir ${folder}
sentinel monitor house 127.0.0.1 ${master.port} 1
sentinel down-after-milliseconds house 500
sentinel failover-timeout house 3000
`,
  );
  const sentinel = spawn(serverBinary(), [file, '--sentinel'], { stdio: 'ignore' });
  const stop = async (): Promise<void> => {
    if (sentinel.exitCode === null) {
      const exited = once(sentinel, 'exit');
      sentinel.kill('SIGKILL');
      await exited;
    }
    await Promise.all([master.stop(), replica.stop()]);
    rmSync(folder, { recursive: true, force: true });
  };
  await answers(port, sentinel);
  const watcher = plainClient(port);
  await until(async () => (await replicasKnown(watcher)) === 1);
  watcher.disconnect();
  return { master, replica, sentinels: [`127.0.0.1:${port}`], name: 'house', stop };
}

async function replicasKnown(sentinel: Redis): Promise<number> {
  const replicas = await sentinel.call('SENTINEL', 'REPLICAS', 'house');
  return Array.isArray(replicas) ? replicas.length : 0;
}

/** A client that waits patiently, for the tests' own questions. */
export function plainClient(port: number, login: { password?: string; db?: number } = {}): Redis {
  const client = new Redis({
    ...login,
    port,
    host: '127.0.0.1',
    protocol: 2,
    retryStrategy: () => 50,
    maxRetriesPerRequest: null,
  });
  client.on('error', () => {});
  return client;
}

async function answers(port: number, child: ChildProcess): Promise<void> {
  const client = plainClient(port);
  try {
    await until(async () => {
      if (child.exitCode !== null)
        throw new Error(`The server on port ${port} ended with ${child.exitCode}.`);
      return client.ping().then(
        () => true,
        (error: unknown) => String(error).includes('NOAUTH'), // it wants a password: it is up
      );
    });
  } finally {
    client.disconnect();
  }
}

/** Waits for a condition, never for luck. */
export async function until(condition: () => boolean | Promise<boolean>, timeoutMs = 15_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error('The condition did not come about in time.');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
