import { GatewayError } from '../../core/errors.js';
import type { ChangeOptions } from '../../io/records/join.js';
import { readRecord } from '../../io/records/read-record.js';
import { readStored, type PolicyBook } from './book.js';
import { changePolicy, cutVersion, type Target } from './change.js';
import { VersionRecord, versionId, versionsOf, type PolicyRecord, type PolicyTerms } from './layout.js';
import { hasUnpublishedChanges, sameTerms, termsOf, type Policy } from './views.js';

type Mutable<T> = { -readonly [K in keyof T]?: T[K] | null | undefined };

/** Absent and null leave a field as it is, but a null threshold clears it (D7). */
export type PolicyEdit = Mutable<PolicyTerms & { readonly name: string; readonly description: string }>;

type Options = ChangeOptions<Policy>;

export const updateDraft = (
  book: PolicyBook,
  target: Target,
  edit: PolicyEdit,
  options: Options = {},
): Promise<Policy> =>
  changePolicy(
    book,
    target,
    (record) => {
      const { draft } = record;
      const terms: PolicyTerms = {
        rule: edit.rule ?? draft.rule,
        direction: edit.direction ?? draft.direction,
        mode: edit.mode ?? draft.mode,
        scope: edit.scope ?? draft.scope,
        project_ids: edit.project_ids ? [...new Set(edit.project_ids)] : draft.project_ids,
        match_threshold_basis_points:
          edit.match_threshold_basis_points === undefined
            ? draft.match_threshold_basis_points
            : edit.match_threshold_basis_points,
      };
      const name = edit.name ?? record.name;
      const description = edit.description ?? record.description;
      const stays = name === record.name && description === record.description && sameTerms(terms, draft);
      return stays ? null : { record: { ...record, name, description, draft: { ...draft, ...terms } } };
    },
    options,
  );

export const publishDraft = (book: PolicyBook, target: Target, options: Options = {}): Promise<Policy> =>
  changePolicy(
    book,
    target,
    (record, now) => {
      if (!hasUnpublishedChanges(record))
        throw new GatewayError('no_unpublished_changes', 'The draft equals the published version.');
      return cutVersion(record, now);
    },
    options,
  );

export const pausePolicy = (book: PolicyBook, target: Target, options: Options = {}): Promise<Policy> =>
  changePolicy(
    book,
    target,
    (record) => {
      if (record.state !== 'monitoring' && record.state !== 'enforcing')
        throw new GatewayError('policy_not_active', `The policy is in state ${record.state}.`);
      return { record: { ...record, state: 'paused' } };
    },
    options,
  );

export const resumePolicy = (book: PolicyBook, target: Target, options: Options = {}): Promise<Policy> =>
  changePolicy(
    book,
    target,
    (record) => {
      if (record.state !== 'paused' || !record.published)
        throw new GatewayError('policy_not_paused', `The policy is in state ${record.state}.`);
      return { record: { ...record, state: record.published.mode } };
    },
    options,
  );

/** Copies an old version into the draft. */
export const restoreVersion = async (
  book: PolicyBook,
  target: Target,
  version: number,
  options: Options = {},
): Promise<Policy> => {
  const { organizationId, id } = target;
  await readStored(book, organizationId, id);
  // A version never changes, so it may be read before the policy is looked at.
  const stored = await book.records.get(organizationId, versionsOf(id), versionId(id, version));
  if (!stored) throw new GatewayError('not_found', 'version: no such version.', { param: 'version' });
  const old = termsOf(readRecord(VersionRecord, stored));
  return changePolicy(
    book,
    target,
    (record): { readonly record: PolicyRecord } | null =>
      sameTerms(old, record.draft) && record.draft.base_version === version
        ? null
        : { record: { ...record, draft: { ...old, base_version: version } } },
    options,
  );
};
