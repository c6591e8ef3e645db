import type { AuditFacts, Recorder } from './core/audit.js';
import type { Clock } from './core/clock.js';
import { GatewayError } from './core/errors.js';
import type { Lease, Meter } from './core/exchange.js';
import type { Log } from './core/log.js';
import type { Judgement } from './core/review.js';
import type { PolicingMetrics } from './io/metrics/policing.js';
import type { GatewayConfig } from './rules/policy-gateway/config.js';
import { NO_LISTED_TERM, reasonCodeOf } from './rules/policy-gateway/decide.js';
import { refusalHeaders, type ShowPolicy } from './rules/policy-gateway/headers.js';
import { noteJudgement, type SpikeLedger } from './rules/policy-gateway/rollback.js';
import type { Trip } from './trip.js';

export interface WitnessParts {
  readonly recorder: Recorder;
  readonly spikes: SpikeLedger;
  /** The configuration of an organization: at once where it is known here. */
  readonly configOf: (organizationId: string) => GatewayConfig | Promise<GatewayConfig>;
  readonly show: ShowPolicy;
  /** Whether plain allows are told of too. */
  readonly events: 'all' | 'acted';
  readonly metrics: PolicingMetrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** Sees every admitted inference request to its end, and tells of it exactly once. */
export interface Witness {
  /** Rejects where an organization's trail must be complete and there is no room for more of it. */
  admits(organizationId: string): Promise<void>;
  /** The lease whose settlement leaves a trace: the event is safe before the reply ends. */
  attend(lease: Lease, trip: Trip): Lease;
  /** Tells of a request that a quota kept out; gives the error as the organization words it. */
  refused(trip: Trip, error: GatewayError): Promise<GatewayError>;
}

const isPlain = (judgement: Judgement | null): boolean =>
  judgement === null || (judgement.decision === 'allow' && judgement.matches.length === 0);

export const createWitness = (parts: WitnessParts): Witness => {
  const { recorder, spikes, configOf, log } = parts;

  /** Rejects only for an organization whose trail must be complete: it is not told of what is not on record. */
  const record = async (facts: AuditFacts, config: GatewayConfig | null): Promise<void> => {
    try {
      await recorder.record(facts);
      parts.metrics.audit.recorded('ok');
    } catch (error) {
      parts.metrics.audit.recorded('lost');
      log.error({ err: error, request_id: facts.request_id }, 'an audit event was not recorded');
      if (config?.org_controls.audit_logs) throw auditFull();
    }
  };

  const count = ({ decision, effective, rolloutMode, direction, ...found }: Judgement): void => {
    parts.metrics.decision(decision, effective, rolloutMode, direction);
    for (const category of found.triggeredCategories) parts.metrics.category(category);
    parts.metrics.redactions(found.redactions);
  };

  /** null = it cannot be told now, which must not cost the event. */
  const knownConfig = async (organizationId: string): Promise<GatewayConfig | null> => {
    try {
      return await configOf(organizationId);
    } catch {
      return null;
    }
  };

  const conclude = async (trip: Trip): Promise<void> => {
    const organizationId = trip.caller!.principal.organization.id;
    const config = await knownConfig(organizationId);
    const { judgement } = trip.meter;
    if (judgement) count(judgement);
    if (judgement && config) noteJudgement(spikes, organizationId, config, judgement);
    if (parts.events === 'acted' && isPlain(judgement)) return;
    await record(factsOf(trip, config, judgement, parts.clock), config);
  };

  return {
    async admits(organizationId) {
      if (recorder.open || !(await configOf(organizationId)).org_controls.audit_logs) return;
      throw auditFull();
    },
    attend(lease, trip) {
      let told: Promise<void> | null = null;
      return {
        headers: lease.headers,
        async settle(spent) {
          // Both are on their way at once: neither waits for the other's round trip.
          const settled = lease.settle(spent);
          told ??= conclude(trip);
          const [settlement] = await Promise.all([settled, told]);
          return settlement;
        },
      };
    },
    async refused(trip, error) {
      const { [REASON]: reason, ...headers } = error.headers;
      if (reason === undefined) return error;
      const { principal } = trip.caller!;
      const config = await knownConfig(principal.organization.id);
      const worded = config ? reasonCodeOf(config, reason) : reason;
      const facts = {
        ...factsOf(trip, config, null, parts.clock),
        ...refusal(worded),
        quota_subject: reason.startsWith('USER')
          ? (trip.policy.user ?? principal.keyId)
          : principal.projectId,
      };
      await record(facts, null);
      return new GatewayError(error.code, error.message.replace(reason, worded), {
        ...(error.retryAfterS !== null && { retryAfterS: error.retryAfterS }),
        headers: { ...headers, ...refusalHeaders(config, reason, parts.show) },
      });
    },
  };
};

const auditFull = (): GatewayError =>
  new GatewayError('audit_unavailable', 'The audit trail is full, and this organization requires it.', {
    retryAfterS: 30,
  });

/** Where a quota says that it was one. */
const REASON = 'x-policy-reason-code';

const refusal = (reasonCode: string) => ({
  decision: 'refuse',
  effective_decision: 'refuse',
  enforced: true,
  reason_code: reasonCode,
});

const usageOf = ({ usage, credits, provider }: Meter): AuditFacts['usage'] =>
  provider === null
    ? null
    : {
        input_tokens: usage.input,
        cache_read_tokens: usage.cacheRead,
        cache_write_tokens: usage.cacheWrite,
        output_tokens: usage.output,
        reasoning_tokens: usage.reasoning,
        credits,
      };

const factsOf = (
  trip: Trip,
  config: GatewayConfig | null,
  judgement: Judgement | null,
  clock: Clock,
): AuditFacts => {
  const { meter, policy } = trip;
  const { organization, projectId, keyId } = trip.caller!.principal;
  const matches = judgement?.matches ?? [];
  const decisive = matches.find(({ kind, name }) => kind === 'policy' && name === judgement?.policyId);
  const classification = config?.org_controls.data_classification ?? '';
  return {
    event_type: 'enforcement',
    org_id: organization.id,
    project_id: projectId,
    key_id: keyId,
    request_id: trip.requestId,
    endpoint: trip.route?.path ?? null,
    model: meter.model,
    user_id: policy.user,
    policy_id: judgement?.policyId ?? config?.policy_id ?? null,
    policy_name: decisive?.policyName ?? (config?.name === '' ? null : (config?.name ?? null)),
    policy_version: decisive?.policyVersion ?? null,
    data_classification: classification === '' ? null : classification,
    decision: judgement?.decision ?? 'allow',
    effective_decision: judgement?.effective ?? 'allow',
    enforced: judgement?.enforced ?? false,
    rollout_mode: judgement?.rolloutMode ?? null,
    reason_code: judgement?.reasonCode ?? 'ALLOW',
    triggered_categories: judgement?.triggeredCategories ?? [],
    allowlist_hits: matches.filter(({ kind, name }) => kind === 'allowlist' && name !== NO_LISTED_TERM)
      .length,
    denylist_hits: matches.filter(({ kind }) => kind === 'denylist').length,
    redactions: judgement?.redactions ?? 0,
    direction: judgement && matches.length > 0 ? judgement.direction : null,
    policy_target: policy.target,
    policy_user: policy.user,
    quota_subject: null,
    matches,
    truncated: meter.truncated,
    client_aborted: trip.clientLeft,
    latency_ms: Math.round(clock.ticksMs() - trip.receivedMs),
    usage: usageOf(meter),
    ...(meter.content && { content: meter.content() }),
    ...(trip.failure?.code === 'project_mismatch' &&
      refusal(config ? reasonCodeOf(config, 'REFUSE') : 'REFUSE')),
    ...(trip.route?.operation === 'passthrough' && { details: { unmoderated: true } }),
  };
};
