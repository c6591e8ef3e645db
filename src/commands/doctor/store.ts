import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Config } from '../../config/schema.js';
import { silentLog } from '../../core/log.js';
import { openEmbeddedRecords } from '../../io/records/embedded.js';
import { openRedis, type RedisClient } from '../../io/redis/connect.js';
import { redisOptions, storeFolder } from '../../store.js';
import { fail, milliseconds, ok, reasonOf, warn, type Finding } from './finding.js';

const LITTLE_SPACE_BYTES = 256 * 1_048_576;
const SLOW_MS = 50;

export async function examineStore(config: Config): Promise<Finding[]> {
  if (config.store.kind === 'redis') return examineRedis(config);
  const folder = storeFolder(config);
  if (folder === null)
    return [warn('store', 'in memory: nothing survives a restart', 'set store.path to a folder')];
  return existsSync(folder)
    ? [...examineFolder(folder), ...(await examineEmbedded(folder))]
    : [examineParent(folder)];
}

function examineParent(folder: string): Finding {
  let parent = dirname(folder);
  while (!existsSync(parent)) parent = dirname(parent);
  try {
    accessSync(parent, constants.W_OK);
    return ok('store', `${folder} will be made at the first start`);
  } catch {
    return fail('store', `${folder} cannot be made`, `give this user the right to write in ${parent}`);
  }
}

function examineFolder(folder: string): Finding[] {
  const findings: Finding[] = [];
  for (const path of [folder, join(folder, 'sluice.db'), join(folder, 'pepper')].filter(existsSync)) {
    const mode = statSync(path).mode & 0o777;
    const octal = mode.toString(8);
    if ((mode & 0o077) !== 0)
      findings.push(warn('permissions', `${path} is open to others (${octal})`, `chmod go= ${path}`));
  }
  try {
    accessSync(folder, constants.R_OK | constants.W_OK);
  } catch {
    findings.push(fail('permissions', `${folder} cannot be written`, `make this user its owner`));
  }
  return findings.length > 0 ? findings : [ok('permissions', `${folder} is open to this user alone`)];
}

async function examineEmbedded(folder: string): Promise<Finding[]> {
  try {
    const records = await openEmbeddedRecords({ path: folder });
    try {
      const startMs = performance.now();
      await records.ping();
      const { bavail, bsize } = await statfs(folder);
      const free = bavail * bsize;
      const space = `${Math.floor(free / 1_048_576)} MiB free`;
      return [
        ok('store', `embedded, answers in ${milliseconds(performance.now() - startMs)}`),
        free < LITTLE_SPACE_BYTES
          ? warn('disk', space, 'make room before the store cannot write')
          : ok('disk', space),
      ];
    } finally {
      await records.close();
    }
  } catch (error) {
    return [
      fail('store', `${folder}: ${reasonOf(error)}`, 'restore a backup, or point store.path elsewhere'),
    ];
  }
}

async function examineRedis(config: Config): Promise<Finding[]> {
  try {
    const link = await openRedis({ ...redisOptions(config, silentLog), commandTimeoutMs: 2_000 });
    try {
      return [...(await examineClock(link.client)), ...(await examineServer(link.client))];
    } finally {
      await link.close();
    }
  } catch (error) {
    return [fail('store', `redis: ${reasonOf(error)}`, 'check store.redis, its password and the network')];
  }
}

async function examineClock(client: RedisClient): Promise<Finding[]> {
  const startMs = Date.now();
  const ticksMs = performance.now();
  const [seconds, micros] = await client.time();
  const tookMs = performance.now() - ticksMs;
  const skewMs = Math.abs(Number(seconds) * 1_000 + Number(micros) / 1_000 - (startMs + tookMs / 2));
  const pace = `redis, answers in ${milliseconds(tookMs)}`;
  const clock = `${milliseconds(skewMs)} apart from Redis`;
  return [
    tookMs > SLOW_MS
      ? warn('store', pace, 'bring Redis nearer: every request waits for it')
      : ok('store', pace),
    skewMs > 1_000 ? warn('clock', clock, 'keep both clocks with NTP') : ok('clock', clock),
  ];
}

async function examineServer(client: RedisClient): Promise<Finding[]> {
  const info = readInfo(await client.info());
  const version = info['redis_version'] ?? 'unknown';
  const policy = info['maxmemory_policy'] ?? 'unknown';
  const durable = info['aof_enabled'] === '1' || Number(info['rdb_last_save_time'] ?? 0) > 0;
  return [
    Number.parseInt(version, 10) >= 7
      ? ok('redis version', version)
      : warn('redis version', version, 'run Redis 7 or newer, or Valkey'),
    policy === 'noeviction'
      ? ok('eviction', policy)
      : fail('eviction', policy, 'set maxmemory-policy noeviction: evicted keys are lost keys and credits'),
    info['aof_enabled'] === '1'
      ? ok('persistence', 'append-only file')
      : warn(
          'persistence',
          durable ? 'snapshots only' : 'none',
          'set appendonly yes, or a crash loses records',
        ),
  ];
}

const readInfo = (text: string): Record<string, string | undefined> =>
  Object.fromEntries(text.split(/\r?\n/).map((line) => line.split(':', 2) as [string, string]));
