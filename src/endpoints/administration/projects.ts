import { json, type Call, type JsonReply } from '../../core/exchange.js';
import { createProjectKey, getProjectKey, listProjectKeys } from '../../rules/auth/keys.js';
import { createProject, getProject, listProjects } from '../../rules/auth/projects.js';
import { revokeProjectKey } from '../../rules/auth/revoke.js';
import type { AccountParts } from './admin-keys.js';
import { readExpiry } from './expiry.js';
import { NewProject, NewProjectApiKey } from './key-schemas.js';
import { mutate } from './mutate.js';
import { envelope, readPage } from './paging.js';
import { parseBody, pathId } from './parse.js';

/** Projects (D12). */
export const createProjectDoors = (parts: AccountParts) => {
  const { accounts } = parts;
  return {
    list: async (call: Call): Promise<JsonReply> => {
      const page = readPage(call, 'proj');
      const { items, hasMore } = await listProjects(accounts, call.principal.organization.id, page);
      return json(envelope(items, hasMore));
    },

    get: async (call: Call): Promise<JsonReply> => {
      return json(await getProject(accounts, call.principal.organization.id, pathId(call, 'project_id')));
    },

    create: async (call: Call): Promise<JsonReply> => {
      const { name } = parseBody(NewProject, call.body);
      return mutate(call, parts, async (also) => ({
        body: await createProject(
          accounts,
          call.principal.organization.id,
          { name },
          { also: (project) => also({ body: project }) },
        ),
      }));
    },
  };
};

/** The keys of applications, each in its project (D12). */
export const createProjectKeyDoors = (parts: AccountParts) => {
  const { accounts } = parts;
  const placeOf = (call: Call) =>
    [accounts, call.principal.organization.id, pathId(call, 'project_id')] as const;
  return {
    list: async (call: Call): Promise<JsonReply> => {
      const { items, hasMore } = await listProjectKeys(...placeOf(call), readPage(call, 'key'));
      return json(envelope(items, hasMore));
    },

    get: async (call: Call): Promise<JsonReply> => {
      return json(await getProjectKey(...placeOf(call), pathId(call, 'key_id')));
    },

    create: async (call: Call): Promise<JsonReply> => {
      const place = placeOf(call);
      const { name, permissions, models, credit_budget, ...rest } = parseBody(NewProjectApiKey, call.body);
      return mutate(call, parts, async (also) => {
        const { key, secret } = await createProjectKey(
          ...place,
          {
            name,
            ...(permissions && { permissions }),
            models: models ?? null,
            creditBudget: credit_budget ?? null,
            expiresAtS: readExpiry(rest, accounts.clock),
          },
          { by: call.principal, also: (made) => also({ body: made }) },
        );
        return { body: { ...key, value: secret }, kept: key };
      });
    },

    remove: async (call: Call): Promise<JsonReply> => {
      const place = placeOf(call);
      const id = pathId(call, 'key_id');
      const body = { id, object: 'organization.project.api_key.deleted', deleted: true };
      return mutate(call, parts, async (also) => {
        await revokeProjectKey(...place, id, { by: call.principal, also: () => also({ body }) });
        return { body };
      });
    },
  };
};

export type ProjectDoors = ReturnType<typeof createProjectDoors>;
export type ProjectKeyDoors = ReturnType<typeof createProjectKeyDoors>;
