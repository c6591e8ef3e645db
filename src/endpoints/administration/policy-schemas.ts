import * as v from 'valibot';
import { deletionOf, id, listOf, seconds } from './describe.js';
import { integer, text } from './parse.js';

export const MOST_REVISIONS = 2_147_483_647;
const PROJECT_IDS_BOUND = 1_000;

const revision = integer(1, MOST_REVISIONS);
const name = text(1, 80);
const description = text(0, 240);
const rule = text(1, 20_000);
const direction = v.picklist(['request', 'response', 'both']);
const mode = v.picklist(['monitoring', 'enforcing']);
const scope = v.picklist(['organization', 'projects', 'unattached']);
const projectIds = v.pipe(
  v.array(v.string()),
  v.maxLength(PROJECT_IDS_BOUND, `must have at most ${PROJECT_IDS_BOUND} items.`),
);
const threshold = integer(1, 9_999);

/** null and absent are one (D7). */
export const NewPolicy = v.pipe(
  v.strictObject({
    name,
    description: v.nullish(description),
    rule,
    direction: v.nullish(direction),
    mode: v.nullish(mode),
    scope: v.nullish(scope),
    project_ids: v.nullish(projectIds),
    match_threshold_basis_points: v.nullish(threshold),
  }),
  v.title('NewPolicy'),
);

/** Seed 4.2. */
export const PolicyUpdate = v.pipe(
  v.strictObject({
    revision,
    name: v.nullish(name),
    description: v.nullish(description),
    rule: v.nullish(rule),
    direction: v.nullish(direction),
    mode: v.nullish(mode),
    scope: v.nullish(scope),
    project_ids: v.nullish(projectIds),
    match_threshold_basis_points: v.nullish(threshold),
  }),
  v.title('PolicyUpdate'),
);

/** The body of publish, pause and resume (seed 4.3, 4.4). */
export const PolicyRevision = v.pipe(v.strictObject({ revision }), v.title('PolicyRevision'));

export const PolicyRestore = v.pipe(
  v.strictObject({ revision, version: integer(1, MOST_REVISIONS) }),
  v.title('PolicyRestore'),
);

export const revisionQuery = {
  revision: { about: 'The current revision of the policy.', schema: revision, required: true },
};

const number = v.pipe(v.number(), v.integer(), v.minValue(1));

const terms = {
  rule: v.string(),
  direction,
  mode,
  scope,
  project_ids: v.array(v.string()),
  match_threshold_basis_points: v.nullable(threshold),
};

const PolicyDraft = v.pipe(
  v.strictObject({ ...terms, base_version: v.nullable(number) }),
  v.title('PolicyDraft'),
);

const PolicyVersion = v.pipe(
  v.strictObject({
    id,
    object: v.literal('organization.policy.version'),
    version: number,
    ...terms,
    published_at: seconds,
    current: v.boolean(),
  }),
  v.title('PolicyVersion'),
);

const item = {
  id,
  object: v.literal('organization.policy'),
  name: v.string(),
  description: v.string(),
  state: v.picklist(['draft', 'monitoring', 'enforcing', 'paused']),
  revision: number,
  current_version: v.nullable(number),
  has_unpublished_changes: v.boolean(),
  created_at: seconds,
  updated_at: seconds,
};

export const Policy = v.pipe(
  v.strictObject({ ...item, draft: PolicyDraft, published: v.nullable(PolicyVersion) }),
  v.title('Policy'),
);
export const PolicyList = listOf('PolicyList', v.pipe(v.strictObject(item), v.title('PolicyListItem')));
export const PolicyVersionList = listOf('PolicyVersionList', PolicyVersion);
export const DeletedPolicy = deletionOf('DeletedPolicy', 'organization.policy.deleted');
