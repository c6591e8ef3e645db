import { createHash } from 'node:crypto';
import { GatewayError } from '../../core/errors.js';
import type { Plan } from '../../core/principal.js';
import { readRecord } from '../../io/records/read-record.js';
import type { Stored } from '../../io/records/records.js';
import { checkName, type Accounts } from './accounts.js';
import { adminRing, keySteps, makeKeyRecord, projectRing, type KeyRing, type NewKey } from './keys.js';
import { KeyRecord, REVOKED_KEYS } from './layout.js';
import { createOrganization, findOrganization } from './organizations.js';
import { createProject, findProject } from './projects.js';
import { digestOf, mintSecret, sameDigest, secretFault, type KeyKind } from './secrets.js';

const GENERATE = 'generate';
const PATIENCE = 5;

export interface BootstrapKey extends NewKey {
  /** The whole secret, or `generate` (D47). */
  readonly value: string;
}

export interface BootstrapProject {
  readonly id: string;
  readonly name: string;
  readonly keys: readonly BootstrapKey[];
}

export interface BootstrapOrganization {
  readonly id: string;
  readonly name: string;
  readonly plan: Plan;
  readonly lifetimePaidUsd: number;
  /** The first balance; null = not metered. */
  readonly credits: number | null;
  readonly adminKeys: readonly BootstrapKey[];
  readonly projects: readonly BootstrapProject[];
  /** For other rooms: handed to `seed` unread. */
  readonly policies: readonly unknown[];
  readonly gateway: unknown;
}

export interface BootstrapOptions {
  readonly organizations: readonly BootstrapOrganization[];
  /** Lets other rooms create what is theirs; called for each organization once it exists. */
  readonly seed?: (organization: BootstrapOrganization) => Promise<void>;
}

/**
 * What became of a key: `created`; `added` beside an older one of the same name, whose value differs; `kept` as it
 * was; `revoked` before and left so; `taken`, since its value belongs to another key.
 */
export type KeyOutcome = 'created' | 'added' | 'kept' | 'revoked' | 'taken';

export interface BootstrappedKey {
  readonly kind: KeyKind;
  readonly organizationId: string;
  readonly projectId: string | null;
  readonly keyId: string;
  readonly name: string;
  readonly outcome: KeyOutcome;
  /** Only of a key generated this time: to be shown once. */
  readonly secret: string | null;
}

export interface BootstrapReport {
  readonly organizations: readonly string[];
  readonly projects: readonly string[];
  readonly keys: readonly BootstrappedKey[];
}

/** Creates what is absent and changes nothing that is there. Any number of replicas may do it at once, at every start. */
export const bootstrap = async (
  accounts: Accounts,
  { organizations, seed }: BootstrapOptions,
): Promise<BootstrapReport> => {
  const report = {
    organizations: [] as string[],
    projects: [] as string[],
    keys: [] as BootstrappedKey[],
  };
  for (const organization of organizations) {
    const { id, adminKeys, projects } = organization;
    if (await ensureOrganization(accounts, organization)) report.organizations.push(id);
    for (const key of adminKeys) report.keys.push(await ensureKey(accounts, adminRing(id), key));
    for (const project of projects) {
      if (await ensureProject(accounts, id, project)) report.projects.push(project.id);
      const ring = projectRing(id, project.id);
      for (const key of project.keys) report.keys.push(await ensureKey(accounts, ring, key));
    }
    await seed?.(organization);
  }
  return report;
};

/** True when this call made it. */
const unlessExists = async (create: () => Promise<unknown>): Promise<boolean> => {
  try {
    await create();
    return true;
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'already_exists') return false;
    throw error;
  }
};

const ensureOrganization = async (
  accounts: Accounts,
  { id, name, plan, lifetimePaidUsd, credits }: BootstrapOrganization,
): Promise<boolean> =>
  !(await findOrganization(accounts, id)) &&
  unlessExists(() => createOrganization(accounts, { id, name, plan, lifetimePaidUsd, credits }));

const ensureProject = async (
  accounts: Accounts,
  organizationId: string,
  { id, name }: BootstrapProject,
): Promise<boolean> =>
  !(await findProject(accounts, organizationId, id)) &&
  unlessExists(() => createProject(accounts, organizationId, { id, name }));

