import { invalidParameter, notFound } from '../../core/errors.js';
import { newId } from '../../core/ids.js';
import type { Principal } from '../../core/principal.js';
import { commitWith, type ChangeOptions } from '../../io/records/join.js';
import { readRecord } from '../../io/records/read-record.js';
import type { Page, Step, Stored } from '../../io/records/records.js';
import { checkAmount, checkName, nowSeconds, resourceLimit, type Accounts } from './accounts.js';
import { showAdminKey, showProjectKey, type AdminApiKey, type ProjectApiKey } from './key-views.js';
import { ADMIN_KEYS, KeyRecord, projectKeysOf } from './layout.js';
import { getOrganization } from './organizations.js';
import { grant } from './permissions.js';
import { getProject } from './projects.js';
import { digestOf, mintSecret, redact, type KeyKind } from './secrets.js';

export interface NewKey {
  readonly name: string;
  readonly permissions?: readonly string[];
  readonly expiresAtS?: number | null;
  /** Project keys only: names or wildcards; null = every model. */
  readonly models?: readonly string[] | null;
  /** Project keys only: most credits it may spend; null = no bound of its own. */
  readonly creditBudget?: number | null;
}

export interface CreateKeyOptions<T> extends ChangeOptions<T> {
  /** Who asks; null = the operator at the command line or in the configuration. */
  readonly by: Principal | null;
}

/** The secret is in nobody's hands but the caller's: only its digest is kept. */
export interface CreatedKey<T> {
  readonly key: T;
  readonly secret: string;
}

export interface KeyPage<T> {
  readonly items: readonly T[];
  readonly hasMore: boolean;
}

/** What is common to the keys of one owner: an organization, or a project of it. */
export interface KeyRing<T> {
  readonly kind: KeyKind;
  readonly organizationId: string;
  readonly projectId: string | null;
  readonly collection: string;
  readonly show: (id: string, record: KeyRecord, lastUsedMs: number | null) => T;
}

export const adminRing = (organizationId: string): KeyRing<AdminApiKey> => ({
  kind: 'admin',
  organizationId,
  projectId: null,
  collection: ADMIN_KEYS,
  show: (id, record, lastUsedMs) => showAdminKey(organizationId, id, record, lastUsedMs),
});

export const projectRing = (organizationId: string, projectId: string): KeyRing<ProjectApiKey> => ({
  kind: 'project',
  organizationId,
  projectId,
  collection: projectKeysOf(projectId),
  show: (id, record, lastUsedMs) => showProjectKey(projectId, id, record, lastUsedMs),
});

export const createAdminKey = async (
  accounts: Accounts,
  organizationId: string,
  request: NewKey,
  options: CreateKeyOptions<AdminApiKey>,
): Promise<CreatedKey<AdminApiKey>> => {
  await getOrganization(accounts, organizationId);
  return createKey(accounts, adminRing(organizationId), request, options);
};

export const createProjectKey = async (
  accounts: Accounts,
  organizationId: string,
  projectId: string,
  request: NewKey,
  options: CreateKeyOptions<ProjectApiKey>,
): Promise<CreatedKey<ProjectApiKey>> => {
  await getProject(accounts, organizationId, projectId);
  return createKey(accounts, projectRing(organizationId, projectId), request, options);
};

export const listAdminKeys = (
  accounts: Accounts,
  organizationId: string,
  page: Page,
): Promise<KeyPage<AdminApiKey>> => listKeys(accounts, adminRing(organizationId), page);

export const listProjectKeys = async (
  accounts: Accounts,
  organizationId: string,
  projectId: string,
  page: Page,
): Promise<KeyPage<ProjectApiKey>> => {
  await getProject(accounts, organizationId, projectId);
  return listKeys(accounts, projectRing(organizationId, projectId), page);
};

export const getAdminKey = (accounts: Accounts, organizationId: string, id: string): Promise<AdminApiKey> =>
  getKey(accounts, adminRing(organizationId), id);

export const getProjectKey = async (
  accounts: Accounts,
  organizationId: string,
  projectId: string,
  id: string,
): Promise<ProjectApiKey> => {
  await getProject(accounts, organizationId, projectId);
  return getKey(accounts, projectRing(organizationId, projectId), id);
};

