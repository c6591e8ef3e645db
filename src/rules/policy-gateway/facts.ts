import { blankFacts, type AuditEventType, type AuditFacts } from '../../core/audit.js';
import type { Judgement } from '../../core/review.js';
import type { GatewayConfig } from './config.js';
import { NO_LISTED_TERM } from './decide.js';
import type { Rollback } from './rollback.js';

/** Who did something, as events name them. */
export interface Actor {
  readonly organizationId: string;
  readonly projectId: string | null;
  readonly keyId: string | null;
  readonly requestId: string | null;
  readonly endpoint: string | null;
}

const factsOf = (
  type: AuditEventType,
  { organizationId, projectId, keyId, requestId, endpoint }: Actor,
  { policy_id, name, org_controls: { data_classification: classification } }: GatewayConfig,
): AuditFacts => ({
  ...blankFacts(type, organizationId),
  project_id: projectId,
  key_id: keyId,
  request_id: requestId,
  endpoint,
  policy_id,
  policy_name: name === '' ? null : name,
  data_classification: classification === '' ? null : classification,
});

/** A configuration was saved (D17). */
export const revisionFacts = (actor: Actor, config: GatewayConfig, revision: number): AuditFacts => ({
  ...factsOf('revision', actor, config),
  policy_version: revision,
  details: { object: 'policy_gateway.config', action: 'save', revision },
});

/** Enforcement was stopped (D23). */
export const rollbackFacts = (rollback: Rollback, config: GatewayConfig): AuditFacts => {
  const { organizationId, policyId, decided, hits, cooldownMs } = rollback;
  const nobody = { organizationId, projectId: null, keyId: null, requestId: null, endpoint: null };
  return {
    ...factsOf('rollback', nobody, config),
    policy_id: policyId,
    rollout_mode: 'rollback',
    details: { decided, hits, cooldown_ms: cooldownMs },
  };
};

/** What would have been decided (D20). Nothing was done to anybody, so nothing is enforced. */
export const simulationFacts = (actor: Actor, config: GatewayConfig, judgement: Judgement): AuditFacts => {
  const { matches } = judgement;
  return {
    ...factsOf('simulation', actor, config),
    policy_id: judgement.policyId ?? config.policy_id,
    decision: judgement.decision,
    effective_decision: 'allow',
    rollout_mode: judgement.rolloutMode,
    reason_code: judgement.reasonCode,
    triggered_categories: judgement.triggeredCategories,
    allowlist_hits: matches.filter(({ kind, name }) => kind === 'allowlist' && name !== NO_LISTED_TERM)
      .length,
    denylist_hits: matches.filter(({ kind }) => kind === 'denylist').length,
    redactions: judgement.redactions,
    direction: judgement.direction,
    matches,
  };
};
