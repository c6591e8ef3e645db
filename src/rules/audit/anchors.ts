import { blankFacts } from '../../core/audit.js';
import type { Clock } from '../../core/clock.js';
import { dayOf } from './day.js';
import { writeBody } from './event.js';
import type { Chain, Entry, Spool } from './spool.js';

/** In one transaction: an instance may have the chains of thousands of organizations. */
const AT_ONCE = 500;

/** The reason code of an event that says how far its chain has come. */
const ANCHOR = 'audit_anchor';

/** Every day, each chain gets an event even where nothing happened: an export that has none of late lacks its end. */
export class Anchors {
  readonly #spool: Spool;
  readonly #clock: Clock;
  #doneDay = -1;

  constructor(spool: Spool, clock: Clock) {
    this.#spool = spool;
    this.#clock = clock;
  }

  /** Hands to `append` what is due now, and the next time those for which there was no place. */
  tell(append: (entries: readonly Entry[]) => void): void {
    const day = dayOf(this.#clock.nowMs());
    if (day === this.#doneDay) return;
    const due = [...this.#spool.chains()].filter(
      ({ anchoredDay, events }) => anchoredDay < day && events > 0,
    );
    const now = due.slice(0, AT_ONCE);
    const entries = now.map(entryOf);
    for (const chain of now) chain.anchoredDay = day; // written with the event, taken back with it
    if (entries.length > 0) append(entries);
    if (now.length === due.length) this.#doneDay = day;
  }
}

const entryOf = ({ organizationId, events, lastSeq, head }: Chain): Entry => {
  const facts = { ...blankFacts('admin', organizationId), reason_code: ANCHOR };
  return { organizationId, body: writeBody({ ...facts, details: { events, last_seq: lastSeq, head } }) };
};
