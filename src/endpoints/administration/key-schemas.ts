import * as v from 'valibot';
import { adminPermissions, projectPermissions } from '../../core/principal.js';
import { deletionOf, id, listOf, seconds } from './describe.js';
import { integer, text } from './parse.js';

const MODELS_BOUND = 200;
/** Ten years: what lies beyond is no expiry but a typing error, such as milliseconds for seconds. */
const LIFETIME_BOUND_S = 10 * 366 * 24 * 60 * 60;

const name = text(1, 200);

const named = <const T extends readonly string[]>(permissions: T) =>
  v.nullish(
    v.pipe(
      v.array(v.picklist(permissions, `must be one of ${permissions.join(', ')}.`)),
      v.minLength(1, 'must name at least one permission.'),
      v.maxLength(permissions.length, 'must not name a permission twice.'),
    ),
  );

const expiry = {
  expires_at: v.nullish(integer(1, Number.MAX_SAFE_INTEGER)),
  expires_in_seconds: v.nullish(integer(1, LIFETIME_BOUND_S)),
};

export const NewAdminApiKey = v.pipe(
  v.strictObject({ name, permissions: named(['*', ...adminPermissions]), ...expiry }),
  v.title('NewAdminApiKey'),
);

export const NewProjectApiKey = v.pipe(
  v.strictObject({
    name,
    permissions: named(projectPermissions),
    ...expiry,
    models: v.nullish(
      v.pipe(
        v.array(text(1, 200)),
        v.minLength(1, 'must name at least one model; null means every one.'),
        v.maxLength(MODELS_BOUND, `must name at most ${MODELS_BOUND} models.`),
      ),
    ),
    credit_budget: v.nullish(integer(0, Number.MAX_SAFE_INTEGER)),
  }),
  v.title('NewProjectApiKey'),
);

export const NewProject = v.pipe(v.strictObject({ name }), v.title('NewProject'));

const key = {
  id,
  name: v.string(),
  redacted_value: v.string(),
  created_at: seconds,
  last_used_at: v.optional(seconds),
  expires_at: v.optional(seconds),
  permissions: v.array(v.string()),
};

const adminKey = {
  object: v.literal('organization.admin_api_key'),
  ...key,
  owner: v.strictObject({ id, type: v.literal('organization') }),
};

const projectKey = {
  object: v.literal('organization.project.api_key'),
  ...key,
  owner: v.strictObject({ id, type: v.literal('project') }),
  models: v.nullable(v.array(v.string())),
  credit_budget: v.nullable(v.number()),
};

const value = v.optional(
  v.pipe(v.string(), v.description('The secret. Shown this once: no list, no replay and no log has it.')),
);

/** Seed 2.6. */
export const AdminApiKey = v.pipe(v.strictObject(adminKey), v.title('AdminApiKey'));
export const AdminApiKeyList = listOf('AdminApiKeyList', AdminApiKey);
export const CreatedAdminApiKey = v.pipe(
  v.strictObject({ ...adminKey, value }),
  v.title('CreatedAdminApiKey'),
);
export const DeletedAdminApiKey = deletionOf('DeletedAdminApiKey', 'organization.admin_api_key.deleted');

export const ProjectApiKey = v.pipe(v.strictObject(projectKey), v.title('ProjectApiKey'));
export const ProjectApiKeyList = listOf('ProjectApiKeyList', ProjectApiKey);
export const CreatedProjectApiKey = v.pipe(
  v.strictObject({ ...projectKey, value }),
  v.title('CreatedProjectApiKey'),
);
export const DeletedProjectApiKey = deletionOf(
  'DeletedProjectApiKey',
  'organization.project.api_key.deleted',
);

export const Project = v.pipe(
  v.strictObject({
    object: v.literal('organization.project'),
    id,
    name: v.string(),
    created_at: seconds,
    archived_at: v.null(),
    status: v.literal('active'),
  }),
  v.title('Project'),
);
export const ProjectList = listOf('ProjectList', Project);
