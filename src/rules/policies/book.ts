import type { Clock } from '../../core/clock.js';
import { GatewayError, notFound } from '../../core/errors.js';
import { looksLikeId } from '../../core/ids.js';
import { readRecord } from '../../io/records/read-record.js';
import type { Page, Records, Stored } from '../../io/records/records.js';
import { POLICIES, versionsOf, VersionRecord } from './layout.js';
import {
  readItem,
  readPolicy,
  showVersion,
  type Policy,
  type PolicyItem,
  type PolicyVersion,
} from './views.js';

/** What every function on policies works with. */
export interface PolicyBook {
  readonly records: Records;
  readonly clock: Clock;
  /** Most policies of an organization (D14). */
  readonly maxPolicies: number;
}

export const noSuchPolicy = (): GatewayError => notFound('No such policy.');

export const revisionConflict = (current: number): GatewayError =>
  new GatewayError(
    'revision_conflict',
    `revision: the policy is at revision ${current} now. Read it again.`,
    {
      param: 'revision',
    },
  );

export const readStored = async (
  { records }: PolicyBook,
  organizationId: string,
  id: string,
): Promise<Stored> => {
  const stored = looksLikeId('pol', id) ? await records.get(organizationId, POLICIES, id) : null;
  if (!stored) throw noSuchPolicy();
  return stored;
};

export const getPolicy = async (book: PolicyBook, organizationId: string, id: string): Promise<Policy> =>
  readPolicy(await readStored(book, organizationId, id));

export const listPolicies = async (
  { records }: PolicyBook,
  organizationId: string,
  page: Page,
): Promise<{ readonly items: readonly PolicyItem[]; readonly hasMore: boolean }> => {
  const { items, hasMore } = await records.list(organizationId, POLICIES, page);
  return { items: items.map(readItem), hasMore };
};

/** The versions as they were when the policy was read: one cut meanwhile is left out. */
export const listVersions = async (
  book: PolicyBook,
  organizationId: string,
  id: string,
  page: Page,
): Promise<{ readonly items: readonly PolicyVersion[]; readonly hasMore: boolean }> => {
  const { current_version: current } = await getPolicy(book, organizationId, id);
  const { items, hasMore } = await book.records.list(organizationId, versionsOf(id), page);
  const versions = items.map((stored) => readRecord(VersionRecord, stored));
  const known = versions.filter(({ version }) => version <= (current ?? 0));
  const beyond = page.order !== 'desc' && known.length < versions.length;
  return { items: known.map((record) => showVersion(id, record, current)), hasMore: hasMore && !beyond };
};
