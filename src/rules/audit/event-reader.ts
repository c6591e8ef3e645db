import { crc32 } from 'node:zlib';
import type { BatchItem } from '../../core/sink.js';
import type { Database, Statement } from '../../io/records/sqlite.js';
import { isDamage } from './spool-file.js';

/** Events in order, and what could not be read among them. */
export interface Reading {
  readonly events: readonly BatchItem[];
  readonly bytes: number;
  /** Places of damaged events, which may have been of another chain. */
  readonly damaged: readonly number[];
  /** Up to here everything was looked at. */
  readonly lastSeq: number;
}

interface Row extends BatchItem {
  readonly chain: number;
  readonly checksum: number;
}

const SLICE = 500;

/** Reads the events of one chain, and around whatever is damaged. */
export class EventReader {
  readonly #statements: ReturnType<typeof prepareAll>;
  readonly #spoolEnd: () => number;

  constructor(database: Database, spoolEnd: () => number) {
    this.#statements = prepareAll(database);
    this.#spoolEnd = spoolEnd;
  }

  /** The next events of a chain, within both bounds but at least one. */
  readAfter(
    chain: number,
    after: number,
    bounds: { readonly count: number; readonly bytes: number },
  ): Reading {
    return this.#read(chain, after, Infinity, bounds);
  }

  /** The events of a chain from `first` to `last`. */
  readRange(chain: number, first: number, last: number): Reading {
    return this.#read(chain, first - 1, last, { count: Infinity, bytes: Infinity });
  }

  #read(
    chain: number,
    after: number,
    last: number,
    { count, bytes: most }: { readonly count: number; readonly bytes: number },
  ): Reading {
    const events: BatchItem[] = [];
    const damaged: number[] = [];
    let bytes = 0;
    let lastSeq = after;
    while (events.length < count && lastSeq < last) {
      const slice = this.#slice(chain, lastSeq, last, Math.min(SLICE, count - events.length));
      for (const { seq, eventId, json, checksum } of slice.rows) {
        const size = Buffer.byteLength(json);
        if (events.length > 0 && bytes + size > most) return { events, bytes, damaged, lastSeq };
        lastSeq = seq;
        if (crc32(json) !== checksum) damaged.push(seq);
        else {
          events.push({ seq, eventId, json });
          bytes += size;
        }
      }
      damaged.push(...slice.damaged);
      lastSeq = Math.max(lastSeq, slice.lastSeq);
      if (slice.isEnd) break;
    }
    return { events, bytes, damaged, lastSeq };
  }

  #slice(chain: number, after: number, last: number, limit: number) {
    const upTo = Math.min(last, this.#spoolEnd());
    try {
      const rows = this.#statements.slice.all(chain, after, upTo, limit) as Row[];
      const isEnd = rows.length < limit;
      return { rows, damaged: [], lastSeq: isEnd ? upTo : after, isEnd };
    } catch (error) {
      if (!isDamage(error)) throw error;
      return this.#salvage(chain, after, upTo);
    }
  }

  /** One by one, past whatever cannot be read. */
  #salvage(chain: number, after: number, upTo: number) {
    const rows: Row[] = [];
    const damaged: number[] = [];
    const lastSeq = Math.min(after + SLICE, upTo);
    for (let seq = after + 1; seq <= lastSeq; seq++) {
      try {
        const row = this.#statements.one.get(seq) as Row | undefined;
        if (row?.chain === chain) rows.push(row);
      } catch (error) {
        if (!isDamage(error)) throw error;
        damaged.push(seq);
      }
    }
    return { rows, damaged, lastSeq, isEnd: lastSeq >= upTo };
  }

  /** When the first event after `seq` came; null = there is none. */
  recordedAfter(chain: number, seq: number): number | null {
    const row = this.#statements.recordedAfter.get(chain, seq) as { recordedMs: number } | undefined;
    return row?.recordedMs ?? null;
  }
}

function prepareAll(database: Database) {
  const sql = (text: string): Statement => database.prepare(text);
  const columns = 'seq, chain, event_id AS eventId, checksum, json';
  return {
    slice: sql(`SELECT ${columns} FROM events WHERE chain = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?`),
    one: sql(`SELECT ${columns} FROM events WHERE seq = ?`),
    recordedAfter: sql(
      'SELECT recorded_ms AS recordedMs FROM events WHERE chain = ? AND seq > ? ORDER BY seq LIMIT 1',
    ),
  } satisfies Record<string, Statement>;
}