const ensureKey = async (
  accounts: Accounts,
  ring: KeyRing<unknown>,
  key: BootstrapKey,
): Promise<BootstrappedKey> => {
  checkName(key.name);
  for (let turn = 0; turn < PATIENCE; turn++) {
    const ensured = await tryKey(accounts, ring, key);
    if (ensured) return ensured;
  }
  throw new Error(`The bootstrap key "${key.name}" could not be created: others change it all the time.`);
};

/** null = another replica was quicker: look again. */
const tryKey = async (
  accounts: Accounts,
  ring: KeyRing<unknown>,
  key: BootstrapKey,
): Promise<BootstrappedKey | null> => {
  const tell = (keyId: string, outcome: KeyOutcome, secret: string | null = null): BootstrappedKey => ({
    kind: ring.kind,
    organizationId: ring.organizationId,
    projectId: ring.projectId,
    keyId,
    name: key.name,
    outcome,
    secret,
  });

  const firstId = deriveId(ring, key.name);
  const first = await findKey(accounts, ring, firstId);
  if (key.value === GENERATE) {
    if (first) return tell(firstId, first.outcome);
    const secret = mintSecret(ring.kind);
    const made = await putKey(accounts, ring, firstId, key, secret);
    return made ? tell(firstId, 'created', secret) : null;
  }

  const fault = secretFault(key.value);
  if (fault !== null) throw new Error(`The value of the bootstrap key "${key.name}" ${fault}.`);
  const digest = digestOf(accounts.pepper, key.value);
  if (first && sameDigest(first.record.digest, digest)) return tell(firstId, first.outcome);

  const id = first ? deriveId(ring, key.name, digest) : firstId;
  const held = (first && (await findKey(accounts, ring, id))) ?? (await findHolder(accounts, digest));
  if (held) return tell(held.id, held.id === id || held.outcome === 'revoked' ? held.outcome : 'taken');
  const made = await putKey(accounts, ring, id, key, key.value);
  return made ? tell(id, first ? 'added' : 'created') : null;
};

/** The same name gives the same id on every replica and at every start. */
const deriveId = (ring: KeyRing<unknown>, name: string, digest = ''): string => {
  const text = JSON.stringify([ring.kind, ring.organizationId, ring.projectId, name, digest]);
  return `key_boot_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;
};

interface FoundKey {
  readonly id: string;
  readonly record: KeyRecord;
  readonly outcome: 'kept' | 'revoked';
}

const found = (stored: Stored, outcome: FoundKey['outcome']): FoundKey => ({
  id: stored.id,
  record: readRecord(KeyRecord, stored),
  outcome,
});

const findKey = async (
  accounts: Accounts,
  ring: { readonly organizationId: string; readonly collection: string },
  id: string,
): Promise<FoundKey | null> => {
  const live = await accounts.records.get(ring.organizationId, ring.collection, id);
  if (live) return found(live, 'kept');
  const revoked = await accounts.records.get(ring.organizationId, REVOKED_KEYS, id);
  return revoked && found(revoked, 'revoked');
};

/** The key a secret leads to already, under whatever name: a revoked secret does not come back under a new one. */
const findHolder = async (accounts: Accounts, digest: string): Promise<FoundKey | null> => {
  const pointer = await accounts.records.find(digest);
  if (!pointer) return null;
  const { partition, collection, id } = pointer;
  return findKey(accounts, { organizationId: partition, collection }, id);
};

/** False when another was quicker: the key, its revocation or another key of the same value is there now. */
const putKey = async (
  accounts: Accounts,
  ring: KeyRing<unknown>,
  id: string,
  key: BootstrapKey,
  secret: string,
): Promise<boolean> => {
  const record = makeKeyRecord(accounts, ring, key, secret, null);
  const committed = await accounts.records.commit(ring.organizationId, [
    { op: 'delete', collection: REVOKED_KEYS, id, expect: 'absent' }, // deletes nothing: holds only while none is there
    ...keySteps(ring, id, record),
  ]);
  return committed.ok;
};
