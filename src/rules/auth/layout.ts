import * as v from 'valibot';

/** In GLOBAL. */
export const ORGANIZATIONS = 'organizations';
export const paymentsOf = (organizationId: string): string => `payments/${organizationId}`;
export const FREE_REQUEST_DAYS = 'free_request_days';

/** In the partition that bears the organization's id. */
export const PROJECTS = 'projects';
export const ADMIN_KEYS = 'admin_keys';
export const projectKeysOf = (projectId: string): string => `project_keys/${projectId}`;
/** A revoked key's record moves here; its pointer stays, so that the secret still answers `revoked_api_key`. */
export const REVOKED_KEYS = 'revoked_keys';
export const CREDITS = 'credits';
export const FUNDS = 'funds';
export const CREDIT_ENTRIES = 'credit_entries';

export const holdsKeys = (collection: string): boolean =>
  collection === ADMIN_KEYS || collection === REVOKED_KEYS || collection.startsWith('project_keys/');

const seconds = v.pipe(v.number(), v.integer(), v.minValue(0));

export const OrganizationRecord = v.object({
  name: v.string(),
  plan: v.picklist(['free', 'developer', 'growth', 'scale']),
  lifetime_paid_usd: v.number(),
  metered: v.boolean(),
  created_at: seconds,
});
export type OrganizationRecord = v.InferOutput<typeof OrganizationRecord>;

export const ProjectRecord = v.object({ name: v.string(), created_at: seconds });
export type ProjectRecord = v.InferOutput<typeof ProjectRecord>;

export const KeyRecord = v.object({
  kind: v.picklist(['admin', 'project']),
  name: v.string(),
  digest: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  redacted_value: v.string(),
  permissions: v.array(v.string()),
  project_id: v.nullable(v.string()),
  /** null = every model. */
  models: v.nullable(v.array(v.string())),
  credit_budget: v.nullable(v.number()),
  expires_at: v.nullable(seconds),
  created_at: seconds,
  /** The key that made this one; null = the operator. */
  created_by: v.nullable(v.string()),
  revoked_at: v.optional(seconds),
});
export type KeyRecord = v.InferOutput<typeof KeyRecord>;

/** What was granted in all, less what was taken back; what is spent lives with the limiter. */
export const FundsRecord = v.object({
  granted: v.pipe(v.number(), v.safeInteger()),
  /** One more each time the balance is set: it begins anew. */
  epoch: seconds,
});
export type FundsRecord = v.InferOutput<typeof FundsRecord>;

export const FreeRequestDay = v.object({ count: v.pipe(v.number(), v.integer()) });
