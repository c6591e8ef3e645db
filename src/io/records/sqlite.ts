import { createRequire } from 'node:module';

export type SqlValue = string | number | null;

export interface Statement {
  run(...values: readonly SqlValue[]): { readonly changes: number | bigint };
  get(...values: readonly SqlValue[]): unknown;
  all(...values: readonly SqlValue[]): unknown[];
}

/** The part of the `node:sqlite` API that Sluice uses; both engines speak it. */
export interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

interface Engine {
  readonly DatabaseSync: new (file: string, options?: { readonly readOnly?: boolean }) => Database;
}

const require = createRequire(import.meta.url);
let engine: Engine | undefined;

export function openDatabase(file: string, options: { readonly readOnly?: boolean } = {}): Database {
  engine ??= loadEngine();
  const database = new engine.DatabaseSync(file, options);
  database.exec('PRAGMA busy_timeout = 5000');
  return database;
}

/** Node's own engine where it has one (22 and later), else the same SQLite as a package. */
function loadEngine(): Engine {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => {}; // Node 22 calls its engine experimental each time it is loaded
  try {
    return require('node:sqlite') as Engine;
  } catch {
    return require('@photostructure/sqlite') as Engine;
  } finally {
    process.emitWarning = emitWarning;
  }
}
