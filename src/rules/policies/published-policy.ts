import { readRecord } from '../../io/records/read-record.js';
import type { Stored } from '../../io/records/records.js';
import { PolicyRecord } from './layout.js';
import { DEFAULT_THRESHOLD_BASIS_POINTS } from './threshold.js';

/** A version that acts: published, and neither paused nor a draft. */
export interface PublishedPolicy {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly rule: string;
  readonly direction: 'request' | 'response' | 'both';
  readonly mode: 'monitoring' | 'enforcing';
  readonly scope: 'organization' | 'projects' | 'unattached';
  /** Empty unless the scope is `projects`. */
  readonly projectIds: Iterable<string>;
  readonly thresholdBasisPoints: number;
  /** Seconds. */
  readonly createdAt: number;
}

export const readPublished = (stored: Stored): PublishedPolicy | null => {
  const { name, state, published, created_at: createdAt } = readRecord(PolicyRecord, stored);
  if (!published || (state !== 'monitoring' && state !== 'enforcing')) return null;
  return {
    id: stored.id,
    name,
    version: published.version,
    rule: published.rule,
    direction: published.direction,
    mode: state,
    scope: published.scope,
    projectIds: published.scope === 'projects' ? published.project_ids : [],
    thresholdBasisPoints: published.match_threshold_basis_points ?? DEFAULT_THRESHOLD_BASIS_POINTS,
    createdAt,
  };
};
