import { LRUCache } from 'lru-cache';
import type { Clock } from '../../core/clock.js';
import type { Organization, Principal } from '../../core/principal.js';
import { readRecord } from '../../io/records/read-record.js';
import { GLOBAL, type Change, type Pointer, type Records, type Stored } from '../../io/records/records.js';
import { FreshCache, StoreHealth } from './fresh-cache.js';
import { holdsKeys, KeyRecord, ORGANIZATIONS, REVOKED_KEYS } from './layout.js';
import { asOrganization } from './organizations.js';
import { sameDigest } from './secrets.js';

/** A key as the walk of a request needs it. */
export interface Key {
  readonly id: string;
  readonly pointer: Pointer;
  readonly kind: 'admin' | 'project';
  readonly projectId: string | null;
  readonly permissions: ReadonlySet<string>;
  readonly models: readonly string[] | null;
  readonly creditBudget: number | null;
  readonly expiresAtMs: number;
  readonly revoked: boolean;
  /** Made when first asked for, and again when its organization changes. */
  principal: Principal | null;
}

export interface DirectoryOptions {
  readonly records: Records;
  readonly clock: Clock;
  readonly maxKeys?: number;
  readonly maxOrganizations?: number;
  /** The store went away (true) or answers again (false). */
  readonly onDegraded?: (degraded: boolean) => void;
}

/** Keys by the digest of their secret, and organizations by id: in memory, never older than a second. */
export interface Directory {
  readonly keys: FreshCache<Key>;
  readonly organizations: FreshCache<Organization>;
  readonly degraded: () => boolean;
  readonly close: () => void;
}

/** A key keeps its id when its record moves to the revoked ones. */
const placeOf = ({ partition, id }: { readonly partition: string; readonly id: string }): string =>
  `${partition} ${id}`;

const asKey = (stored: Stored, pointer: Pointer, digest: string, revoked: boolean): Key | null => {
  const record = readRecord(KeyRecord, stored);
  if (!sameDigest(record.digest, digest)) return null;
  return {
    id: stored.id,
    pointer,
    kind: record.kind,
    projectId: record.project_id,
    permissions: new Set(record.permissions),
    models: record.models,
    creditBudget: record.credit_budget,
    expiresAtMs: record.expires_at === null ? Infinity : record.expires_at * 1_000,
    revoked,
    principal: null,
  };
};

const loadKey = async (records: Records, digest: string, previous: Key | null): Promise<Key | null> => {
  const pointer = previous?.pointer ?? (await records.find(digest));
  if (!pointer) return null;
  const { partition, collection, id } = pointer;
  const live = await records.get(partition, collection, id);
  if (live) return asKey(live, pointer, digest, false);
  const revoked = await records.get(partition, REVOKED_KEYS, id);
  return revoked && asKey(revoked, pointer, digest, true);
};

export const createDirectory = (options: DirectoryOptions): Directory => {
  const { records, clock, maxKeys = 20_000, maxOrganizations = 10_000, onDegraded = () => {} } = options;
  const health = new StoreHealth(onDegraded);
  const digests = new LRUCache<string, string>({ max: maxKeys });
  const keys = new FreshCache<Key>({
    max: maxKeys,
    clock,
    health,
    load: async (digest, previous) => {
      const key = await loadKey(records, digest, previous);
      if (key) digests.set(placeOf(key.pointer), digest);
      return key;
    },
  });
  const organizations = new FreshCache<Organization>({
    max: maxOrganizations,
    clock,
    health,
    load: async (id) => {
      const stored = await records.get(GLOBAL, ORGANIZATIONS, id);
      return stored && asOrganization(stored);
    },
  });
  const onChange = (change: Change): void => {
    if (change === null) {
      keys.doubt();
      organizations.doubt();
    } else if (change.partition === GLOBAL) {
      if (change.collection === ORGANIZATIONS) organizations.drop(change.id);
    } else if (holdsKeys(change.collection)) {
      keys.drop(digests.get(placeOf(change)));
    }
  };
  return { keys, organizations, degraded: () => health.degraded, close: records.watch(onChange) };
};
