import type { Limits, ScopeKind } from './limiter.js';
import type { TierLimits } from './tiers.js';

/** Limits other than those of the tier; what is not given stays, null lifts a limit. */
export interface Override {
  readonly scope: ScopeKind;
  /** The one it is for, or `*` for all. */
  readonly id: string;
  readonly rpm?: number | null | undefined;
  readonly rpd?: number | null | undefined;
  readonly tpm?: number | null | undefined;
  readonly tpd?: number | null | undefined;
  readonly concurrent?: number | null | undefined;
}

export type Overrides = (scope: ScopeKind, id: string, tier: TierLimits) => Limits;

const metrics = ['rpm', 'rpd', 'tpm', 'tpd', 'concurrent'] as const;

/** Each limit comes from the override naming the id, else from the one for all, else from the tier. */
export const createOverrides = (given: readonly Override[]): Overrides => {
  const byName = new Map(given.map((override) => [`${override.scope} ${override.id}`, override]));
  return (scope, id, tier) => {
    const limits = tier[scope];
    if (byName.size === 0) return limits;
    const one = byName.get(`${scope} ${id}`);
    const all = byName.get(`${scope} *`);
    if (!one && !all) return limits;
    const merged = { ...limits };
    for (const metric of metrics) {
      if (metric === 'tpd' && scope !== 'organization') continue;
      const limit = one?.[metric] !== undefined ? one[metric] : all?.[metric];
      if (limit !== undefined) merged[metric] = limit;
    }
    return merged;
  };
};
