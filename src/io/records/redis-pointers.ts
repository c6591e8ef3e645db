import { randomBytes } from 'node:crypto';
import type { RedisClient } from '../redis/connect.js';
import type { Lua } from '../redis/lua.js';
import type { Committed, Pointer, Step } from './records.js';

type Refused = Extract<Committed, { ok: false }>;

/** The pointers of one commit, marked as its own, so that a commit that fails puts back nobody else's. */
export interface Reservation {
  readonly ok: true;
  readonly pointers: readonly { readonly digest: string; readonly text: string; readonly before: string }[];
}

/**
 * Pointers lie in other Cluster slots than the records, so a commit cannot carry them: they are reserved before it
 * and settled after it. One that leads to no record means nothing and gives way to the next.
 */
export class RedisPointers {
  readonly #client: RedisClient;
  readonly #prefix: string;
  readonly #swap: Lua;
  readonly #leadsSomewhere: (to: Pointer) => Promise<boolean>;

  constructor(
    client: RedisClient,
    prefix: string,
    swap: Lua,
    leadsSomewhere: (to: Pointer) => Promise<boolean>,
  ) {
    this.#client = client;
    this.#prefix = prefix;
    this.#swap = swap;
    this.#leadsSomewhere = leadsSomewhere;
  }

  async find(digest: string): Promise<Pointer | null> {
    const text = await this.#client.get(this.#key(digest));
    return text === null ? null : decode(text);
  }

  async reserve(steps: readonly Step[], send: Send): Promise<Reservation | Refused> {
    const mark = randomBytes(9).toString('base64url');
    const pointers: Reservation['pointers'][number][] = [];
    for (const [position, step] of steps.entries()) {
      if (step.op !== 'point') continue;
      const text = encode(step.to, mark);
      const before = await send(() => this.#reserve(step.digest, text, step.to));
      if (before === null) {
        await this.putBack({ ok: true, pointers });
        return { ok: false, step: position, reason: 'exists', current: null };
      }
      pointers.push({ digest: step.digest, text, before });
    }
    return { ok: true, pointers };
  }

  async putBack({ pointers }: Reservation): Promise<void> {
    for (const { digest, text, before } of pointers)
      await attempt(() => this.#swap(this.#client, [this.#key(digest)], [text, before]));
  }

  async settle({ pointers }: Reservation, steps: readonly Step[]): Promise<void> {
    // Set once more: a rival for the same digest may have reserved it since, and failed, and put it back.
    for (const { digest, text } of pointers) await attempt(() => this.#client.set(this.#key(digest), text));
    for (const step of steps)
      if (step.op === 'unpoint') await attempt(() => this.#client.del(this.#key(step.digest)));
  }

  /** What was there before, '' for nothing; null = the digest leads to another live record. */
  async #reserve(digest: string, text: string, to: Pointer): Promise<string | null> {
    const key = this.#key(digest);
    if (await this.#client.set(key, text, 'NX')) return '';
    const present = await this.#client.get(key);
    if (present === text) return text; // sent twice: what was there before is no longer known, so this stays
    if (present === null) return this.#reserve(digest, text, to);
    const holder = decode(present);
    if (!isSame(holder, to) && (await this.#leadsSomewhere(holder))) return null;
    const isSwapped = (await this.#swap(this.#client, [key], [present, text])) === 1;
    return isSwapped ? present : this.#reserve(digest, text, to);
  }

  #key(digest: string): string {
    return `${this.#prefix}d:${digest}`;
  }
}

export type Send = <T>(call: () => Promise<T>) => Promise<T>;

/** The commit stands whatever becomes of its pointers afterwards; a reader checks the record behind one. */
async function attempt(call: () => Promise<unknown>): Promise<void> {
  await call()
    .catch(call)
    .catch(() => {});
}

const encode = (to: Pointer, mark: string): string =>
  JSON.stringify([to.partition, to.collection, to.id, mark]);

function decode(text: string): Pointer {
  const [partition, collection, id] = JSON.parse(text) as [string, string, string, string];
  return { partition, collection, id };
}

const isSame = (a: Pointer, b: Pointer): boolean =>
  a.partition === b.partition && a.collection === b.collection && a.id === b.id;
