import { chmodSync, closeSync, copyFileSync, existsSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DATABASE_FILE } from './embedded.js';
import { openDatabase } from './sqlite.js';

export interface EmbeddedBackupOptions {
  /** The folder of the store; its server may be running. */
  readonly path: string;
  /** The folder to make; it must not exist yet. To restore, copy it to the store's place while no server runs. */
  readonly to: string;
}

/** Files of the folder without which the records are of no use. */
const COMPANIONS = ['pepper'];

/** Copies an embedded store as it is at one instant. The new folder appears whole or not at all. */
export function backupEmbedded({ path, to }: EmbeddedBackupOptions): { readonly bytes: number } {
  const source = join(path, DATABASE_FILE);
  const target = resolve(to);
  if (!existsSync(source)) throw new Error(`There is no store in ${path}.`);
  if (existsSync(target)) throw new Error(`${to} exists already; a backup never overwrites.`);

  const draft = `${target}.partial-${process.pid}`;
  mkdirSync(draft, { recursive: true, mode: 0o700 });
  try {
    snapshot(source, join(draft, DATABASE_FILE));
    for (const name of COMPANIONS.filter((file) => existsSync(join(path, file)))) {
      copyFileSync(join(path, name), join(draft, name));
      seal(join(draft, name));
    }
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw error;
  }
  syncToDisk(dirname(target));
  return { bytes: statSync(join(target, DATABASE_FILE)).size };
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
