import type { KeyRecord } from './layout.js';

interface KeyView {
  readonly id: string;
  readonly name: string;
  readonly redacted_value: string;
  readonly created_at: number;
  readonly last_used_at?: number;
  readonly expires_at?: number;
  readonly permissions: readonly string[];
}

/** Seed 2.6. */
export interface AdminApiKey extends KeyView {
  readonly object: 'organization.admin_api_key';
  readonly owner: { readonly id: string; readonly type: 'organization' };
}

export interface ProjectApiKey extends KeyView {
  readonly object: 'organization.project.api_key';
  readonly owner: { readonly id: string; readonly type: 'project' };
  /** null = every model. */
  readonly models: readonly string[] | null;
  readonly credit_budget: number | null;
}

const show = (id: string, record: KeyRecord, lastUsedMs: number | null): KeyView => ({
  id,
  name: record.name,
  redacted_value: record.redacted_value,
  created_at: record.created_at,
  ...(lastUsedMs !== null && { last_used_at: Math.floor(lastUsedMs / 1_000) }),
  ...(record.expires_at !== null && { expires_at: record.expires_at }),
  permissions: record.permissions,
});

export const showAdminKey = (
  organizationId: string,
  id: string,
  record: KeyRecord,
  lastUsedMs: number | null,
): AdminApiKey => ({
  object: 'organization.admin_api_key',
  ...show(id, record, lastUsedMs),
  owner: { id: organizationId, type: 'organization' },
});

export const showProjectKey = (
  projectId: string,
  id: string,
  record: KeyRecord,
  lastUsedMs: number | null,
): ProjectApiKey => ({
  object: 'organization.project.api_key',
  ...show(id, record, lastUsedMs),
  owner: { id: projectId, type: 'project' },
  models: record.models,
  credit_budget: record.credit_budget,
});
