import * as v from 'valibot';

/** In the partition that bears the organization's id. */
export const POLICIES = 'policies';
export const versionsOf = (policyId: string): string => `policies/${policyId}/versions`;

/** Digits of a version's number within its id, so that ids sort as numbers do. */
const NUMBER_DIGITS = 6;
/** Versions of a deleted policy go in one commit with it, so their number is bounded. */
export const MOST_VERSIONS = 5_000;

/** `pol_x`, 3 -> `pv_x_000003`. */
export const versionId = (policyId: string, version: number): string =>
  `pv_${policyId.slice('pol_'.length)}_${String(version).padStart(NUMBER_DIGITS, '0')}`;

const seconds = v.pipe(v.number(), v.integer(), v.minValue(0));
const number = v.pipe(v.number(), v.integer(), v.minValue(1));

/** What a draft and a version have in common: all that is versioned. */
export const PolicyTerms = v.object({
  rule: v.string(),
  direction: v.picklist(['request', 'response', 'both']),
  mode: v.picklist(['monitoring', 'enforcing']),
  scope: v.picklist(['organization', 'projects', 'unattached']),
  project_ids: v.pipe(v.array(v.string()), v.readonly()),
  match_threshold_basis_points: v.nullable(v.number()),
});
export type PolicyTerms = v.InferOutput<typeof PolicyTerms>;

/** Written once, never changed. */
export const VersionRecord = v.object({ ...PolicyTerms.entries, version: number, published_at: seconds });
export type VersionRecord = v.InferOutput<typeof VersionRecord>;

/** The published version stands in the policy too: a reader and a list need one read. */
export const PolicyRecord = v.object({
  name: v.string(),
  description: v.string(),
  state: v.picklist(['draft', 'monitoring', 'enforcing', 'paused']),
  draft: v.object({ ...PolicyTerms.entries, base_version: v.nullable(number) }),
  published: v.nullable(VersionRecord),
  created_at: seconds,
  updated_at: seconds,
});
export type PolicyRecord = v.InferOutput<typeof PolicyRecord>;