const createKey = async <T>(
  accounts: Accounts,
  ring: KeyRing<T>,
  request: NewKey,
  { by, also }: CreateKeyOptions<T>,
): Promise<CreatedKey<T>> => {
  checkName(request.name);
  checkFuture(accounts, request.expiresAtS ?? null);
  const id = newId('key');
  const secret = mintSecret(ring.kind);
  const record = makeKeyRecord(accounts, ring, request, secret, by);
  const key = ring.show(id, record, null);
  const max = ring.kind === 'admin' ? accounts.limits.adminKeys : accounts.limits.projectKeys;
  const refusal = await commitWith(
    accounts.records,
    ring.organizationId,
    [{ op: 'room', collection: ring.collection, max }, ...keySteps(ring, id, record)],
    also?.(key) ?? [],
  );
  if (refusal?.reason === 'full')
    throw resourceLimit(ring.kind === 'admin' ? 'administrator keys' : 'keys in a project', max);
  if (refusal) throw new Error(`The new key id ${id} is taken.`);
  return { key, secret };
};

/** The key and the way from its secret to it, in one commit. */
export const keySteps = (ring: KeyRing<unknown>, id: string, record: KeyRecord): readonly [Step, Step] => [
  { op: 'put', collection: ring.collection, id, value: record, expect: 'absent' },
  {
    op: 'point',
    digest: record.digest,
    to: { partition: ring.organizationId, collection: ring.collection, id },
  },
];

export const makeKeyRecord = (
  accounts: Accounts,
  ring: KeyRing<unknown>,
  request: NewKey,
  secret: string,
  by: Principal | null,
): KeyRecord => ({
  kind: ring.kind,
  name: request.name,
  digest: digestOf(accounts.pepper, secret),
  redacted_value: redact(secret),
  permissions: [...grant(ring.kind, request.permissions, by)],
  project_id: ring.projectId,
  models: checkModels(ring.kind, request.models ?? null),
  credit_budget: checkBudget(ring.kind, request.creditBudget ?? null),
  expires_at: checkExpiry(request.expiresAtS ?? null),
  created_at: nowSeconds(accounts.clock),
  created_by: by?.keyId ?? null,
});

const listKeys = async <T>(accounts: Accounts, ring: KeyRing<T>, page: Page): Promise<KeyPage<T>> => {
  const { items, hasMore } = await accounts.records.list(ring.organizationId, ring.collection, page);
  return { items: await showKeys(accounts, ring, items), hasMore };
};

const getKey = async <T>(accounts: Accounts, ring: KeyRing<T>, id: string): Promise<T> => {
  const stored = await accounts.records.get(ring.organizationId, ring.collection, id);
  if (!stored) throw notFound('No such API key.');
  const [key] = await showKeys(accounts, ring, [stored]);
  return key!;
};

export const showKeys = async <T>(
  accounts: Accounts,
  ring: KeyRing<T>,
  stored: readonly Stored[],
): Promise<readonly T[]> => {
  if (stored.length === 0) return [];
  const ids = stored.map(({ id }) => id);
  const lastUses = await accounts.records.lastUses(ring.organizationId, ids);
  return stored.map((one, index) => ring.show(one.id, readRecord(KeyRecord, one), lastUses[index] ?? null));
};

const checkFuture = (accounts: Accounts, expiresAtS: number | null): void => {
  if (expiresAtS !== null && expiresAtS <= nowSeconds(accounts.clock))
    throw invalidParameter('expires_at', 'must lie in the future.');
};

const checkExpiry = (expiresAtS: number | null): number | null => {
  if (expiresAtS !== null && (!Number.isSafeInteger(expiresAtS) || expiresAtS < 0))
    throw invalidParameter('expires_at', 'must be whole Unix seconds.');
  return expiresAtS;
};

const checkModels = (kind: KeyKind, models: readonly string[] | null): string[] | null => {
  if (models === null) return null;
  if (kind === 'admin') throw invalidParameter('models', 'is for project keys.');
  if (models.length === 0)
    throw invalidParameter('models', 'must name at least one model; null means every one.');
  return models.includes('*') ? null : [...models];
};

const checkBudget = (kind: KeyKind, credits: number | null): number | null => {
  if (credits === null) return null;
  if (kind === 'admin') throw invalidParameter('credit_budget', 'is for project keys.');
  checkAmount('credit_budget', credits, { whole: true });
  if (credits < 0) throw invalidParameter('credit_budget', 'must not be negative.');
  return credits;
};
