import type { RolloutMode } from '../../core/review.js';
import type { GatewayConfig } from './config.js';

/** What the configuration may do to one exchange. */
export interface Standing {
  readonly mode: RolloutMode;
  /** false = it is not even asked. */
  readonly decides: boolean;
  /** false = what it decides is only recorded. */
  readonly enforces: boolean;
}

/** Every standing there is (D22). */
export const standings = {
  enforced: { mode: 'enforced', decides: true, enforces: true },
  canary: { mode: 'canary', decides: true, enforces: true },
  canaryOutside: { mode: 'canary', decides: true, enforces: false },
  shadow: { mode: 'shadow', decides: true, enforces: false },
  shadowOutside: { mode: 'shadow', decides: false, enforces: false },
  rollback: { mode: 'rollback', decides: true, enforces: false },
} as const satisfies Record<string, Standing>;

/** Who asks, and for what. */
export interface Subject {
  /** `X-Policy-User`, else the key's id. */
  readonly subject: string;
  /** `X-Policy-Target`. */
  readonly target: string | null;
  readonly projectId: string | null;
  readonly model: string | null;
}

type Sample = GatewayConfig['rollout']['canary'];

const BUCKETS = 10_000;

export const standingOf = (
  { rollout, policy_id: policyId }: GatewayConfig,
  subject: Subject,
  rolledBack: boolean,
): Standing => {
  if (rolledBack && rollout.rollback_on_spike) return standings.rollback;
  if (rollout.canary.enabled)
    return isSampled(rollout.canary, policyId, subject) ? standings.canary : standings.canaryOutside;
  if (rollout.shadow.enabled)
    return isSampled(rollout.shadow, policyId, subject) ? standings.shadow : standings.shadowOutside;
  return standings.enforced;
};

/** As for somebody inside every sample: what a simulation asks about is the rule, not the draw. */
export const sampledStanding = ({ rollout }: GatewayConfig, rolledBack: boolean): Standing => {
  if (rolledBack && rollout.rollback_on_spike) return standings.rollback;
  if (rollout.canary.enabled) return standings.canary;
  return rollout.shadow.enabled ? standings.shadow : standings.enforced;
};

const isSampled = (sample: Sample, policyId: string, subject: Subject): boolean =>
  isTargeted(sample.targets, subject) &&
  bucketOf(policyId, subject.subject) < Math.round((sample.sample_percent / 100) * BUCKETS);

const isTargeted = (targets: readonly string[], { target, projectId, model }: Subject): boolean =>
  targets.length === 0 || [target, projectId, model].some((name) => name !== null && targets.includes(name));

/** The same bucket for the same subject, whatever the percentage: whoever is in a sample stays when it grows. */
export const bucketOf = (policyId: string, subject: string): number =>
  scatter(hash(subject, hash(`${policyId}\n`, FNV_OFFSET))) % BUCKETS;

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** FNV-1a over UTF-16 units. */
const hash = (text: string, start: number): number => {
  let value = start;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), FNV_PRIME);
  return value;
};

/** MurmurHash3's last step: names that differ in their last digit alone lie far apart. */
const scatter = (value: number): number => {
  let bits = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
};
