import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from './sqlite.js';
import type { Database } from './sqlite.js';

const LOCK_FILE = 'serve.lock';
const OWNER_FILE = 'serve.owner';

/** A lock that nobody refers to would be collected, and so released. */
const held = new Set<Database>();

/**
 * Makes this process the only server of an embedded folder, until it releases the lock or ends in any way.
 * The kernel holds the lock, through SQLite: unlike a process id it cannot go stale after SIGKILL, cannot mistake a
 * reused id for its owner, and is seen from other containers that share the folder.
 */
export function lockFolder(path: string): () => void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const owner = join(path, OWNER_FILE);
  const lock = openLock(join(path, LOCK_FILE));
  try {
    lock.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE');
  } catch (cause) {
    lock.close();
    throw new Error(`The folder ${path} is in use by another Sluice (${describeOwner(owner)}).`, { cause });
  }
  writeFileSync(owner, `process ${process.pid}, since ${new Date().toISOString()}\n`, { mode: 0o600 });
  held.add(lock);
  return () => {
    if (!held.delete(lock)) return;
    rmSync(owner, { force: true });
    lock.close();
  };
}

function openLock(file: string): Database {
  // Never opened when it is there: closing any handle of a file drops all locks this process has on it.
  if (!existsSync(file)) writeFileSync(file, '', { flag: 'a', mode: 0o600 });
  return openDatabase(file);
}

function describeOwner(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return 'its process is unknown';
  }
}
