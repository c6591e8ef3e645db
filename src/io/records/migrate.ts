import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { Database } from './sqlite.js';

export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

/** The migrations this program knows, in order: `migrations/001-records.sql` and on. */
export function readMigrations(folder = new URL('./migrations/', import.meta.url)): Migration[] {
  return readdirSync(folder)
    .filter((file) => /^\d{3}-.+\.sql$/.test(file))
    .sort()
    .map((file) => {
      // A checkout that turns line ends around must not look like another migration.
      const sql = readFileSync(new URL(file, folder), 'utf8').replaceAll('\r\n', '\n');
      const checksum = createHash('sha256').update(sql).digest('hex');
      return { number: Number(file.slice(0, 3)), name: file.slice(0, -'.sql'.length), sql, checksum };
    });
}

/** Brings a file up to date, one transaction per migration. Refuses what this program does not understand. */
export function migrate(database: Database, migrations: readonly Migration[]): void {
  database.exec(
    'CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT',
  );
  checkApplied(database, migrations);
  for (const migration of migrations) apply(database, migration);
}

function checkApplied(database: Database, migrations: readonly Migration[]): void {
  const applied = database.prepare('SELECT number, name, checksum FROM migrations ORDER BY number').all();
  for (const { number, name, checksum } of applied as Omit<Migration, 'sql'>[]) {
    const known = migrations.find((migration) => migration.number === number);
    if (!known)
      throw new Error(
        `The store was written by a newer Sluice: it has the migration ${name}, this program knows up to ${migrations.at(-1)?.name ?? 'none'}. Run that newer Sluice, or restore a backup made before it.`,
      );
    if (known.checksum !== checksum)
      throw new Error(
        `The store was made with another migration ${name} than this program's: it cannot be trusted to fit.`,
      );
  }
}

function apply(database: Database, { number, name, sql, checksum }: Migration): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    // Asked inside the transaction: another process may be upgrading the same file.
    if (!database.prepare('SELECT 1 FROM migrations WHERE number = ?').get(number)) {
      database.exec(sql);
      database
        .prepare('INSERT INTO migrations (number, name, checksum, applied_at) VALUES (?, ?, ?, ?)')
        .run(number, name, checksum, Date.now());
    }
    database.exec('COMMIT');
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}
