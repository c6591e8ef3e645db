import { LRUCache } from 'lru-cache';
import type { AdmitReply, AdmitRequest, Reading } from './limiter.js';

interface Entry {
  readonly reply: AdmitReply;
  readonly request: AdmitRequest;
  /** Scopes whose request limits are full, with the limits they were judged by. */
  readonly full: readonly Reading[];
  readonly receivedMs: number;
  readonly untilMs: number;
}

const MOST = 10_000;
/** Longer would show tokens as they no longer are. */
const LONGEST_MS = 1_000;

/**
 * Remembers that a key's request limit is full until a certain moment. Exact, because counted requests are never given
 * back; and only where the refused attempt would not have counted anyway.
 */
export class NegativeCache {
  readonly #entries = new LRUCache<string, Entry>({ max: MOST });
  readonly #ticksMs: () => number;

  constructor(ticksMs: () => number) {
    this.#ticksMs = ticksMs;
  }

  find(request: AdmitRequest): AdmitReply | null {
    if (this.#entries.size === 0) return null;
    const entry = this.#entries.get(nameOf(request));
    if (!entry) return null;
    const nowMs = this.#ticksMs();
    if (nowMs >= entry.untilMs || !entry.full.some((reading) => isStillJudgedBy(reading, request)))
      return null;
    // A larger request might have to wait for longer.
    if (request.tokens > entry.request.tokens) return null;
    return age(entry.reply, nowMs - entry.receivedMs);
  }

  /** `sentMs`: before the limiter was asked; its answer is not older than that. */
  learn(request: AdmitRequest, reply: AdmitReply, sentMs: number): void {
    if (reply.outcome !== 'refused') return;
    const full = reply.readings.filter(
      ({ metric, scope, waitMs }) =>
        waitMs > 0 &&
        (metric === 'rpm' || metric === 'rpd') &&
        (scope === 'key' || request.countRefused === 'none'),
    );
    if (full.length === 0) return;
    const waitMs = Math.min(LONGEST_MS, ...full.map((reading) => reading.waitMs));
    this.#entries.set(nameOf(request), {
      reply,
      request,
      full,
      receivedMs: this.#ticksMs(),
      untilMs: sentMs + waitMs,
    });
  }
}

const nameOf = ({ space, organizationId, scopes }: AdmitRequest): string =>
  `${space}\n${organizationId}\n${scopes.map(({ id }) => id).join('\n')}`;

const isStillJudgedBy = (reading: Reading, { scopes }: AdmitRequest): boolean =>
  scopes.some(
    ({ kind, id, limits }) =>
      kind === reading.scope &&
      id === reading.id &&
      (reading.metric === 'rpm' ? limits.rpm : limits.rpd) === reading.limit,
  );

/** The same reply a while later. */
const age = (reply: AdmitReply, elapsedMs: number): AdmitReply => {
  const less = (ms: number): number => (ms === 0 ? 0 : Math.max(1, ms - elapsedMs));
  const older = (reading: Reading): Reading => ({
    ...reading,
    resetMs: less(reading.resetMs),
    waitMs: less(reading.waitMs),
  });
  return {
    ...reply,
    nowMs: reply.nowMs + Math.floor(elapsedMs),
    readings: reply.readings.map(older),
    binding: reply.binding && older(reply.binding),
    retryMs: less(reply.retryMs),
    clockStepped: false,
    pruned: 0,
  };
};
