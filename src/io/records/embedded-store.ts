import type { Committed, Expect, Page, Pointer, Step } from './records.js';
import type { Database, Statement } from './sqlite.js';

/** A record as it lies in the file; JSON stays text until it reaches its reader. */
export interface Row {
  readonly id: string;
  readonly revision: number;
  readonly json: string;
}

export type RowStep =
  (Omit<Extract<Step, { op: 'put' }>, 'value'> & { readonly json: string }) | Exclude<Step, { op: 'put' }>;

type Refused = Extract<Committed, { ok: false }>;
export type RowCommitted =
  Extract<Committed, { ok: true }> | (Omit<Refused, 'current'> & { readonly current: Row | null });

const PRUNED_AT_ONCE = 500;

/** The records in SQLite, as plain synchronous calls: the worker decides what shares a transaction. */
export class EmbeddedStore {
  readonly #database: Database;
  readonly #statements: ReturnType<typeof prepareAll>;

  constructor(database: Database) {
    this.#database = database;
    this.#statements = prepareAll(database);
  }

  get(partition: string, collection: string, id: string): Row | null {
    return (this.#statements.get.get(partition, collection, id, Date.now()) as Row | undefined) ?? null;
  }

  /** One more than asked for, where there is one. */
  list(partition: string, collection: string, { after, limit, order }: Page): Row[] {
    const { listUp, listDown, listDownFrom } = this.#statements;
    if (order !== 'desc') return listUp.all(partition, collection, after ?? '', limit + 1) as Row[];
    if (after === undefined) return listDown.all(partition, collection, limit + 1) as Row[];
    return listDownFrom.all(partition, collection, after, limit + 1) as Row[];
  }

  commit(partition: string, steps: readonly RowStep[]): RowCommitted {
    this.#database.exec('SAVEPOINT commit_steps');
    try {
      const revisions: number[] = [];
      for (const [position, step] of steps.entries()) {
        const outcome = this.#apply(partition, step);
        if (typeof outcome !== 'number') {
          this.#database.exec('ROLLBACK TO commit_steps; RELEASE commit_steps');
          return { ok: false, step: position, ...outcome };
        }
        revisions.push(outcome);
      }
      this.#statements.grow.run(partition);
      this.#database.exec('RELEASE commit_steps');
      return { ok: true, revisions };
    } catch (error) {
      this.#database.exec('ROLLBACK TO commit_steps; RELEASE commit_steps');
      throw error;
    }
  }

  #apply(
    partition: string,
    step: RowStep,
  ): number | Omit<Extract<RowCommitted, { ok: false }>, 'ok' | 'step'> {
    const statements = this.#statements;
    switch (step.op) {
      case 'room': {
        const found = statements.count.get(partition, step.collection, step.max) as { found: number };
        return found.found < step.max ? 0 : { reason: 'full', current: null };
      }
      case 'point':
        return this.#point(step.digest, step.to) ? 0 : { reason: 'exists', current: null };
      case 'unpoint':
        statements.unpoint.run(step.digest);
        return 0;
      case 'put':
      case 'delete': {
        const { collection, id } = step;
        const current = this.get(partition, collection, id);
        const reason = fault(step.expect, current);
        if (reason) return { reason, current };
        if (step.op === 'delete') {
          if (current === null) return 0;
          statements.delete.run(partition, collection, id);
          statements.forget.run(partition, id);
          return 0;
        }
        const revision = (current?.revision ?? 0) + 1;
        const expiresAt = step.ttlMs === undefined ? null : Date.now() + Math.ceil(step.ttlMs);
        statements.put.run(partition, collection, id, revision, step.json, expiresAt);
        return revision;
      }
    }
  }

