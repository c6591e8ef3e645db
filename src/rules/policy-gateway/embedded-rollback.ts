import { LRUCache } from 'lru-cache';
import { systemClock, type Clock } from '../../core/clock.js';
import { silentLog, type Log } from '../../core/log.js';
import type { Decision } from '../../core/review.js';
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

export interface EmbeddedSpikesOptions {
  readonly clock?: Clock;
  readonly log?: Log;
}

/** One configuration's last minutes, the oldest first, and their sums. */
class Tallies {
  readonly #minutes = new Map<number, { decided: number; hits: number }>();
  decided = 0;
  hits = 0;
  rolledBackUntil = -Infinity;

  add(minute: number, windowMinutes: number, hit: boolean): void {
    for (const [old, counts] of this.#minutes) {
      if (old > minute - windowMinutes) break;
      this.#minutes.delete(old);
      this.decided -= counts.decided;
      this.hits -= counts.hits;
    }
    let counts = this.#minutes.get(minute);
    if (!counts) this.#minutes.set(minute, (counts = { decided: 0, hits: 0 }));
    counts.decided++;
    this.decided++;
    if (!hit) return;
    counts.hits++;
    this.hits++;
  }

  clear(): void {
    this.#minutes.clear();
    this.decided = this.hits = 0;
  }
}

/** The ledger of a single process. */
export class EmbeddedSpikes implements SpikeLedger {
  readonly #clock: Clock;
  readonly #listeners: Listeners;
  readonly #pairs = new LRUCache<string, Tallies>({ max: MOST_PAIRS });

  constructor({ clock = systemClock, log = silentLog }: EmbeddedSpikesOptions = {}) {
    this.#clock = clock;
    this.#listeners = new Listeners((error) => log.error({ err: error }, 'A listener for rollbacks failed.'));
  }

  note(organizationId: string, policyId: string, decision: Decision, config: GatewayConfig): void {
    const { rollout } = config;
    if (!rollout.rollback_on_spike) return;
    const pair = pairOf(organizationId, policyId);
    let tallies = this.#pairs.get(pair);
    if (!tallies) this.#pairs.set(pair, (tallies = new Tallies()));
    const now = this.#clock.ticksMs();
    if (tallies.rolledBackUntil > now) return;
    tallies.add(Math.floor(now / MINUTE_MS), rollout.rollback_window_minutes, isHit(config, decision));
    const { decided, hits } = tallies;
    if (decided < rollout.rollback_min_requests || hits <= rollout.rollback_threshold * decided) return;
    const cooldownMs = cooldownOf(config);
    tallies.rolledBackUntil = now + cooldownMs;
    tallies.clear();
    this.#listeners.tell({ organizationId, policyId, decided, hits, cooldownMs, here: true });
  }

  isRolledBack(organizationId: string, policyId: string): boolean {
    const tallies = this.#pairs.get(pairOf(organizationId, policyId));
    return tallies !== undefined && tallies.rolledBackUntil > this.#clock.ticksMs();
  }

  onRollback(listener: (rollback: Rollback) => void): () => void {
    return this.#listeners.add(listener);
  }

  close(): Promise<void> {
    this.#pairs.clear();
    return Promise.resolve();
  }
}
