import { readRecord } from '../../io/records/read-record.js';
import type { Stored } from '../../io/records/records.js';
import { PolicyRecord, versionId, type PolicyTerms, type VersionRecord } from './layout.js';

/** A policy in a list (seed 4.1). */
export interface PolicyItem {
  readonly id: string;
  readonly object: 'organization.policy';
  readonly name: string;
  readonly description: string;
  readonly state: PolicyRecord['state'];
  readonly revision: number;
  readonly current_version: number | null;
  readonly has_unpublished_changes: boolean;
  readonly created_at: number;
  readonly updated_at: number;
}

/** A policy as clients see it (seed 2.1). */
export interface Policy extends PolicyItem {
  readonly draft: PolicyTerms & { readonly base_version: number | null };
  readonly published: PolicyVersion | null;
}

/** Seed 2.3. */
export interface PolicyVersion extends PolicyTerms {
  readonly id: string;
  readonly object: 'organization.policy.version';
  readonly version: number;
  readonly published_at: number;
  readonly current: boolean;
}

/** Seed 2.4. */
export interface DeletedPolicy {
  readonly id: string;
  readonly object: 'organization.policy.deleted';
  readonly deleted: true;
}

export const termsOf = (terms: PolicyTerms): PolicyTerms => ({
  rule: terms.rule,
  direction: terms.direction,
  mode: terms.mode,
  scope: terms.scope,
  project_ids: terms.project_ids,
  match_threshold_basis_points: terms.match_threshold_basis_points,
});

/** By value; project ids are a set (D6, D7). */
export const sameTerms = (one: PolicyTerms, other: PolicyTerms): boolean =>
  one.rule === other.rule &&
  one.direction === other.direction &&
  one.mode === other.mode &&
  one.scope === other.scope &&
  one.match_threshold_basis_points === other.match_threshold_basis_points &&
  sameSet(one.project_ids, other.project_ids);

const sameSet = (one: readonly string[], other: readonly string[]): boolean => {
  const [left, right] = [new Set(one), new Set(other)];
  return left.size === right.size && [...left].every((item) => right.has(item));
};

export const hasUnpublishedChanges = ({ draft, published }: PolicyRecord): boolean =>
  published === null || !sameTerms(draft, published);

const showItem = (id: string, revision: number, record: PolicyRecord): PolicyItem => ({
  id,
  object: 'organization.policy',
  name: record.name,
  description: record.description,
  state: record.state,
  revision,
  current_version: record.published?.version ?? null,
  has_unpublished_changes: hasUnpublishedChanges(record),
  created_at: record.created_at,
  updated_at: record.updated_at,
});

export const showPolicy = (id: string, revision: number, record: PolicyRecord): Policy => ({
  ...showItem(id, revision, record),
  draft: { ...termsOf(record.draft), base_version: record.draft.base_version },
  published: record.published && showVersion(id, record.published, record.published.version),
});

/** Which version is current is never stored with it: a version does not change. */
export const showVersion = (
  policyId: string,
  record: VersionRecord,
  currentVersion: number | null,
): PolicyVersion => ({
  id: versionId(policyId, record.version),
  object: 'organization.policy.version',
  version: record.version,
  ...termsOf(record),
  published_at: record.published_at,
  current: record.version === currentVersion,
});

export const readPolicy = (stored: Stored): Policy =>
  showPolicy(stored.id, stored.revision, readRecord(PolicyRecord, stored));

export const readItem = (stored: Stored): PolicyItem =>
  showItem(stored.id, stored.revision, readRecord(PolicyRecord, stored));
