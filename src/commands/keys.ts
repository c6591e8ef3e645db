import { parseDuration } from '../core/duration.js';
import type { Accounts } from '../rules/auth/accounts.js';
import type { AdminApiKey, ProjectApiKey } from '../rules/auth/key-views.js';
import {
  createAdminKey,
  createProjectKey,
  listAdminKeys,
  listProjectKeys,
  type CreatedKey,
  type NewKey,
} from '../rules/auth/keys.js';
import { getOrganization } from '../rules/auth/organizations.js';
import { listProjects } from '../rules/auth/projects.js';
import { revokeAdminKey, revokeProjectKey } from '../rules/auth/revoke.js';
import { configOption, FAILED, jsonOption, OK, UsageError, type Command, type Input } from './command.js';
import { readList, readNumber } from './read-input.js';
import { formatJson, formatSeconds, formatTable } from './table.js';
import { listAll, withAccounts } from './with-accounts.js';

type Key = AdminApiKey | ProjectApiKey;

export const createKey: Command = {
  name: 'keys create',
  about: 'Make a key and show it once: an admin key of an organization, or an API key of a project.',
  arguments: ['ORG', '[PROJECT]'],
  options: {
    name: { value: 'NAME', about: 'what people call it (required)' },
    permissions: { value: 'LIST', about: 'comma-separated; default: all but credits.write' },
    models: { value: 'LIST', about: 'project keys: models it may use, such as "claude-*,sim-small"' },
    expires: { value: 'WHEN', about: 'from now on (30d), or a time (2031-01-31T00:00:00Z)' },
    'credit-budget': { value: 'N', about: 'project keys: most credits it may spend' },
    ...jsonOption,
    ...configOption,
  },
  async run(input, terminal) {
    const [organization, project] = input.arguments as [string, string?];
    const request = readNewKey(input);
    const { key, secret } = await withAccounts<CreatedKey<Key>>(input, terminal, (accounts) =>
      project === undefined
        ? createAdminKey(accounts, organization, request, { by: null })
        : createProjectKey(accounts, organization, project, request, { by: null }),
    );
    terminal.out(input.switches.has('json') ? formatJson({ ...key, value: secret }) : secret);
    if (!input.switches.has('json')) terminal.err(`${key.id}: shown only this once.`);
    return OK;
  },
};

function readNewKey({ values }: Input): NewKey {
  const { name, expires } = values;
  const permissions = readList(values['permissions']);
  const models = readList(values['models']);
  if (name === undefined) throw new UsageError('--name is required');
  return {
    name,
    ...(permissions && { permissions }),
    ...(models && { models }),
    ...(expires !== undefined && { expiresAtS: readExpiry(expires) }),
    ...(values['credit-budget'] !== undefined && {
      creditBudget: readNumber(values['credit-budget'], '--credit-budget'),
    }),
  };
}

function readExpiry(text: string): number {
  const fromNow = parseDuration(text);
  const at = fromNow === undefined ? Date.parse(text) : Date.now() + fromNow;
  if (Number.isNaN(at))
    throw new UsageError('--expires must be a duration such as 30d or a time such as 2031-01-31T00:00:00Z');
  return Math.floor(at / 1_000);
}

/** The live keys of an organization: its own, then those of its projects, or of one project. */
async function findKeys(accounts: Accounts, organization: string, project?: string): Promise<Key[]> {
  await getOrganization(accounts, organization);
  const projects =
    project === undefined
      ? (await listAll((page) => listProjects(accounts, organization, page))).map(({ id }) => id)
      : [project];
  const keys: Key[] =
    project === undefined
      ? await listAll<AdminApiKey>((page) => listAdminKeys(accounts, organization, page))
      : [];
  for (const id of projects)
    keys.push(...(await listAll<ProjectApiKey>((page) => listProjectKeys(accounts, organization, id, page))));
  return keys;
}

export const listKeys: Command = {
  name: 'keys list',
  about: 'List the live keys of an organization, or of one project of it.',
  arguments: ['ORG', '[PROJECT]'],
  options: { ...jsonOption, ...configOption },
  async run(input, terminal) {
    const [organization, project] = input.arguments as [string, string?];
    const keys = await withAccounts(input, terminal, (accounts) => findKeys(accounts, organization, project));
    const rows = keys.map((key) => [
      key.id,
      key.owner.type === 'project' ? key.owner.id : 'admin',
      key.name,
      key.redacted_value,
      key.permissions.join(','),
      formatSeconds(key.created_at),
      formatSeconds(key.last_used_at),
      formatSeconds(key.expires_at),
    ]);
    const headings = ['ID', 'OWNER', 'NAME', 'KEY', 'PERMISSIONS', 'CREATED', 'LAST USED', 'EXPIRES'];
    terminal.out(input.switches.has('json') ? formatJson(keys) : formatTable(headings, rows));
    return OK;
  },
};

export const revokeKey: Command = {
  name: 'keys revoke',
  about: 'End a key. Every gateway refuses it within a second.',
  arguments: ['ORG', 'KEY'],
  options: { ...jsonOption, ...configOption },
  async run(input, terminal) {
    const [organization, id] = input.arguments as [string, string];
    const key = await withAccounts(input, terminal, async (accounts) => {
      const found = (await findKeys(accounts, organization)).find((one) => one.id === id);
      if (!found) return null;
      return found.owner.type === 'project'
        ? revokeProjectKey(accounts, organization, found.owner.id, id, { by: null })
        : revokeAdminKey(accounts, organization, id, { by: null });
    });
    if (!key) {
      terminal.err(`sluice: no live key ${id} in ${organization}`);
      return FAILED;
    }
    terminal.out(
      input.switches.has('json') ? formatJson({ id, revoked: true }) : `${id} (${key.name}) is revoked.`,
    );
    return OK;
  },
};
