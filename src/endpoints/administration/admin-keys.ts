import { invalidParameter } from '../../core/errors.js';
import { json, type Call, type JsonReply } from '../../core/exchange.js';
import type { Accounts } from '../../rules/auth/accounts.js';
import { createAdminKey, getAdminKey, listAdminKeys } from '../../rules/auth/keys.js';
import { revokeAdminKey } from '../../rules/auth/revoke.js';
import { readExpiry } from './expiry.js';
import { NewAdminApiKey } from './key-schemas.js';
import { mutate, type MutationParts } from './mutate.js';
import { envelope, readPage } from './paging.js';
import { parseBody, pathId } from './parse.js';

/** What the doors of keys and projects need of the house. */
export interface AccountParts extends MutationParts {
  readonly accounts: Accounts;
}

const readForce = (call: Call): boolean => {
  const force = call.query.get('force') ?? 'false';
  if (force !== 'true' && force !== 'false') throw invalidParameter('force', 'must be true or false.');
  return force === 'true';
};

/** Administrator keys (seed 4.6, D12). */
export const createAdminKeyDoors = (parts: AccountParts) => {
  const { accounts } = parts;
  return {
    list: async (call: Call): Promise<JsonReply> => {
      const page = readPage(call, 'key');
      const { items, hasMore } = await listAdminKeys(accounts, call.principal.organization.id, page);
      return json(envelope(items, hasMore));
    },

    get: async (call: Call): Promise<JsonReply> => {
      return json(await getAdminKey(accounts, call.principal.organization.id, pathId(call, 'key_id')));
    },

    create: async (call: Call): Promise<JsonReply> => {
      const { name, permissions, ...rest } = parseBody(NewAdminApiKey, call.body);
      return mutate(call, parts, async (also) => {
        const { key, secret } = await createAdminKey(
          accounts,
          call.principal.organization.id,
          { name, ...(permissions && { permissions }), expiresAtS: readExpiry(rest, accounts.clock) },
          { by: call.principal, also: (made) => also({ body: made }) },
        );
        return { body: { ...key, value: secret }, kept: key };
      });
    },

    remove: async (call: Call): Promise<JsonReply> => {
      const id = pathId(call, 'key_id');
      const force = readForce(call);
      const body = { id, object: 'organization.admin_api_key.deleted', deleted: true };
      return mutate(call, parts, async (also) => {
        await revokeAdminKey(accounts, call.principal.organization.id, id, {
          by: call.principal,
          force,
          also: () => also({ body }),
        });
        return { body };
      });
    },
  };
};

export type AdminKeyDoors = ReturnType<typeof createAdminKeyDoors>;
