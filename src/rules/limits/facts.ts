import type { Principal } from '../../core/principal.js';
import type { AdmitReply, AdmitRequest, Metric, Reading } from './limiter.js';

/** Why a request was refused, as plain JSON: kept for an hour under its id. */
export interface RefusalFacts {
  readonly requestId: string;
  readonly organizationId: string;
  readonly projectId: string | null;
  readonly keyId: string;
  readonly atMs: number;
  readonly outcome: 'limit' | 'credits';
  /** Tokens and credits it wanted to reserve. */
  readonly tokens: number;
  readonly credits: number | null;
  readonly availableCredits: number | null;
  readonly retryMs: number;
  /** Decided without the shared limiter. */
  readonly degraded: boolean;
  /** Everything that stood in its way, the one that binds first. */
  readonly violated: readonly ViolatedFact[];
}

export interface ViolatedFact {
  readonly scope: Reading['scope'];
  readonly id: string;
  readonly metric: Metric;
  readonly window: Reading['window'];
  readonly limit: number;
  readonly used: number;
  /** Of `used`, what requests under way held; null = too many to sum. */
  readonly reserved: number | null;
  readonly freesAtMs: number;
}

export const factsOf = (
  requestId: string,
  { projectId, keyId }: Principal,
  request: AdmitRequest,
  reply: AdmitReply,
  degraded: boolean,
): RefusalFacts => ({
  requestId,
  organizationId: request.organizationId,
  projectId,
  keyId,
  atMs: reply.nowMs,
  outcome: reply.outcome === 'refused' ? 'limit' : 'credits',
  tokens: request.tokens,
  credits: request.credits?.hold ?? null,
  availableCredits: reply.credits?.available ?? null,
  retryMs: reply.retryMs,
  degraded,
  violated: reply.readings
    .filter(({ waitMs }) => waitMs > 0)
    .sort((one, other) => other.waitMs - one.waitMs)
    .map(({ scope, id, metric, window, limit, used, reserved, waitMs }) => ({
      scope,
      id,
      metric,
      window,
      limit: limit ?? 0,
      used,
      reserved,
      freesAtMs: reply.nowMs + waitMs,
    })),
});
