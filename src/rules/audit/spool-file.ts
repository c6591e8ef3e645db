import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { newId } from '../../core/ids.js';
import { migrate, readMigrations } from '../../io/records/migrate.js';
import { openDatabase, type Database } from '../../io/records/sqlite.js';

export type Durability = 'async' | 'process' | 'disk';

export const MEMORY = ':memory:';
const FILE = 'spool.db';
const MARK = 'spool.damaged';
const SIDE_FILES = ['', '-wal', '-shm'];
const SQLITE_FULL = 13;
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

const codeOf = (error: unknown): number =>
  ((error as { errcode?: unknown } | null)?.errcode as number | undefined) ?? 0;

/** The file itself is damaged: nothing written to it can be trusted. The low byte is the kind of fault. */
export const isDamage = (error: unknown): boolean =>
  [SQLITE_CORRUPT, SQLITE_NOTADB].includes(codeOf(error) & 0xff);

export const isFull = (error: unknown): boolean => (codeOf(error) & 0xff) === SQLITE_FULL;

export interface OpenedSpool {
  readonly database: Database;
  readonly instanceId: string;
  /** The damaged file that was set aside before this one was made; null = none. */
  readonly replaces: string | null;
}

/**
 * Opens the spool of a folder. One that turns out to be damaged is marked; whoever opens the folder next, in a thread
 * that has never had it open, sets it aside and begins a new one under a new instance id.
 */
export function openSpoolFile(folder: string, durability: Durability): OpenedSpool {
  if (folder === MEMORY) return open(MEMORY, durability);
  const file = prepareFile(folder);
  try {
    return open(file, durability);
  } catch (error) {
    const damage = asDamage(error, file);
    if (damage) markDamaged(folder);
    throw damage ?? error;
  }
}

/** A damaged page may also read as a page that is empty: then SQLite finds no fault, but its own check does. */
function asDamage(error: unknown, file: string): unknown {
  if (isDamage(error)) return error;
  try {
    const database = openDatabase(file);
    try {
      const [row] = database.prepare('PRAGMA quick_check(1)').all() as object[];
      if (Object.values(row ?? {})[0] === 'ok') return null;
    } finally {
      database.close();
    }
  } catch (fault) {
    if (!isDamage(fault)) return null;
  }
  return Object.assign(new Error('The spool is damaged.', { cause: error }), { errcode: SQLITE_CORRUPT });
}

/** SQLite gives its side files the mode of the main file, so that one is made first. */
function prepareFile(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (existsSync(join(folder, MARK))) setAside(folder);
  const file = join(folder, FILE);
  closeSync(openSync(file, 'a', 0o600));
  return file;
}

function open(file: string, durability: Durability): OpenedSpool {
  const database = openDatabase(file);
  try {
    // What is deleted is given back to the disk a little at a time, and erased events are overwritten.
    database.exec('PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA secure_delete = FAST');
    database.exec(`PRAGMA synchronous = ${durability === 'disk' ? 'FULL' : 'NORMAL'}`);
    migrate(database, readMigrations(new URL('./migrations/', import.meta.url)));
    database
      .prepare('INSERT OR IGNORE INTO instance (only, instance_id, replaces) VALUES (1, ?, ?)')
      .run(newId('inst'), file === MEMORY ? null : latestDamaged(dirname(file)));
    const row = database.prepare('SELECT instance_id, replaces FROM instance').get();
    const { instance_id: instanceId, replaces } = row as { instance_id: string; replaces: string | null };
    return { database, instanceId, replaces };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Not moved at once: a connection that is still closing would take the side files of its successor along. */
export const markDamaged = (folder: string): void => writeFileSync(join(folder, MARK), '', { mode: 0o600 });

/** Moves a damaged spool out of the way, for whoever wants to look at it. */
function setAside(folder: string): void {
  const suffix = `.damaged-${new Date().toISOString().replaceAll(':', '-')}`;
  for (const side of SIDE_FILES) {
    const file = join(folder, FILE + side);
    if (existsSync(file)) renameSync(file, join(folder, FILE + suffix + side));
  }
  rmSync(join(folder, MARK));
}

const latestDamaged = (folder: string): string | null =>
  readdirSync(folder)
    .map((name) => basename(name))
    .filter((name) => name.startsWith(`${FILE}.damaged-`) && !/-(wal|shm)$/.test(name))
    .sort()
    .at(-1) ?? null;

/** Bytes that the disk below a folder still has for us. */
export function freeBytesBelow(folder: string): number {
  if (folder === MEMORY) return Infinity;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
