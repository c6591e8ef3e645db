import type { Database, Statement } from '../../io/records/sqlite.js';
import type { Parcel } from './parcels.js';

/** What is left of a batch, in the order in which it is sent, and where the cursor stands once it is done. */
export interface Pending {
  readonly parcels: readonly [Parcel, ...Parcel[]];
  readonly end: number;
}

/** How far one sink has come in the chain of its organization. */
export interface Cursor {
  readonly sinkId: string;
  readonly chain: number;
  /** Every event of the chain up to here is done. */
  seq: number;
  /** Of the chain, done. */
  events: number;
  bytes: number;
  /** The batch under way; null = there is none. */
  pending: Pending | null;
  /** Since when it is switched off; null = it is on. */
  disabledMs: number | null;
}

type Row = Omit<Cursor, 'pending'> & { readonly pending: string | null };

/** The cursors, kept with the events, so that a restart sends the very batch again that was under way. */
export class Cursors {
  readonly #statements: ReturnType<typeof prepareAll>;

  constructor(database: Database) {
    this.#statements = prepareAll(database);
  }

  all(): Cursor[] {
    return (this.#statements.all.all() as Row[]).map(({ pending, ...row }) => ({
      ...row,
      pending: pending === null ? null : (JSON.parse(pending) as Pending),
    }));
  }

  save({ sinkId, chain, seq, events, bytes, pending, disabledMs }: Cursor): void {
    const left = pending && JSON.stringify(pending);
    this.#statements.save.run(sinkId, chain, seq, events, bytes, left, disabledMs);
  }

  remove(sinkId: string): void {
    this.#statements.remove.run(sinkId);
  }

  /** Up to where no sink of the chain waits for events any more; null = it has no sink. */
  floorOf(chain: number): number | null {
    return (this.#statements.floor.get(chain) as { floor: number | null }).floor;
  }
}

function prepareAll(database: Database) {
  const sql = (text: string): Statement => database.prepare(text);
  return {
    all: sql(
      'SELECT sink_id AS sinkId, chain, cursor AS seq, events, bytes, pending, disabled_ms AS disabledMs FROM sinks',
    ),
    save: sql(
      'INSERT OR REPLACE INTO sinks (sink_id, chain, cursor, events, bytes, pending, disabled_ms) VALUES (?, ?, ?, ?, ?, ?, ?)',
    ),
    remove: sql('DELETE FROM sinks WHERE sink_id = ?'),
    floor: sql('SELECT min(cursor) AS floor FROM sinks WHERE chain = ?'),
  } satisfies Record<string, Statement>;
}
