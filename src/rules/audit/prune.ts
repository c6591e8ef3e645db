import type { Database } from '../../io/records/sqlite.js';
import type { Cursors } from './cursors.js';
import { isDamage } from './spool-file.js';
import type { Chain, Spool } from './spool.js';

const SLICE = 500;
const PAGES_GIVEN_BACK = 256;
/** Of the whole trail, at a time, when room is needed. */
const SHARE = 0.1;

/** Takes events out of the spool which nobody waits for. Every step is short. */
export class Pruner {
  readonly #spool: Spool;
  readonly #cursors: Cursors;
  readonly #statements: ReturnType<typeof prepareAll>;

  constructor(spool: Spool, cursors: Cursors) {
    this.#spool = spool;
    this.#cursors = cursors;
    this.#statements = prepareAll(spool.database);
  }

  /** One step through what is older than its time: how many left; 0 = there is nothing more to do. */
  expire(recordedBeforeMs: number): number {
    return this.#firstThatGives((chain) => this.#remove(chain, this.#releasedUpTo(chain), recordedBeforeMs));
  }

  /** One step through the oldest events that every sink has, whatever their age. */
  makeRoom(): number {
    const { first, last } = this.#statements.bounds.get() as { first: number | null; last: number };
    if (first === null) return 0;
    const step = Math.max(1, Math.ceil((last - first + 1) * SHARE));
    for (let upTo = first + step - 1; upTo < last + step; upTo += step) {
      const removed = this.#firstThatGives((chain) =>
        this.#remove(chain, Math.min(upTo, this.#releasedUpTo(chain)), Infinity),
      );
      if (removed > 0) return removed;
    }
    return 0;
  }

  #firstThatGives(act: (chain: Chain) => number): number {
    for (const chain of this.#spool.chains()) {
      const removed = act(chain);
      if (removed > 0) return removed;
    }
    return 0;
  }

  #releasedUpTo({ chain, lastSeq }: Chain): number {
    return this.#cursors.floorOf(chain) ?? lastSeq;
  }

  #remove({ chain }: Chain, upTo: number, recordedBeforeMs: number): number {
    const { oldest, remove, giveBack } = this.#statements;
    try {
      const first = this.#spool.reader.recordedAfter(chain, 0);
      if (first === null || first >= recordedBeforeMs) return 0;
      let [last, count] = [0, 0];
      for (const row of oldest.all(chain, upTo, SLICE) as { seq: number; recordedMs: number }[]) {
        if (row.recordedMs >= recordedBeforeMs) break;
        last = row.seq;
        count++;
      }
      if (count === 0) return 0;
      remove.run(chain, last);
      giveBack.all();
      return count;
    } catch (error) {
      if (isDamage(error)) return 0; // what cannot be read cannot be taken out; the rest of the trail goes on
      throw error;
    }
  }
}

function prepareAll(database: Database) {
  return {
    bounds: database.prepare('SELECT min(seq) AS first, max(seq) AS last FROM events'),
    oldest: database.prepare(
      'SELECT seq, recorded_ms AS recordedMs FROM events WHERE chain = ? AND seq <= ? ORDER BY seq LIMIT ?',
    ),
    remove: database.prepare('DELETE FROM events WHERE chain = ? AND seq <= ?'),
    giveBack: database.prepare(`PRAGMA incremental_vacuum(${PAGES_GIVEN_BACK})`),
  };
}
