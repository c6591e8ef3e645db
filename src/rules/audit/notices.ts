import type { Clock } from '../../core/clock.js';
import { Anchors } from './anchors.js';
import type { Detached } from './couriers.js';
import { gapFacts, writeBody } from './event.js';
import { Gaps } from './gaps.js';
import type { Room } from './room.js';
import type { Entry, Spool } from './spool.js';

export interface NoticeParts {
  readonly spool: Spool;
  readonly room: Room;
  readonly clock: Clock;
  /** Writes events of the trail itself, and tells whoever delivers; throws where it cannot. */
  readonly append: (entries: readonly Entry[]) => void;
  readonly warn: (message: string, fields: object) => void;
}

/** Of what may be taken, waiting for destinations: from here on somebody should look; below the second it is over. */
const ALARMING = 0.8;
const CALM = 0.7;

/** What the trail has to say about itself: events of its own in the chains, and warnings to the operator. */
export class Notices {
  readonly gaps: Gaps;
  readonly #parts: NoticeParts;
  readonly #anchors: Anchors;
  /** Places of damaged events that were told of already. */
  readonly #damaged = new Set<string>();
  #isAlarmed = false;

  constructor(parts: NoticeParts) {
    this.#parts = parts;
    this.gaps = new Gaps(parts.clock);
    this.#anchors = new Anchors(parts.spool, parts.clock);
  }

  /** Damaged events that were met, since the start. */
  get damaged(): number {
    return this.#damaged.size;
  }

  /** What is due now and then. */
  tell(detached: readonly Detached[], waitingBytes: number): void {
    const { room, append } = this.#parts;
    this.tellGaps(false);
    for (const { organizationId, sinkId, afterSeq, events } of detached)
      this.#tellGap(organizationId, {
        reason: 'sink_detached',
        sink_id: sinkId,
        after_seq: afterSeq,
        events,
      });
    if (room.open) this.#anchors.tell(append);
    this.#watch(waitingBytes);
  }

  /** `everything` = also what would come later: there is no later. */
  tellGaps(everything: boolean): void {
    const { room, append } = this.#parts;
    if (room.hasReserve) this.gaps.tell(append, everything);
  }

  noteDamage(organizationId: string, seqs: readonly number[]): void {
    const fresh = seqs.filter((seq) => !this.#damaged.has(`${organizationId} ${seq}`));
    if (fresh.length === 0) return;
    for (const seq of fresh) this.#damaged.add(`${organizationId} ${seq}`);
    this.#parts.warn('Damaged events of the audit trail were skipped.', { count: fresh.length });
    const [first_seq, last_seq] = [fresh[0], fresh.at(-1)];
    this.#tellGap(organizationId, { reason: 'damaged', events: fresh.length, first_seq, last_seq });
  }

  #tellGap(organizationId: string, details: Readonly<Record<string, unknown>>): void {
    this.#parts.append([{ organizationId, body: writeBody(gapFacts(organizationId, details)) }]);
  }

  #watch(waitingBytes: number): void {
    const { limitBytes } = this.#parts.room;
    const share = waitingBytes / Math.max(1, limitBytes);
    if (share < CALM) this.#isAlarmed = false;
    if (share < ALARMING || this.#isAlarmed) return;
    this.#isAlarmed = true;
    this.#parts.warn('The audit trail fills up: destinations are far behind.', {
      waiting_bytes: waitingBytes,
      limit_bytes: limitBytes,
    });
  }
}
