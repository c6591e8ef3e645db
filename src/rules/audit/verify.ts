import { GAP, hashOf } from './event.js';

type Event = Readonly<Record<string, unknown>>;

/** What was found out about a stream of exported events. */
export interface Verification {
  events: number;
  /** Events that came more than once, the same each time, as a batch that was sent again brings them. */
  duplicates: number;
  /** Events whose user was forgotten: their place is proved, their content is gone. */
  erased: number;
  /** Events that the trail itself says were never recorded. */
  missed: number;
  chains: number;
  /** The first event that is wrong; null = none is. */
  fault: Fault | null;
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
  /** The latest events, to tell a repetition from a forgery. */
  readonly recent: Map<number, string>;
}

/** A batch that is sent again is not longer than this. */
const REMEMBERED = 20_000;

/** Checks exported events one after the other; what it remembers does not grow with their number. */
export class Verifier {
  readonly #chains = new Map<string, Chain>();
  readonly result: Verification = { events: 0, duplicates: 0, erased: 0, missed: 0, chains: 0, fault: null };

  /** false = the event is wrong, and nothing after it needs to be looked at. */
  take(event: Event, place: string): boolean {
    const { event_id: id, org_id: organization, instance_id: instance, seq, prev_hash: before, hash } = event;
    const fail = (kind: Fault['kind'], message: string): false => {
      this.result.fault = { kind, message, place, eventId: typeof id === 'string' ? id : null };
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
        this.result.duplicates++;
        return true;
      }
      if (known !== undefined) return fail('conflict', `Another event has its place, seq ${seq}.`);
      return fail('order', `It has seq ${seq}, but comes after seq ${chain.seq}.`);
    }
    if (before !== chain.hash)
      return fail('gap', `Events are missing between seq ${chain.seq} and seq ${seq}, or were replaced.`);
    this.#follow(chain, seq, hash);
    this.result.events++;
    if (isErased) this.result.erased++;
    if (event['reason_code'] === GAP) this.result.missed += missedIn(event['details']);
    return true;
  }

  /** An export may begin anywhere: a sink starts with the event after it was made. */
  #begin(name: string, seq: number, before: string): Chain {
    const chain = { seq: seq - 1, hash: before, recent: new Map<number, string>() };
    this.#chains.set(name, chain);
    this.result.chains++;
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
