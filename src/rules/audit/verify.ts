import { GAP, hashOf } from './event.js';

type Event = Readonly<Record<string, unknown>>;

/** What was found out about a stream of exported events. */
export interface Verification {
  readonly events: number;
  /** Events that came more than once, the same each time, as a batch that was sent again brings them. */
  readonly duplicates: number;
  /** Events whose user was forgotten: their place is proved, their content is gone. */
  readonly erased: number;
  /** Events that the trail itself says were never recorded. */
  readonly missed: number;
  readonly chains: number;
  /** Chains that end more than a day before the latest event: stopped gateways, or the end is missing. */
  readonly ended: readonly Ended[];
  /** The first event that is wrong; null = none is. */
  readonly fault: Fault | null;
}

/** Where a chain ends that others outlive. */
export interface Ended {
  readonly org_id: string;
  readonly instance_id: string;
  readonly last_event_at: string;
}

export interface Fault {
  readonly kind: 'tampered' | 'gap' | 'order' | 'conflict' | 'unreadable';
  readonly message: string;
  /** Where it was read. */
  readonly place: string;
  readonly eventId: string | null;
}

interface Chain {
  seq: number;
  hash: string;
  latestMs: number;
  /** The latest events, to tell a repetition from a forgery. */
  readonly recent: Map<number, string>;
}

/** A batch that is sent again is not longer than this. */
const REMEMBERED = 20_000;
/** A running gateway adds to every chain once a day; an hour for clocks, and for what is still on its way. */
const ANCHORED_WITHIN_MS = 25 * 60 * 60 * 1_000;

/** Checks exported events one after the other; what it remembers does not grow with their number. */
export class Verifier {
  readonly #chains = new Map<string, Chain>();
  readonly #found = { events: 0, duplicates: 0, erased: 0, missed: 0 };
  #fault: Fault | null = null;

  get result(): Verification {
    const latestMs = Math.max(...[...this.#chains.values()].map((chain) => chain.latestMs));
    const ended = [...this.#chains].filter(([, chain]) => chain.latestMs < latestMs - ANCHORED_WITHIN_MS);
    return {
      ...this.#found,
      chains: this.#chains.size,
      ended: ended.map(([name, chain]) => endOf(name, chain)),
      fault: this.#fault,
    };
  }

  /** false = the event is wrong, and nothing after it needs to be looked at. */
  take(event: Event, place: string): boolean {
    const { event_id: id, org_id: organization, instance_id: instance, seq, prev_hash: before, hash } = event;
    const fail = (kind: Fault['kind'], message: string): false => {
      this.#fault = { kind, message, place, eventId: typeof id === 'string' ? id : null };
      return false;
    };
    if (typeof seq !== 'number' || typeof before !== 'string' || typeof hash !== 'string')
      return fail('unreadable', 'It is not an audit event: it lacks seq, prev_hash or hash.');
    const isErased = event['erased'] === true;
    if (!isErased && hashOf(event) !== hash) return fail('tampered', 'Its content does not have its hash.');

    const name = JSON.stringify([organization, instance]);
    const chain = this.#chains.get(name) ?? this.#begin(name, seq, before);
    if (seq <= chain.seq) {
      const known = chain.recent.get(seq);
      if (known === hash) {
        this.#found.duplicates++;
        return true;
      }
      if (known !== undefined) return fail('conflict', `Another event has its place, seq ${seq}.`);
      return fail('order', `It has seq ${seq}, but comes after seq ${chain.seq}.`);
    }
    if (before !== chain.hash)
      return fail('gap', `Events are missing between seq ${chain.seq} and seq ${seq}, or were replaced.`);
    this.#follow(chain, seq, hash);
    chain.latestMs = Math.max(chain.latestMs, Date.parse(String(event['created_at'])) || 0);
    this.#found.events++;
    if (isErased) this.#found.erased++;
    if (event['reason_code'] === GAP) this.#found.missed += missedIn(event['details']);
    return true;
  }

  /** An export may begin anywhere: a sink starts with the event after it was made. */
  #begin(name: string, seq: number, before: string): Chain {
    const chain = { seq: seq - 1, hash: before, latestMs: 0, recent: new Map<number, string>() };
    this.#chains.set(name, chain);
    return chain;
  }

  #follow(chain: Chain, seq: number, hash: string): void {
    chain.seq = seq;
    chain.hash = hash;
    chain.recent.set(seq, hash);
    if (chain.recent.size <= REMEMBERED) return;
    const [oldest] = chain.recent.keys();
    chain.recent.delete(oldest!);
  }
}

const endOf = (name: string, { latestMs }: Chain): Ended => {
  const [org_id, instance_id] = JSON.parse(name) as [string, string];
  return { org_id, instance_id, last_event_at: new Date(latestMs).toISOString() };
};

const missedIn = (details: unknown): number => {
  const missed = (details as { missed?: unknown } | null | undefined)?.missed;
  return typeof missed === 'number' ? missed : 0;
};

/** Under which names destinations wrap an event, also within each other. */
const WRAPPERS = ['event', '_source', 'result', 'attributes', '_raw', 'message'];
const DEEPEST = 4;

/** The event in a line of an export, whatever a destination has put around it; null = there is none. */
export function unwrap(value: unknown, depth = 0): Event | null {
  if (depth > DEEPEST) return null;
  if (typeof value === 'string') return unwrap(parse(value), depth + 1);
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return null;
  const object = value as Event;
  if ('hash' in object && 'prev_hash' in object && 'seq' in object) return object;
  for (const wrapper of WRAPPERS) {
    const found = wrapper in object ? unwrap(object[wrapper], depth + 1) : null;
    if (found) return found;
  }
  return null;
}

/** undefined = it is no JSON. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
