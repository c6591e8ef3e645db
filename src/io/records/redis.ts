import { randomBytes } from 'node:crypto';
import { silentLog } from '../../core/log.js';
import { openRedis } from '../redis/connect.js';
import type { RedisLink, RedisOptions } from '../redis/connect.js';
import { loadLua } from '../redis/lua.js';
import { ChangeFeed } from './change-feed.js';
import { checkCollection, checkId, checkPartition, checkPlace, checkSteps } from './names.js';
import { StoreUnavailable } from './records.js';
import type { Change, Committed, Page, Pointer, Records, Step, Stored } from './records.js';
import { resending } from '../redis/resend.js';
import { RedisPointers } from './redis-pointers.js';

export interface RedisRecordsOptions extends RedisOptions {
  readonly keyPrefix: string;
}

const REPLY_KEPT_MS = 60_000;

const commit = loadLua(new URL('./commit.lua', import.meta.url));
const get = loadLua(new URL('./get.lua', import.meta.url));
const list = loadLua(new URL('./list.lua', import.meta.url));
const noteUses = loadLua(new URL('./note-uses.lua', import.meta.url));
const swap = loadLua(new URL('./swap.lua', import.meta.url));

/**
 * Keys, all of a partition in one Cluster slot:
 *   P{partition}:r:COLLECTION     hash, id -> "revision\njson"
 *   P{partition}:i:COLLECTION     sorted set of its ids
 *   P{partition}:t:COLLECTION:ID  a record with a ttl
 *   P{partition}:g  :u  :o:COMMIT generation, last uses, reply of a commit
 *   Pd:DIGEST  Pc:NAME            pointers and claims, in slots of their own
 */
export async function openRedisRecords(options: RedisRecordsOptions): Promise<Records> {
  if (/[{}]/.test(options.keyPrefix)) throw new RangeError('The key prefix must not contain braces.');
  const link = await openRedis(options).catch(asUnavailable);
  const records = new RedisRecords(link, options);
  try {
    await records.listen();
  } catch (error) {
    await records.close();
    return asUnavailable(error);
  }
  return records;
}

class RedisRecords implements Records {
  readonly #link: RedisLink;
  readonly #prefix: string;
  readonly #channel: string;
  readonly #owner = randomBytes(9).toString('base64url');
  readonly #pointers: RedisPointers;
  readonly #feed: ChangeFeed;
  readonly #send: <T>(call: () => Promise<T>) => Promise<T>;
  #claims = 0;

