import { invalidParameter } from '../../core/errors.js';
import { json, type Call, type JsonReply } from '../../core/exchange.js';
import type { Also, ChangeOptions } from '../../io/records/join.js';
import { getPolicy, listPolicies, listVersions, type PolicyBook } from '../../rules/policies/book.js';
import { createPolicy, deletePolicy, type Target } from '../../rules/policies/change.js';
import {
  pausePolicy,
  publishDraft,
  restoreVersion,
  resumePolicy,
  updateDraft,
} from '../../rules/policies/edit.js';
import type { RuleCompiler } from '../../rules/policies/compiler.js';
import { mutate, type MutationParts, type Outcome } from './mutate.js';
import { envelope, readPage } from './paging.js';
import { parseBody, pathId, queryInteger } from './parse.js';
import { MOST_REVISIONS, NewPolicy, PolicyRestore, PolicyRevision, PolicyUpdate } from './policy-schemas.js';

/** What the doors of policies need of the house. */
export interface PolicyParts extends MutationParts {
  readonly book: PolicyBook;
  /** A long rule is tried in a thread of its own. */
  readonly compiler: Pick<RuleCompiler, 'check'>;
}

/** Policies and their versions (seed 4.1 to 4.5, D12). */
export const createPolicyDoors = (parts: PolicyParts) => {
  const { book } = parts;
  const organizationOf = (call: Call): string => call.principal.organization.id;
  const targetOf = (call: Call, revision: number): Target => ({
    organizationId: organizationOf(call),
    id: pathId(call, 'policy_id'),
    revision,
  });

  /** A change whose result is the answer. */
  const change = <T>(call: Call, act: (options: ChangeOptions<T>) => Promise<T>): Promise<JsonReply> =>
    mutate(call, parts, async (also: Also<Outcome>) => ({
      body: await act({ also: (result) => also({ body: result }) }),
    }));

  /** publish, pause, resume: the revision is all they take. */
  const turn =
    (act: typeof publishDraft) =>
    (call: Call): Promise<JsonReply> => {
      const target = targetOf(call, parseBody(PolicyRevision, call.body).revision);
      return change(call, (options) => act(book, target, options));
    };

  return {
    list: async (call: Call): Promise<JsonReply> => {
      const { items, hasMore } = await listPolicies(book, organizationOf(call), readPage(call, 'pol'));
      return json(envelope(items, hasMore));
    },

    get: async (call: Call): Promise<JsonReply> => {
      return json(await getPolicy(book, organizationOf(call), pathId(call, 'policy_id')));
    },

    create: async (call: Call): Promise<JsonReply> => {
      const given = parseBody(NewPolicy, call.body);
      await parts.compiler.check(given.rule);
      const policy = {
        name: given.name,
        description: given.description ?? '',
        rule: given.rule,
        direction: given.direction ?? 'both',
        mode: given.mode ?? 'monitoring',
        scope: given.scope ?? 'organization',
        project_ids: given.project_ids ?? [],
        match_threshold_basis_points: given.match_threshold_basis_points ?? null,
      } as const;
      return change(call, (options) => createPolicy(book, organizationOf(call), policy, options));
    },

    update: async (call: Call): Promise<JsonReply> => {
      const { revision, ...edit } = parseBody(PolicyUpdate, call.body);
      const target = targetOf(call, revision);
      if (edit.rule) await parts.compiler.check(edit.rule);
      return change(call, (options) => updateDraft(book, target, edit, options));
    },

    publish: turn(publishDraft),
    pause: turn(pausePolicy),
    resume: turn(resumePolicy),

    restore: async (call: Call): Promise<JsonReply> => {
      const { revision, version } = parseBody(PolicyRestore, call.body);
      const target = targetOf(call, revision);
      return change(call, (options) => restoreVersion(book, target, version, options));
    },

    remove: async (call: Call): Promise<JsonReply> => {
      const revision = queryInteger(call, 'revision', 1, MOST_REVISIONS);
      if (revision === null) throw invalidParameter('revision', 'is required.');
      const target = targetOf(call, revision);
      return change(call, (options) => deletePolicy(book, target, options));
    },

    versions: async (call: Call): Promise<JsonReply> => {
      const id = pathId(call, 'policy_id');
      const { items, hasMore } = await listVersions(book, organizationOf(call), id, readPage(call, 'pv'));
      return json(envelope(items, hasMore));
    },
  };
};

export type PolicyDoors = ReturnType<typeof createPolicyDoors>;
