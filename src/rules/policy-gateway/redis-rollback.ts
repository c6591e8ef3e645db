import { createHash, randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import * as v from 'valibot';
import { systemClock, type Clock } from '../../core/clock.js';
import { silentLog, type Log } from '../../core/log.js';
import type { Decision } from '../../core/review.js';
import { openRedis, type RedisLink, type RedisOptions } from '../../io/redis/connect.js';
import { loadLua } from '../../io/redis/lua.js';
import type { GatewayConfig } from './config.js';
import {
  cooldownOf,
  isHit,
  Listeners,
  MINUTE_MS,
  MOST_PAIRS,
  pairOf,
  type Rollback,
  type SpikeLedger,
} from './rollback.js';

export interface RedisSpikesOptions extends RedisOptions {
  readonly keyPrefix: string;
  readonly flushEveryMs?: number;
  /** For tests; null = the time of Redis. */
  readonly clock?: Clock | null;
}

/** What one configuration decided since the last flush. */
interface Waiting {
  readonly organizationId: string;
  readonly policyId: string;
  readonly sinceMs: number;
  config: GatewayConfig;
  decided: number;
  hits: number;
}

type Reply = readonly [code: number, offMs: number, decided: number, hits: number];

const FLUSH_MS = 500;
const AT_ONCE = 64;
/** What could not be written for so long says nothing about now. */
const STALE_MS = MINUTE_MS;
const LOOK_AGAIN_MS = 1_000;

const count = loadLua(new URL('./redis-rollback.lua', import.meta.url));

/** Opens the ledger that all replicas share: counts in Redis, each replica's share added every half second. */
export const openRedisSpikes = async (options: RedisSpikesOptions): Promise<SpikeLedger> => {
  if (/[{}]/.test(options.keyPrefix)) throw new RangeError('The key prefix must not contain braces.');
  const link = await openRedis(options);
  const spikes = new RedisSpikes(link, options);
  try {
    await link.subscribe(spikes.channel, spikes);
  } catch (error) {
    await link.close();
    throw error;
  }
  return spikes;
};

class RedisSpikes implements SpikeLedger {
  readonly channel: string;
  readonly #link: RedisLink;
  readonly #prefix: string;
  readonly #clock: Clock;
  readonly #time: () => number | '';
  readonly #flushEveryMs: number;
  readonly #log: Log;
  readonly #listeners: Listeners;
  readonly #self = randomUUID();
  /** Until when each known pair is off. A pair that is not here is asked for when it is first needed. */
  readonly #offUntil = new LRUCache<string, number>({ max: MOST_PAIRS });
  #waiting = new Map<string, Waiting>();
  #timer: NodeJS.Timeout | null = null;
  #flushing: Promise<void> | null = null;
  #isFailing = false;
  #isClosed = false;

  constructor(
    link: RedisLink,
    { keyPrefix, clock = null, flushEveryMs = FLUSH_MS, log = silentLog }: RedisSpikesOptions,
  ) {
    this.#link = link;
    this.#prefix = `${keyPrefix}gw:`;
    this.channel = `${this.#prefix}rollbacks`;
    this.#clock = clock ?? systemClock;
    this.#time = () => clock?.nowMs() ?? '';
    this.#flushEveryMs = flushEveryMs;
    this.#log = log;
    this.#listeners = new Listeners((error) => log.error({ err: error }, 'A listener for rollbacks failed.'));
  }

  note(organizationId: string, policyId: string, decision: Decision, config: GatewayConfig): void {
    if (!config.rollout.rollback_on_spike || this.#isClosed) return;
    const pair = pairOf(organizationId, policyId);
    if (this.#isOff(pair)) return;
    let waiting = this.#waiting.get(pair);
    if (!waiting) {
      const sinceMs = this.#clock.ticksMs();
      waiting = { organizationId, policyId, sinceMs, config, decided: 0, hits: 0 };
      this.#waiting.set(pair, waiting);
    }
    waiting.config = config;
    waiting.decided++;
    if (isHit(config, decision)) waiting.hits++;
    this.#flushLater();
  }

  isRolledBack(organizationId: string, policyId: string): boolean {
    const pair = pairOf(organizationId, policyId);
    if (!this.#offUntil.has(pair)) this.#look(organizationId, policyId, pair);
    return this.#isOff(pair);
  }

  onRollback(listener: (rollback: Rollback) => void): () => void {
    return this.#listeners.add(listener);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#flushing;
    await this.#flush();
    await this.#link.close();
  }

  /** Another replica found a spike; our own are known from the reply. */
  message(text: string): void {
    const told = readMessage(text);
    if (told === null || told.from === this.#self) return;
    const { organizationId, policyId, cooldownMs } = told.rollback;
    this.#turnOff(pairOf(organizationId, policyId), cooldownMs);
    this.#listeners.tell(told.rollback);
  }

  /** What was told meanwhile is gone, so every pair is asked for again. */
  resumed(): void {
    for (const pair of [...this.#offUntil.keys()]) if (!this.#isOff(pair)) this.#offUntil.delete(pair);
  }

  #isOff(pair: string): boolean {
    const untilMs = this.#offUntil.get(pair);
    return untilMs !== undefined && untilMs > this.#clock.ticksMs();
  }

  #turnOff(pair: string, offMs: number): void {
    this.#offUntil.set(pair, this.#clock.ticksMs() + offMs);
    this.#waiting.delete(pair);
  }

  /** Asks once; the answer comes for the next request. */
  #look(organizationId: string, policyId: string, pair: string): void {
    this.#offUntil.set(pair, 0);
    this.#call(organizationId, policyId, [0, 0, 0, 0, 1, 0]).then(
      ([, offMs]) => {
        if (offMs > 0) this.#turnOff(pair, offMs);
      },
      () => {
        if (!this.#isOff(pair)) this.#offUntil.set(pair, 0, { ttl: LOOK_AGAIN_MS });
      },
    );
  }

  #flushLater(): void {
    if (this.#timer || this.#flushing || this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#flushing = this.#flush().finally(() => {
        this.#flushing = null;
        if (this.#waiting.size > 0) this.#flushLater();
      });
    }, this.#flushEveryMs);
    this.#timer.unref();
  }

  /** Never rejects. */
  async #flush(): Promise<void> {
    const taken = [...this.#waiting];
    this.#waiting = new Map();
    for (let at = 0; at < taken.length; at += AT_ONCE)
      await Promise.all(taken.slice(at, at + AT_ONCE).map(([pair, waiting]) => this.#post(pair, waiting)));
  }

  async #post(pair: string, waiting: Waiting): Promise<void> {
    const { organizationId, policyId, config, decided, hits } = waiting;
    const { rollout } = config;
    try {
      const [code, offMs, ...sums] = await this.#call(organizationId, policyId, [
        decided,
        hits,
        rollout.rollback_threshold,
        rollout.rollback_min_requests,
        rollout.rollback_window_minutes,
        cooldownOf(config),
      ]);
      this.#isFailing = false;
      if (code === 0) return;
      this.#turnOff(pair, offMs);
      if (code === 1) return;
      const event = {
        organizationId,
        policyId,
        decided: sums[0],
        hits: sums[1],
        cooldownMs: offMs,
        here: true,
      };
      this.#listeners.tell(event);
    } catch (error) {
      if (!this.#isFailing)
        this.#log.warn({ err: error }, 'Decisions could not be counted for rollbacks; trying again.');
      this.#isFailing = true;
      this.#takeBack(pair, waiting);
    }
  }

  /** For the next flush. A call that acted after all counts twice, hits and others alike: the share stays true. */
  #takeBack(pair: string, waiting: Waiting): void {
    if (this.#clock.ticksMs() - waiting.sinceMs > STALE_MS) return;
    const newer = this.#waiting.get(pair);
    const decided = waiting.decided + (newer?.decided ?? 0);
    const hits = waiting.hits + (newer?.hits ?? 0);
    this.#waiting.set(pair, { ...waiting, config: newer?.config ?? waiting.config, decided, hits });
  }

  async #call(organizationId: string, policyId: string, numbers: readonly number[]): Promise<Reply> {
    const home = `${this.#prefix}{${organizationId}}:`;
    const name = createHash('sha256').update(policyId).digest('base64url');
    const head = JSON.stringify([this.#self, organizationId, policyId]);
    return (await count(
      this.#link.client,
      [`${home}n:${name}`, `${home}off:${name}`],
      [this.#time(), ...numbers, this.channel, head],
    )) as Reply;
  }
}

const Head = v.tuple([v.string(), v.string(), v.string()]);

/** The head as JSON, then three numbers, a line each; null = no replica of ours wrote this. */
const readMessage = (text: string): { readonly from: string; readonly rollback: Rollback } | null => {
  const [head = '', cooldownMs, decided, hits] = text.split('\n');
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), Head), head);
  if (!parsed.success) return null;
  const [from, organizationId, policyId] = parsed.output;
  const numbers = { cooldownMs: Number(cooldownMs), decided: Number(decided), hits: Number(hits) };
  return { from, rollback: { organizationId, policyId, ...numbers, here: false } };
};
