import { GatewayError, invalidParameter } from '../../core/errors.js';
import { newId } from '../../core/ids.js';
import { commitWith, type Also, type ChangeOptions, type Refusal } from '../../io/records/join.js';
import { readRecord } from '../../io/records/read-record.js';
import type { Step } from '../../io/records/records.js';
import { noSuchPolicy, readStored, revisionConflict, type PolicyBook } from './book.js';
import {
  MOST_VERSIONS,
  POLICIES,
  PolicyRecord,
  versionId,
  versionsOf,
  type PolicyTerms,
  type VersionRecord,
} from './layout.js';
import { showPolicy, termsOf, type DeletedPolicy, type Policy } from './views.js';

export interface NewPolicy extends PolicyTerms {
  readonly name: string;
  readonly description: string;
}

export interface CreateOptions extends ChangeOptions<Policy> {
  readonly id?: string;
  /** Publishes it in the same commit. */
  readonly publish?: boolean;
}

/** Which policy, and the revision its caller has seen. */
export interface Target {
  readonly organizationId: string;
  readonly id: string;
  readonly revision: number;
}

/** What a policy becomes, and the version that is cut with it; null = nothing changes. */
export type Turn = { readonly record: PolicyRecord; readonly cut?: VersionRecord } | null;

export const nowSeconds = ({ clock }: PolicyBook): number => Math.floor(clock.nowMs() / 1_000);

export const createPolicy = async (
  book: PolicyBook,
  organizationId: string,
  given: NewPolicy,
  { id = newId('pol'), publish = false, also }: CreateOptions = {},
): Promise<Policy> => {
  const now = nowSeconds(book);
  const drafted: PolicyRecord = {
    name: given.name,
    description: given.description,
    state: 'draft',
    draft: { ...termsOf(given), project_ids: [...new Set(given.project_ids)], base_version: null },
    published: null,
    created_at: now,
    updated_at: now,
  };
  const { record, cut } = publish ? cutVersion(drafted, now) : { record: drafted };
  const policy = showPolicy(id, 1, record);
  const refusal = await commitWith(
    book.records,
    organizationId,
    [
      { op: 'room', collection: POLICIES, max: book.maxPolicies },
      { op: 'put', collection: POLICIES, id, value: record, expect: 'absent' },
      ...putVersion(id, cut),
    ],
    also?.(policy) ?? [],
  );
  if (refusal?.reason === 'full')
    throw new GatewayError(
      'resource_limit_exceeded',
      `The organization may hold at most ${book.maxPolicies} policies.`,
    );
  if (refusal) throw new GatewayError('already_exists', `${id} exists already.`, { param: 'id' });
  return policy;
};

/** The draft becomes the next version; a paused policy stays paused (D5). */
export const cutVersion = (
  record: PolicyRecord,
  now: number,
): { readonly record: PolicyRecord; readonly cut: VersionRecord } => {
  const { draft, published, state } = record;
  if (draft.scope === 'projects' && draft.project_ids.length === 0)
    throw invalidParameter('project_ids', 'must name a project while scope is projects.');
  if (draft.scope !== 'projects' && draft.project_ids.length > 0)
    throw invalidParameter('project_ids', 'must be empty unless scope is projects.');
  const version = (published?.version ?? 0) + 1;
  if (version > MOST_VERSIONS)
    throw new GatewayError('resource_limit_exceeded', `A policy may have at most ${MOST_VERSIONS} versions.`);
  const cut: VersionRecord = { version, ...termsOf(draft), published_at: now };
  return {
    cut,
    record: {
      ...record,
      state: state === 'paused' ? state : draft.mode,
      draft: { ...draft, base_version: version },
      published: cut,
    },
  };
};

const putVersion = (policyId: string, cut: VersionRecord | undefined): readonly Step[] =>
  cut
    ? [
        {
          op: 'put',
          collection: versionsOf(policyId),
          id: versionId(policyId, cut.version),
          value: cut,
          expect: 'absent',
        },
      ]
    : [];

/** Changes a policy that is still at the given revision, all in one commit (D8). */
export const changePolicy = async (
  book: PolicyBook,
  { organizationId, id, revision }: Target,
  turn: (record: PolicyRecord, now: number) => Turn,
  { also }: ChangeOptions<Policy>,
): Promise<Policy> => {
  const before = await readAt(book, organizationId, id, revision);
  const now = Math.max(before.updated_at, nowSeconds(book));
  const next = turn(before, now);
  if (next === null) {
    const policy = showPolicy(id, revision, before);
    const joined = also?.(policy) ?? [];
    if (joined.length > 0) await commitWith(book.records, organizationId, [], joined);
    return policy;
  }
  const record: PolicyRecord = { ...next.record, updated_at: now };
  const policy = showPolicy(id, revision + 1, record);
  const refusal = await commitWith(
    book.records,
    organizationId,
    [{ op: 'put', collection: POLICIES, id, value: record, expect: revision }, ...putVersion(id, next.cut)],
    also?.(policy) ?? [],
  );
  if (refusal) throw conflictOf(id, refusal);
  return policy;
};

/** Deletes a policy and all its versions in one commit. */
export const deletePolicy = async (
  book: PolicyBook,
  { organizationId, id, revision }: Target,
  { also }: { readonly also?: Also<DeletedPolicy> } = {},
): Promise<DeletedPolicy> => {
  const { published } = await readAt(book, organizationId, id, revision);
  const marker: DeletedPolicy = { id, object: 'organization.policy.deleted', deleted: true };
  // Versions are numbered without gaps: the last number tells them all.
  const versions = Array.from({ length: published?.version ?? 0 }, (_, index): Step => ({
    op: 'delete',
    collection: versionsOf(id),
    id: versionId(id, index + 1),
    expect: 'any',
  }));
  const refusal = await commitWith(
    book.records,
    organizationId,
    [{ op: 'delete', collection: POLICIES, id, expect: revision }, ...versions],
    also?.(marker) ?? [],
  );
  if (refusal) throw conflictOf(id, refusal);
  return marker;
};

const readAt = async (
  book: PolicyBook,
  organizationId: string,
  id: string,
  revision: number,
): Promise<PolicyRecord> => {
  const stored = await readStored(book, organizationId, id);
  if (stored.revision !== revision) throw revisionConflict(stored.revision);
  return readRecord(PolicyRecord, stored);
};

/** Somebody came between the read and the commit. */
const conflictOf = (id: string, { step, current }: Refusal): Error => {
  if (step > 0) return new Error(`The next version of ${id} is there already.`);
  return current ? revisionConflict(current.revision) : noSuchPolicy();
};
