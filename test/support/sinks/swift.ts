import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { freePort } from '../ports.js';
import { repositoryRoot } from '../repository.js';

export interface Swift {
  readonly url: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  stop(): Promise<void>;
}

const packages = [
  'swift-proxy',
  'swift-account',
  'swift-container',
  'swift-object',
  'python3-swift',
  'memcached',
];
const programs = [
  'memcached',
  'swift-ring-builder',
  'swift-proxy-server',
  'swift-account-server',
  'swift-container-server',
  'swift-object-server',
];
const roles = ['account', 'container', 'object'] as const;
const START_MS = 60_000;
const [ACCOUNT, USER, SECRET] = ['test', 'tester', 'testing'];

interface Packages {
  readonly findProgram: (...names: readonly string[]) => string | null;
  readonly installOnDebian: (packages: readonly string[]) => boolean;
  readonly installCommand: (names: Readonly<Record<'apt' | 'dnf' | 'apk' | 'brew', string>>) => string;
}

/** null = it is there now; else what a person has to run. */
export const provideSwift = async (): Promise<string | null> => {
  const file = pathToFileURL(join(repositoryRoot, 'test', 'support', 'packages.mjs'));
  const { findProgram, installOnDebian, installCommand } = (await import(file.href)) as Packages;
  const isThere = (): boolean => programs.every((program) => findProgram(program) !== null);
  if (isThere() || (installOnDebian(packages) && isThere())) return null;
  const names = packages.join(' ');
  return installCommand({
    apt: names,
    dnf: packages.map((name) => `openstack-${name}`).join(' '),
    apk: names,
    brew: names,
  });
};

/** OpenStack Swift with its S3 interface: a real store on this machine, one copy of everything in a folder of its own. */
export const startSwift = async (): Promise<Swift> => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-swift-'));
  const ports = {
    memory: await freePort(),
    proxy: await freePort(),
    account: await freePort(),
    container: await freePort(),
    object: await freePort(),
  };
  mkdirSync(join(folder, 'devices', 'disk'), { recursive: true });
  for (const [name, text] of Object.entries(filesOf(folder, ports))) writeFileSync(join(folder, name), text);
  for (const role of roles) buildRing(folder, role, ports[role]);

  const children: ChildProcess[] = [];
  let told = '';
  const run = (program: string, ...args: readonly string[]): void => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (told = (told + chunk.toString()).slice(-20_000)));
    child.on('error', (error) => (told += error.message));
    children.push(child);
  };
  run('memcached', '-l', '127.0.0.1', '-p', String(ports.memory), '-U', '0', '-u', userInfo().username);
  for (const role of [...roles, 'proxy'] as const)
    run(`swift-${role}-server`, join(folder, `${role}-server.conf`), '--verbose');
  const stop = async (): Promise<void> => {
    for (const child of children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    rmSync(folder, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${ports.proxy}`;
  for (const untilMs = Date.now() + START_MS; !(await answers(`${url}/healthcheck`));) {
    if (Date.now() < untilMs) continue;
    await stop();
    throw new Error(`Swift did not start:\n${told}`);
  }
  return { url, accessKeyId: `${ACCOUNT}:${USER}`, secretAccessKey: SECRET, stop };
};

const answers = async (url: string): Promise<boolean> => {
  try {
    const response = await fetch(url);
    await response.arrayBuffer();
    return response.ok;
  } catch {
    await new Promise((resolve) => setTimeout(resolve, 100));
    return false;
  }
};

const buildRing = (folder: string, role: string, port: number): void => {
  for (const args of [
    ['create', '4', '1', '0'],
    [
      'add',
      '--region',
      '1',
      '--zone',
      '1',
      '--ip',
      '127.0.0.1',
      '--port',
      String(port),
      '--device',
      'disk',
      '--weight',
      '1',
    ],
    ['rebalance'],
  ]) {
    const run = spawnSync('swift-ring-builder', [join(folder, `${role}.builder`), ...args], {
      encoding: 'utf8',
    });
    if (run.status !== 0) throw new Error(`swift-ring-builder ${args[0] ?? ''}: ${run.stderr || run.stdout}`);
  }
};

type Ports = Readonly<Record<'proxy' | 'memory' | (typeof roles)[number], number>>;

const filesOf = (folder: string, ports: Ports): Readonly<Record<string, string>> => {
  const shared = (port: number): string => `[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${port}
workers = 0
user = ${userInfo().username}
swift_dir = ${folder}
devices = ${join(folder, 'devices')}
mount_check = false
disable_fallocate = true
log_level = WARNING
`;
  const store = (role: (typeof roles)[number]): string => `${shared(ports[role])}
[pipeline:main]
pipeline = ${role}-server

[app:${role}-server]
use = egg:swift#${role}
`;
  return {
    'swift.conf': `[swift-hash]
swift_hash_path_prefix = sluice
swift_hash_path_suffix = test

[storage-policy:0]
name = only
default = yes
`,
    'account-server.conf': store('account'),
    'container-server.conf': store('container'),
    'object-server.conf': store('object'),
    'proxy-server.conf': `${shared(ports.proxy)}
[pipeline:main]
pipeline = catch_errors gatekeeper healthcheck cache s3api tempauth proxy-server

[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true

[filter:tempauth]
use = egg:swift#tempauth
user_${ACCOUNT}_${USER} = ${SECRET} .admin

[filter:s3api]
use = egg:swift#s3api
location = eu-central-1

[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:${ports.memory}

[filter:catch_errors]
use = egg:swift#catch_errors

[filter:gatekeeper]
use = egg:swift#gatekeeper

[filter:healthcheck]
use = egg:swift#healthcheck
`,
  };
};
