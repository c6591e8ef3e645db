import { crc32 } from 'node:zlib';
import { systemClock, type Clock } from '../../core/clock.js';
import { IdMint } from '../../core/ids.js';
import type { Database, Statement } from '../../io/records/sqlite.js';
import { dayOf } from './day.js';
import { gapFacts, GENESIS, seal, writeBody } from './event.js';
import { EventReader } from './event-reader.js';
import type { OpenedSpool } from './spool-file.js';

/** An event on its way into the spool. */
export interface Entry {
  readonly organizationId: string;
  /** The event's JSON from `writeBody`. */
  readonly body: string;
  /** Given where the same event may be told twice; then the second is left out. */
  readonly eventId?: string;
  readonly createdAt?: string;
}

/** The events of one organization, which its hashes link. */
export interface Chain {
  readonly chain: number;
  readonly organizationId: string;
  head: string;
  lastSeq: number;
  /** Ever written. */
  events: number;
  bytes: number;
  /** The last day, counted from 1970, on which it was told how far it has come. */
  anchoredDay: number;
}

/** Events in SQLite, as plain synchronous calls: the worker decides what shares a transaction. */
export class Spool {
  readonly instanceId: string;
  readonly reader: EventReader;
  readonly #database: Database;
  readonly #statements: ReturnType<typeof prepareAll>;
  readonly #replaces: string | null;
  readonly #clock: Clock;
  readonly #mint: IdMint;
  readonly #chains = new Map<string, Chain>();
  #lastSeq = 0;

  constructor({ database, instanceId, replaces }: OpenedSpool, clock: Clock = systemClock) {
    this.instanceId = instanceId;
    this.#database = database;
    this.#replaces = replaces;
    this.#statements = prepareAll(database);
    this.reader = new EventReader(database, () => this.#lastSeq);
    this.#clock = clock;
    this.#mint = new IdMint(() => clock.nowMs());
    this.#load();
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** Writes all entries in one transaction, or none and throws. */
  append(entries: readonly Entry[]): void {
    const touched = new Set<Chain>();
    this.transact(() => {
      for (const entry of entries) this.#write(entry, touched);
      this.#move(touched);
    });
  }

  #move(touched: Iterable<Chain>): void {
    for (const { chain, head, lastSeq, events, bytes, anchoredDay } of touched)
      this.#statements.moveChain.run(head, lastSeq, events, bytes, anchoredDay, chain);
  }

  transact(act: () => void): void {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      act();
      this.#database.exec('COMMIT');
    } catch (error) {
      try {
        this.#database.exec('ROLLBACK');
      } catch {
        // SQLite has rolled back by itself, as it does when the disk is full.
      }
      this.#load();
      throw error;
    }
  }

  #write({ organizationId, body, eventId, createdAt }: Entry, touched: Set<Chain>): void {
    if (eventId !== undefined && this.#statements.seqOf.get(eventId) !== undefined) return;
    const chain = this.#chains.get(organizationId) ?? this.#begin(organizationId, touched);
    const nowMs = this.#clock.nowMs();
    const id = eventId ?? this.#mint.next('evt');
    const seq = ++this.#lastSeq;
    const sealed = seal(body, {
      eventId: id,
      createdAt: createdAt ?? new Date(nowMs).toISOString(),
      instanceId: this.instanceId,
      seq,
      prevHash: chain.head,
    });
    this.#statements.insert.run(seq, chain.chain, id, nowMs, crc32(sealed.json), sealed.json);
    chain.head = sealed.hash;
    chain.lastSeq = seq;
    chain.events++;
    chain.bytes += Buffer.byteLength(sealed.json);
    touched.add(chain);
  }

  /** After a damaged spool was replaced, every chain begins by saying so: what came before may never arrive. */
  #begin(organizationId: string, touched: Set<Chain>): Chain {
    const anchoredDay = dayOf(this.#clock.nowMs());
    this.#statements.addChain.run(organizationId, GENESIS, anchoredDay);
    const { chain } = this.#statements.chainOf.get(organizationId) as { chain: number };
    const begun = { chain, organizationId, head: GENESIS, lastSeq: 0, events: 0, bytes: 0, anchoredDay };
    this.#chains.set(organizationId, begun);
    if (this.#replaces !== null) {
      const details = { reason: 'spool_damaged', set_aside: this.#replaces };
      this.#write({ organizationId, body: writeBody(gapFacts(organizationId, details)) }, touched);
    }
    return begun;
  }

  #load(): void {
    const known = new Map(this.#chains);
    this.#chains.clear();
    this.#lastSeq = 0;
    for (const row of this.#statements.chains.all() as Chain[]) {
      // Couriers hold on to their chain.
      this.#chains.set(row.organizationId, Object.assign(known.get(row.organizationId) ?? {}, row));
      this.#lastSeq = Math.max(this.#lastSeq, row.lastSeq);
    }
  }

  chainOf(organizationId: string): Chain | null {
    return this.#chains.get(organizationId) ?? null;
  }

  /** The chain of an organization that may have no events yet. */
  ensureChain(organizationId: string): Chain {
    const known = this.#chains.get(organizationId);
    if (known) return known;
    const touched = new Set<Chain>();
    this.transact(() => {
      this.#begin(organizationId, touched);
      this.#move(touched);
    });
    return this.#chains.get(organizationId)!;
  }

  chains(): Iterable<Chain> {
    return this.#chains.values();
  }

  /** Bytes that are taken; those of deleted events are free again. */
  usedBytes(): number {
    const { pageCount, freePages, pageSize } = this.#statements;
    const one = (statement: Statement): number => Object.values(statement.get() as object)[0] as number;
    return (one(pageCount) - one(freePages)) * one(pageSize);
  }

  get database(): Database {
    return this.#database;
  }

  close(): void {
    this.#database.close();
  }
}

function prepareAll(database: Database) {
  const sql = (text: string): Statement => database.prepare(text);
  return {
    insert: sql(
      'INSERT INTO events (seq, chain, event_id, recorded_ms, checksum, json) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    seqOf: sql('SELECT seq FROM events WHERE event_id = ?'),
    chains: sql(
      'SELECT chain, organization_id AS organizationId, head, last_seq AS lastSeq, events, bytes, anchored_day AS anchoredDay FROM chains',
    ),
    chainOf: sql('SELECT chain FROM chains WHERE organization_id = ?'),
    addChain: sql(
      'INSERT INTO chains (organization_id, head, last_seq, events, bytes, anchored_day) VALUES (?, ?, 0, 0, 0, ?)',
    ),
    moveChain: sql(
      'UPDATE chains SET head = ?, last_seq = ?, events = ?, bytes = ?, anchored_day = ? WHERE chain = ?',
    ),
    pageCount: sql('PRAGMA page_count'),
    freePages: sql('PRAGMA freelist_count'),
    pageSize: sql('PRAGMA page_size'),
  } satisfies Record<string, Statement>;
}
