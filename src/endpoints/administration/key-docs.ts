import * as v from 'valibot';
import type { OperationDoc } from '../../core/exchange.js';
import { jsonAnswer, pageQuery } from './describe.js';
import * as keys from './key-schemas.js';

const shownOnce =
  'The secret is in `value`, this once. A replay by `Idempotency-Key` answers with the same key without it. ' +
  'The permissions are a subset of those of the key that asks; where none are named, all that may be given.';

/** How the OpenAPI document tells of administrator keys, projects and their keys. */
export const adminKeyDocs = {
  list: {
    tag: 'Administrator keys',
    summary: 'List administrator keys',
    query: pageQuery,
    answer: jsonAnswer(keys.AdminApiKeyList),
  },
  get: {
    tag: 'Administrator keys',
    summary: 'Read an administrator key',
    extension: true,
    answer: jsonAnswer(keys.AdminApiKey),
  },
  create: {
    tag: 'Administrator keys',
    summary: 'Create an administrator key',
    description: shownOnce,
    extension: true,
    replayable: true,
    body: keys.NewAdminApiKey,
    answer: jsonAnswer(keys.CreatedAdminApiKey),
  },
  remove: {
    tag: 'Administrator keys',
    summary: 'Revoke an administrator key',
    extension: true,
    replayable: true,
    query: {
      force: {
        about: 'Lets the last key that holds every permission revoke itself.',
        schema: v.boolean(),
      },
    },
    answer: jsonAnswer(keys.DeletedAdminApiKey),
  },
} as const satisfies Record<string, OperationDoc>;

export const projectDocs = {
  list: {
    tag: 'Projects',
    summary: 'List projects',
    extension: true,
    query: pageQuery,
    answer: jsonAnswer(keys.ProjectList),
  },
  get: { tag: 'Projects', summary: 'Read a project', extension: true, answer: jsonAnswer(keys.Project) },
  create: {
    tag: 'Projects',
    summary: 'Create a project',
    extension: true,
    replayable: true,
    body: keys.NewProject,
    answer: jsonAnswer(keys.Project),
  },
} as const satisfies Record<string, OperationDoc>;

export const projectKeyDocs = {
  list: {
    tag: 'Project keys',
    summary: 'List the keys of a project',
    extension: true,
    query: pageQuery,
    answer: jsonAnswer(keys.ProjectApiKeyList),
  },
  get: {
    tag: 'Project keys',
    summary: 'Read a key of a project',
    extension: true,
    answer: jsonAnswer(keys.ProjectApiKey),
  },
  create: {
    tag: 'Project keys',
    summary: 'Create a key in a project',
    description: shownOnce,
    extension: true,
    replayable: true,
    body: keys.NewProjectApiKey,
    answer: jsonAnswer(keys.CreatedProjectApiKey),
  },
  remove: {
    tag: 'Project keys',
    summary: 'Revoke a key of a project',
    extension: true,
    replayable: true,
    answer: jsonAnswer(keys.DeletedProjectApiKey),
  },
} as const satisfies Record<string, OperationDoc>;
