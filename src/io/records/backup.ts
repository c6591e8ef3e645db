import { chmodSync, closeSync, copyFileSync, existsSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DATABASE_FILE } from './embedded.js';
import { lockFolder } from './folder-lock.js';
import { openDatabase } from './sqlite.js';

export interface EmbeddedBackupOptions {
  /** The folder of the store; its server may be running. */
  readonly path: string;
  /** The folder to make; it must not exist yet. */
  readonly to: string;
  /** Files of the folder that belong to the records. */
  readonly companions: readonly string[];
}

export interface EmbeddedRestoreOptions {
  /** The folder of a backup. */
  readonly from: string;
  /** The folder of the store; no server may be running on it. */
  readonly path: string;
  readonly companions: readonly string[];
  /** Set aside a store that is there already; otherwise that is refused. */
  readonly replace: boolean;
}

/** What SQLite keeps beside the database while it is open. */
const SIDE_FILES = [`${DATABASE_FILE}-wal`, `${DATABASE_FILE}-shm`];

/** Copies an embedded store as it is at one instant. The new folder appears whole or not at all. */
export function backupEmbedded({ path, to, companions }: EmbeddedBackupOptions): { readonly bytes: number } {
  const source = join(path, DATABASE_FILE);
  const target = resolve(to);
  if (!existsSync(source)) throw new Error(`There is no store in ${path}.`);
  if (existsSync(target)) throw new Error(`${to} exists already; a backup never overwrites.`);

  const draft = `${target}.partial-${process.pid}`;
  mkdirSync(draft, { recursive: true, mode: 0o700 });
  try {
    snapshot(source, join(draft, DATABASE_FILE));
    copyCompanions(companions, path, draft);
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw error;
  }
  syncToDisk(dirname(target));
  return { bytes: statSync(join(target, DATABASE_FILE)).size };
}

/** Puts a backup in the place of a store. What was there is moved to a folder beside its files, whose name is given. */
export function restoreEmbedded(options: EmbeddedRestoreOptions): { readonly setAside: string | null } {
  const { from, path, companions, replace } = options;
  const source = join(from, DATABASE_FILE);
  if (!existsSync(source)) throw new Error(`There is no backup of a store in ${from}.`);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const unlock = lockFolder(path);
  const draft = join(path, `restoring-${process.pid}`);
  try {
    mkdirSync(draft, { mode: 0o700 });
    snapshot(source, join(draft, DATABASE_FILE));
    copyCompanions(companions, from, draft);
    const kept = [DATABASE_FILE, ...SIDE_FILES, ...companions].filter((file) => existsSync(join(path, file)));
    if (kept.includes(DATABASE_FILE) && !replace)
      throw new Error(
        `There is a store in ${path} already: restore into an empty folder, or ask to replace.`,
      );
    const setAside = kept.length === 0 ? null : moveAside(path, kept);
    for (const file of [...companions, DATABASE_FILE])
      if (existsSync(join(draft, file))) renameSync(join(draft, file), join(path, file));
    syncToDisk(path);
    return { setAside };
  } finally {
    rmSync(draft, { recursive: true, force: true });
    unlock();
  }
}

function moveAside(path: string, files: readonly string[]): string {
  const folder = join(path, `replaced-${new Date().toISOString().replaceAll(':', '-')}`);
  mkdirSync(folder, { mode: 0o700 });
  for (const file of files) renameSync(join(path, file), join(folder, file));
  return folder;
}

function copyCompanions(companions: readonly string[], from: string, to: string): void {
  for (const name of companions.filter((file) => existsSync(join(from, file)))) {
    copyFileSync(join(from, name), join(to, name));
    seal(join(to, name));
  }
}

function snapshot(source: string, target: string): void {
  const database = openDatabase(source);
  try {
    database.prepare('VACUUM INTO ?').run(target);
  } finally {
    database.close();
  }
  seal(target);
}

function seal(file: string): void {
  chmodSync(file, 0o600);
  syncToDisk(file);
}

function syncToDisk(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
