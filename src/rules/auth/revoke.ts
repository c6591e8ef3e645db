import { GatewayError, notFound } from '../../core/errors.js';
import type { Principal } from '../../core/principal.js';
import { commitWith, type ChangeOptions } from '../../io/records/join.js';
import { readRecord } from '../../io/records/read-record.js';
import type { Step, Stored } from '../../io/records/records.js';
import { changeRecord, nowSeconds, type Accounts } from './accounts.js';
import type { AdminApiKey, ProjectApiKey } from './key-views.js';
import { adminRing, projectRing, showKeys, type KeyRing } from './keys.js';
import { ADMIN_KEYS, KeyRecord, REVOKED_KEYS } from './layout.js';
import { getProject } from './projects.js';

const PAGE = 100;

export interface RevokeOptions<T> extends ChangeOptions<T> {
  /** Who asks; null = the operator. */
  readonly by: Principal | null;
  /** Lets the last key that may do everything revoke itself. */
  readonly force?: boolean;
}

/** Gives the key as it was; from the commit on its secret answers `revoked_api_key`. */
export const revokeAdminKey = (
  accounts: Accounts,
  organizationId: string,
  id: string,
  options: RevokeOptions<AdminApiKey>,
): Promise<AdminApiKey> => revokeKey(accounts, adminRing(organizationId), id, options);

export const revokeProjectKey = async (
  accounts: Accounts,
  organizationId: string,
  projectId: string,
  id: string,
  options: RevokeOptions<ProjectApiKey>,
): Promise<ProjectApiKey> => {
  await getProject(accounts, organizationId, projectId);
  return revokeKey(accounts, projectRing(organizationId, projectId), id, options);
};

const revokeKey = async <T>(
  accounts: Accounts,
  ring: KeyRing<T>,
  id: string,
  { by, force = false, also }: RevokeOptions<T>,
): Promise<T> =>
  changeRecord(
    () => accounts.records.get(ring.organizationId, ring.collection, id),
    async (stored) => {
      if (!stored) throw notFound('No such API key.');
      const record = readRecord(KeyRecord, stored);
      const itself = ring.kind === 'admin' && by?.keyId === id && record.permissions.includes('*');
      const witness = itself && !force ? [await anotherMaster(accounts, ring.organizationId, id)] : [];
      const [result] = await showKeys(accounts, ring, [stored]);
      const refusal = await commitWith(
        accounts.records,
        ring.organizationId,
        [
          { op: 'delete', collection: ring.collection, id, expect: stored.revision },
          {
            op: 'put',
            collection: REVOKED_KEYS,
            id,
            value: { ...stored.value, revoked_at: nowSeconds(accounts.clock) },
            expect: 'any',
          },
          ...witness,
        ],
        also?.(result!) ?? [],
      );
      return { refusal, result: result! };
    },
  );

/** Another live key with `*`, as a step that fails if it goes meanwhile: two last keys cannot both revoke themselves. */
const anotherMaster = async (accounts: Accounts, organizationId: string, id: string): Promise<Step> => {
  const master = await findMaster(accounts, organizationId, id);
  if (!master)
    throw new GatewayError(
      'last_admin_key',
      'This is the last key that holds every permission. Make another first, or revoke it with force.',
    );
  return { op: 'put', collection: ADMIN_KEYS, id: master.id, value: master.value, expect: master.revision };
};

const findMaster = async (
  accounts: Accounts,
  organizationId: string,
  exceptId: string,
): Promise<Stored | null> => {
  for (let after: string | undefined; ;) {
    const page = { limit: PAGE, ...(after !== undefined && { after }) };
    const { items, hasMore } = await accounts.records.list(organizationId, ADMIN_KEYS, page);
    const master = items.find((stored) => stored.id !== exceptId && isMaster(accounts, stored));
    if (master) return master;
    after = items.at(-1)?.id;
    if (!hasMore || after === undefined) return null;
  }
};

const isMaster = (accounts: Accounts, stored: Stored): boolean => {
  const { permissions, expires_at } = readRecord(KeyRecord, stored);
  return permissions.includes('*') && (expires_at === null || expires_at > nowSeconds(accounts.clock));
};