  #point(digest: string, to: Pointer): boolean {
    const holder = this.find(digest);
    const isFree =
      holder === null ||
      (holder.partition === to.partition && holder.collection === to.collection && holder.id === to.id) ||
      this.get(holder.partition, holder.collection, holder.id) === null;
    if (isFree) this.#statements.point.run(digest, to.partition, to.collection, to.id);
    return isFree;
  }

  generation(partition: string): number {
    const row = this.#statements.generation.get(partition) as { generation: number } | undefined;
    return row?.generation ?? 0;
  }

  find(digest: string): Pointer | null {
    return (this.#statements.find.get(digest) as Pointer | undefined) ?? null;
  }

  claim(name: string, owner: string, ttlMs: number): boolean {
    const now = Date.now();
    return Number(this.#statements.claim.run(name, owner, now + Math.ceil(ttlMs), now).changes) > 0;
  }

  unclaim(name: string, owner: string): void {
    this.#statements.unclaim.run(name, owner);
  }

  noteUses(partition: string, uses: readonly (readonly [id: string, usedAt: number])[]): void {
    for (const [id, usedAt] of uses) this.#statements.noteUse.run(partition, id, usedAt);
  }

  lastUses(partition: string, ids: readonly string[]): (number | null)[] {
    return ids.map((id) => {
      const row = this.#statements.lastUse.get(partition, id) as { usedAt: number } | undefined;
      return row?.usedAt ?? null;
    });
  }

  ping(): void {
    this.#statements.generation.get('');
  }

  /** Differs from the last answer when another connection has changed the file. */
  dataVersion(): number {
    return (this.#statements.dataVersion.get() as { data_version: number }).data_version;
  }

  /** Removes what expired, a little at a time. */
  prune(): void {
    const now = Date.now();
    this.#statements.pruneRecords.run(now, PRUNED_AT_ONCE);
    this.#statements.pruneClaims.run(now, PRUNED_AT_ONCE);
  }
}

function fault(expect: Expect, current: Row | null): 'exists' | 'missing' | 'revision' | null {
  if (expect === 'any') return null;
  if (expect === 'absent') return current ? 'exists' : null;
  if (!current) return 'missing';
  return current.revision === expect ? null : 'revision';
}

function prepareAll(database: Database) {
  const sql = (text: string): Statement => database.prepare(text);
  const columns = 'id, revision, value AS json';
  const listed = `SELECT ${columns} FROM records WHERE partition = ? AND collection = ? AND expires_at IS NULL`;
  const here = 'partition = ? AND collection = ? AND id = ?';
  return {
    get: sql(`SELECT ${columns} FROM records WHERE ${here} AND (expires_at IS NULL OR expires_at > ?)`),
    listUp: sql(`${listed} AND id > ? ORDER BY id LIMIT ?`),
    listDown: sql(`${listed} ORDER BY id DESC LIMIT ?`),
    listDownFrom: sql(`${listed} AND id < ? ORDER BY id DESC LIMIT ?`),
    count: sql(
      'SELECT count(*) AS found FROM (SELECT 1 FROM records WHERE partition = ? AND collection = ? AND expires_at IS NULL LIMIT ?)',
    ),
    put: sql(
      `INSERT INTO records (partition, collection, id, revision, value, expires_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET revision = excluded.revision, value = excluded.value, expires_at = excluded.expires_at`,
    ),
    delete: sql(`DELETE FROM records WHERE ${here}`),
    grow: sql(
      `INSERT INTO generations (partition, generation) VALUES (?, 1)
       ON CONFLICT DO UPDATE SET generation = generation + 1`,
    ),
    generation: sql('SELECT generation FROM generations WHERE partition = ?'),
    find: sql('SELECT partition, collection, id FROM pointers WHERE digest = ?'),
    point: sql('INSERT OR REPLACE INTO pointers (digest, partition, collection, id) VALUES (?, ?, ?, ?)'),
    unpoint: sql('DELETE FROM pointers WHERE digest = ?'),
    claim: sql(
      `INSERT INTO claims (name, owner, expires_at) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at
       WHERE claims.expires_at <= ?`,
    ),
    unclaim: sql('DELETE FROM claims WHERE name = ? AND owner = ?'),
    noteUse: sql(
      `INSERT INTO uses (partition, id, used_at) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET used_at = max(used_at, excluded.used_at)`,
    ),
    lastUse: sql('SELECT used_at AS usedAt FROM uses WHERE partition = ? AND id = ?'),
    forget: sql('DELETE FROM uses WHERE partition = ? AND id = ?'),
    dataVersion: sql('PRAGMA data_version'),
    pruneRecords: sql(
      'DELETE FROM records WHERE rowid IN (SELECT rowid FROM records WHERE expires_at <= ? LIMIT ?)',
    ),
    pruneClaims: sql(
      'DELETE FROM claims WHERE name IN (SELECT name FROM claims WHERE expires_at <= ? LIMIT ?)',
    ),
  } satisfies Record<string, Statement>;
}
