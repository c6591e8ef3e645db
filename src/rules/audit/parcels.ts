import type { BatchItem, Outcome } from '../../core/sink.js';

/** A part of a chain that is sent as one batch: its events from `first` to `last`, or only some of them. */
export interface Parcel {
  readonly first: number;
  readonly last: number;
  readonly only?: readonly number[];
}

export interface DeadLetter {
  readonly item: BatchItem;
  readonly reason: string;
}

/** What is to be done after a batch was tried. */
export interface Verdict {
  /** What is left, in order; empty = the batch is done. */
  readonly parcels: readonly Parcel[];
  readonly dead: readonly DeadLetter[];
  /** Events that are done: accepted or dead. */
  readonly done: readonly BatchItem[];
  /** How long to wait before the next try. */
  readonly pause: 'none' | 'retry' | 'held';
  readonly retryAfterMs?: number;
  /** Why not everything was taken. */
  readonly reason?: string;
}

/** What a destination's answer to the first parcel makes of all of them. Nothing is ever skipped or put out of order. */
export function settle(
  [parcel, ...rest]: readonly [Parcel, ...Parcel[]],
  events: readonly BatchItem[],
  outcome: Outcome,
): Verdict {
  const same = [parcel, ...rest];
  switch (outcome.kind) {
    case 'accepted':
      return { parcels: rest, dead: [], done: events, pause: 'none' };
    case 'retry': {
      const { reason, retryAfterMs } = outcome;
      const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
      return { parcels: same, dead: [], done: [], pause: 'retry', reason, ...wait };
    }
    case 'held':
      return { parcels: same, dead: [], done: [], pause: 'held', reason: outcome.reason };
    case 'split':
    case 'poison': {
      const { reason } = outcome;
      const [only] = events;
      if (events.length === 1 && only)
        return { parcels: rest, dead: [{ item: only, reason }], done: events, pause: 'none', reason };
      return { parcels: [...halve(events), ...rest], dead: [], done: [], pause: 'none', reason };
    }
    case 'partly':
      return sift(outcome.items, events, rest, same);
  }
}

function sift(
  items: Extract<Outcome, { kind: 'partly' }>['items'],
  events: readonly BatchItem[],
  rest: readonly Parcel[],
  same: readonly Parcel[],
): Verdict {
  if (items.length !== events.length) {
    const reason = `the destination told of ${items.length} events where ${events.length} were sent`;
    return { parcels: same, dead: [], done: [], pause: 'retry', reason };
  }
  const again: BatchItem[] = [];
  const dead: DeadLetter[] = [];
  const done: BatchItem[] = [];
  let reason: string | undefined;
  for (const [n, item] of events.entries()) {
    const told = items[n]!;
    if (told.kind !== 'accepted') reason ??= told.reason;
    if (told.kind === 'poison') dead.push({ item, reason: told.reason });
    if (told.kind === 'retry') again.push(item);
    else done.push(item);
  }
  return {
    parcels: again.length === 0 ? rest : [only(again), ...rest],
    dead,
    done,
    pause: again.length === 0 ? 'none' : 'retry',
    ...(reason !== undefined && { reason }),
  };
}

const only = (events: readonly BatchItem[]): Parcel => ({
  first: events[0]!.seq,
  last: events.at(-1)!.seq,
  only: events.map(({ seq }) => seq),
});

function halve(events: readonly BatchItem[]): Parcel[] {
  const middle = events.length >> 1;
  return [only(events.slice(0, middle)), only(events.slice(middle))];
}
