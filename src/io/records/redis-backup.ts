import { createReadStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Redis } from 'ioredis';
import { openRedis } from '../redis/connect.js';
import type { RedisLink, RedisOptions } from '../redis/connect.js';

export interface RedisBackupOptions extends RedisOptions {
  readonly keyPrefix: string;
  /** The file to make; it must not exist yet. */
  readonly to: string;
}

export interface RedisRestoreOptions extends RedisOptions {
  readonly from: string;
  /** The one the backup must have been made under: keys are put back under their own names. */
  readonly keyPrefix: string;
  /** Overwrite keys that are there; otherwise the first one stops the restore. */
  readonly replace?: boolean;
}

/** Lines of the file: a head, one per key, and a foot that proves it whole. */
interface Head {
  readonly sluice_backup: 1;
  readonly key_prefix: string;
  readonly created_at: string;
}
interface Entry {
  readonly key: string;
  /** Milliseconds since 1970, or null. */
  readonly expires_at: number | null;
  /** What DUMP gave, in base64. */
  readonly dump: string;
}
interface Foot {
  readonly keys: number;
}

const COMMAND_TIMEOUT_MS = 30_000;
const SCANNED_AT_ONCE = 500;

/** Writes every key under the prefix as NDJSON. All keys of one partition are read in the same instant. */
export async function backupRedis(options: RedisBackupOptions): Promise<{ readonly keys: number }> {
  const link = await openRedis({ ...options, commandTimeoutMs: COMMAND_TIMEOUT_MS });
  const draft = `${options.to}.partial-${process.pid}`;
  try {
    const file = await open(draft, 'wx', 0o600);
    let keys = 0;
    try {
      const head: Head = {
        sluice_backup: 1,
        key_prefix: options.keyPrefix,
        created_at: new Date().toISOString(),
      };
      await writeLine(file, head);
      for (const master of link.masters()) {
        for (const group of await findGroups(master, options.keyPrefix)) {
          for (const entry of await dumpTogether(master, group)) {
            await writeLine(file, entry);
            keys++;
          }
        }
      }
      await writeLine(file, { keys } satisfies Foot);
      await file.sync();
    } finally {
      await file.close();
    }
    await publish(draft, options.to);
    return { keys };
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  } finally {
    await link.close();
  }
}

/** Puts the keys of a backup back. The file is read through once before anything is written. */
export async function restoreRedis(options: RedisRestoreOptions): Promise<{ readonly keys: number }> {
  await checkWhole(options.from, options.keyPrefix);
  const link = await openRedis({ ...options, commandTimeoutMs: COMMAND_TIMEOUT_MS });
  try {
    let keys = 0;
    for await (const line of readLines(options.from)) {
      if ('dump' in line && (await restore(link, line, options.replace ?? false))) keys++;
    }
    return { keys };
  } finally {
    await link.close();
  }
}

/** Keys by hash tag: one partition each; keys without a tag stand alone. */
async function findGroups(master: Redis, prefix: string): Promise<Iterable<Set<string>>> {
  const groups = new Map<string, Set<string>>();
  const pattern = `${prefix.replace(/[\\*?[\]]/g, '\\$&')}*`;
  for (let cursor = '0'; ;) {
    const [next, keys] = await master.scan(cursor, 'MATCH', pattern, 'COUNT', SCANNED_AT_ONCE);
    for (const key of keys) {
      const tag = /\{([^}]+)\}/.exec(key)?.[0] ?? key;
      const group = groups.get(tag) ?? new Set();
      groups.set(tag, group.add(key));
      // A collection that is new during the scan may show only half of its pair.
      const pair = /^(.*\{[^}]+\}:)([ri])(:.*)$/s.exec(key);
      if (pair) group.add(`${pair[1]!}${pair[2] === 'r' ? 'i' : 'r'}${pair[3]!}`);
    }
    if (next === '0') return groups.values();
    cursor = next;
  }
}

async function dumpTogether(master: Redis, keys: ReadonlySet<string>): Promise<Entry[]> {
  const transaction = master.multi();
  for (const key of keys) transaction.dumpBuffer(key).pttl(key);
  const replies = (await transaction.exec()) ?? [];
  const now = Date.now();
  return [...keys].flatMap((key, i) => {
    const [dumpError, dump] = replies[i * 2] ?? [];
    const [ttlError, ttl] = replies[i * 2 + 1] ?? [];
    if (dumpError || ttlError) throw dumpError ?? ttlError ?? new Error('DUMP failed.');
    if (!Buffer.isBuffer(dump)) return []; // gone since the scan
    const ttlMs = Number(ttl);
    return [{ key, expires_at: ttlMs < 0 ? null : now + ttlMs, dump: dump.toString('base64') }];
  });
}

async function restore(
  link: RedisLink,
  { key, expires_at, dump }: Entry,
  replace: boolean,
): Promise<boolean> {
  if (expires_at !== null && expires_at <= Date.now()) return false;
  const ttlMs = expires_at === null ? 0 : expires_at - Date.now();
  try {
    const value = Buffer.from(dump, 'base64');
    if (replace) await link.client.restore(key, ttlMs, value, 'REPLACE');
    else await link.client.restore(key, ttlMs, value);
    return true;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      reason.startsWith('BUSYKEY')
        ? `The key ${key} is there already: restore into an empty Redis, or ask to replace.`
        : `The key ${key} cannot be restored: ${reason}`,
    );
  }
}

async function checkWhole(path: string, keyPrefix: string): Promise<void> {
  let entries = 0;
  let isHeaded = false;
  let isWhole = false;
  for await (const line of readLines(path)) {
    isHeaded ||= 'sluice_backup' in line;
    if (!isHeaded) throw new Error(`${path} is not a backup of Sluice's keys in Redis.`);
    if ('sluice_backup' in line && line.key_prefix !== keyPrefix)
      throw new Error(`The backup was made under the key prefix ${line.key_prefix}, not ${keyPrefix}.`);
    if ('dump' in line) entries++;
    isWhole = 'keys' in line && line.keys === entries;
  }
  if (!isWhole) throw new Error(`The backup ${path} is cut short.`);
}

async function* readLines(path: string): AsyncGenerator<Head | Entry | Foot> {
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    let line: unknown;
    try {
      line = JSON.parse(text);
    } catch {
      throw new Error(`The backup ${path} holds a line that is not JSON.`);
    }
    if (typeof line === 'object' && line !== null) yield line as Head | Entry | Foot;
  }
}

const writeLine = (file: FileHandle, line: Head | Entry | Foot): Promise<void> =>
  file.appendFile(`${JSON.stringify(line)}\n`);

async function publish(draft: string, target: string): Promise<void> {
  const claim = await open(target, 'wx', 0o600).catch(() => {
    throw new Error(`${target} exists already; a backup never overwrites.`);
  });
  await claim.close();
  await rename(draft, target);
}
