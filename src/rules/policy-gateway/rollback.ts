import type { Decision, Judgement } from '../../core/review.js';
import type { GatewayConfig } from './config.js';

/** Enforcement of a configuration was stopped (D23). */
export interface Rollback {
  readonly organizationId: string;
  readonly policyId: string;
  /** Decided requests in the window, and how many of them were hit. */
  readonly decided: number;
  readonly hits: number;
  readonly cooldownMs: number;
  /** Whether it was found here: exactly one replica writes the event. */
  readonly here: boolean;
}

/**
 * Counts what a configuration decides and stops its enforcement on every replica when too many requests are hit.
 * Counting begins anew after the cooldown; nothing is counted during it.
 */
export interface SpikeLedger {
  /** One decided request; costs a counter in memory. */
  note(organizationId: string, policyId: string, decision: Decision, config: GatewayConfig): void;
  isRolledBack(organizationId: string, policyId: string): boolean;
  /** Gives the way to stop listening. */
  onRollback(listener: (rollback: Rollback) => void): () => void;
  close(): Promise<void>;
}

/** Pairs of organization and configuration that are remembered; beyond them the longest unused is forgotten. */
export const MOST_PAIRS = 50_000;

export const MINUTE_MS = 60_000;

/** Counts a judgement where the configuration had its say and may be enforced: a shadow hurts nobody. */
export const noteJudgement = (
  ledger: SpikeLedger,
  organizationId: string,
  config: GatewayConfig,
  { candidate, rolloutMode }: Judgement,
): void => {
  if (candidate === null || !config.rollout.rollback_on_spike) return;
  if (rolloutMode === 'enforced' || rolloutMode === 'canary')
    ledger.note(organizationId, config.policy_id, candidate, config);
};

export const pairOf = (organizationId: string, policyId: string): string => `${organizationId}\n${policyId}`;

export const isHit = ({ rollout }: GatewayConfig, decision: Decision): boolean =>
  rollout.rollback_decisions.includes(decision);

export const cooldownOf = ({ rollout }: GatewayConfig): number =>
  Math.round(rollout.rollback_cooldown_minutes * MINUTE_MS);

/** Those who want to know; one that throws harms no other. */
export class Listeners {
  readonly #listeners = new Set<(rollback: Rollback) => void>();
  readonly #onFault: (error: unknown) => void;

  constructor(onFault: (error: unknown) => void) {
    this.#onFault = onFault;
  }

  add(listener: (rollback: Rollback) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  tell(rollback: Rollback): void {
    for (const listener of this.#listeners) {
      try {
        listener(rollback);
      } catch (error) {
        this.#onFault(error);
      }
    }
  }
}