  constructor(link: RedisLink, { keyPrefix, commandTimeoutMs, log = silentLog }: RedisRecordsOptions) {
    // Everything sent here may arrive twice.
    const resend = resending(link.client, commandTimeoutMs);
    this.#send = (call) => resend(call).catch(asUnavailable);
    this.#feed = new ChangeFeed(log);
    this.#link = link;
    this.#prefix = keyPrefix;
    this.#channel = `${keyPrefix}changes`;
    this.#pointers = new RedisPointers(link.client, keyPrefix, swap, async (to) => {
      return (await this.get(to.partition, to.collection, to.id)) !== null;
    });
  }

  listen(): Promise<void> {
    return this.#link.subscribe(this.#channel, {
      message: (text) => {
        for (const change of readChanges(text)) this.#feed.tell(change);
      },
      resumed: () => this.#feed.tell(null),
    });
  }

  async get(partition: string, collection: string, id: string): Promise<Stored | null> {
    checkPlace(partition, collection, id);
    const { hash, own } = this.#keys(partition, collection, id);
    return decode(id, await this.#send(() => get(this.#link.client, [hash, own], [id])));
  }

  async list(partition: string, collection: string, page: Page) {
    checkPartition(partition);
    checkCollection(collection);
    const { hash, index } = this.#keys(partition, collection, '');
    const args = [page.order ?? 'asc', page.after ?? '', page.limit + 1];
    const reply = (await this.#send(() => list(this.#link.client, [index, hash], args))) as string[];
    const items: Stored[] = [];
    for (let i = 0; i < reply.length && items.length < page.limit; i += 2)
      items.push(decode(reply[i]!, reply[i + 1])!);
    return { items, hasMore: reply.length > page.limit * 2 };
  }

  async commit(partition: string, steps: readonly Step[]): Promise<Committed> {
    checkSteps(partition, steps);
    const reservation = await this.#pointers.reserve(steps, this.#send);
    if (!reservation.ok) return reservation;
    // An outcome that stays unknown leaves the pointers: they lead to no record, or to the right one.
    const committed = await this.#apply(partition, steps);
    if (committed.ok) await this.#pointers.settle(reservation, steps);
    else await this.#pointers.putBack(reservation);
    return committed;
  }

  async #apply(partition: string, steps: readonly Step[]): Promise<Committed> {
    const tag = this.#tag(partition);
    const commitId = randomBytes(12).toString('base64url');
    const keys = [`${tag}g`, `${tag}o:${commitId}`, `${tag}u`];
    const places: [string, string][] = [];
    const args: (string | number)[] = [];
    const positions: number[] = []; // of the steps the script sees
    for (const [position, step] of steps.entries()) {
      if (step.op === 'point' || step.op === 'unpoint') continue;
      positions.push(position);
      if (step.op === 'room') {
        keys.push(`${tag}i:${step.collection}`);
        args.push('room', step.max);
        continue;
      }
      const { hash, index, own } = this.#keys(partition, step.collection, step.id);
      keys.push(hash, index, own);
      args.push(step.op, step.id, step.expect);
      if (step.op === 'put')
        args.push(step.ttlMs === undefined ? '' : Math.ceil(step.ttlMs), JSON.stringify(step.value));
      places.push([step.collection, step.id]);
    }
    const message = JSON.stringify({ partition, places } satisfies ChangeMessage);
    const reply = await this.#send(() =>
      commit(this.#link.client, keys, [REPLY_KEPT_MS, this.#channel, message, ...args]),
    );
    return readCommitted(reply as CommitReply, steps, positions);
  }

  async generation(partition: string): Promise<number> {
    checkPartition(partition);
    return Number(await this.#send(() => this.#link.client.get(`${this.#tag(partition)}g`)));
  }

  async find(digest: string): Promise<Pointer | null> {
    checkId(digest);
    return this.#send(() => this.#pointers.find(digest));
  }

  async claim(name: string, ttlMs: number): Promise<boolean> {
    checkId(name);
    const key = `${this.#prefix}c:${name}`;
    const token = `${this.#owner}:${this.#claims++}`;
    return this.#send(async () => {
      if (await this.#link.client.set(key, token, 'PX', Math.ceil(ttlMs), 'NX')) return true;
      // Sent twice after a lost connection, the first may have taken it.
      return (await this.#link.client.get(key)) === token;
    });
  }

  async unclaim(name: string): Promise<void> {
    checkId(name);
    await this.#send(() => swap(this.#link.client, [`${this.#prefix}c:${name}`], [`${this.#owner}:`, '']));
  }

  async noteUses(partition: string, uses: ReadonlyMap<string, number>): Promise<void> {
    checkPartition(partition);
    if (uses.size === 0) return;
    const args = [...uses].flat();
    await this.#send(() => noteUses(this.#link.client, [`${this.#tag(partition)}u`], args));
  }

  async lastUses(partition: string, ids: readonly string[]): Promise<readonly (number | null)[]> {
    checkPartition(partition);
    if (ids.length === 0) return [];
    const uses = await this.#send(() => this.#link.client.hmget(`${this.#tag(partition)}u`, ...ids));
    return uses.map((use) => (use === null ? null : Number(use)));
  }

  watch(listener: (change: Change) => void): () => void {
    return this.#feed.watch(listener);
  }

  async ping(): Promise<void> {
    await this.#send(() => this.#link.client.ping());
  }

  close(): Promise<void> {
    this.#feed.clear();
    return this.#link.close();
  }

  #tag(partition: string): string {
    return `${this.#prefix}{${partition}}:`;
  }

  #keys(partition: string, collection: string, id: string) {
    const tag = this.#tag(partition);
    return {
      hash: `${tag}r:${collection}`,
      index: `${tag}i:${collection}`,
      own: `${tag}t:${collection}:${id}`,
    };
  }
}

interface ChangeMessage {
  readonly partition: string;
  readonly places: readonly (readonly [collection: string, id: string])[];
}

/** Anyone may publish on a channel: what is no message of ours counts as a gap. */
function readChanges(text: string): Change[] {
  try {
    const { partition, places } = JSON.parse(text) as ChangeMessage;
    return places.map(([collection, id]) => ({ partition, collection, id }));
  } catch {
    return [null];
  }
}

type Refusal = Extract<Committed, { ok: false }>['reason'];
type CommitReply = [1, string] | [0, number, Refusal, string | null];

function readCommitted(reply: CommitReply, steps: readonly Step[], positions: readonly number[]): Committed {
  if (reply[0] === 1) {
    const revisions = new Array<number>(steps.length).fill(0);
    if (positions.length > 0)
      for (const [i, revision] of reply[1].split(',').entries()) revisions[positions[i]!] = Number(revision);
    return { ok: true, revisions };
  }
  const position = positions[reply[1]]!;
  const step = steps[position]!;
  return {
    ok: false,
    step: position,
    reason: reply[2],
    current: 'id' in step ? decode(step.id, reply[3]) : null,
  };
}

function decode(id: string, text: unknown): Stored | null {
  if (typeof text !== 'string') return null;
  const end = text.indexOf('\n');
  return {
    id,
    revision: Number(text.slice(0, end)),
    value: JSON.parse(text.slice(end + 1)) as Stored['value'],
  };
}

/** ioredis hangs a command's arguments on its errors, secrets included: only the message goes on. */
function asUnavailable(error: unknown): never {
  if (error instanceof StoreUnavailable) throw error;
  throw new StoreUnavailable(new Error(error instanceof Error ? error.message : String(error)));
}
