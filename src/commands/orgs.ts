import type { Organization, Plan } from '../core/principal.js';
import { createOrganization, listOrganizations, setOrganization } from '../rules/auth/organizations.js';
import { createProject } from '../rules/auth/projects.js';
import { configOption, jsonOption, OK, UsageError, type Command, type Input } from './command.js';
import { readNumber } from './read-input.js';
import { formatJson, formatTable } from './table.js';
import { listAll, withBalances } from './with-accounts.js';

const plans = ['free', 'developer', 'growth', 'scale'] as const satisfies readonly Plan[];

const planOption = { value: 'PLAN', about: plans.join(', ') };
const creditsOption = { value: 'N', about: 'balance in credits, or "none": not metered' };

const readPlan = (text: string | undefined): { plan?: Plan } => {
  if (text === undefined) return {};
  const plan = plans.find((one) => one === text);
  if (!plan) throw new UsageError(`--plan must be one of ${plans.join(', ')}`);
  return { plan };
};

const readCredits = (text: string | undefined): { credits?: number | null } => {
  if (text === undefined) return {};
  return { credits: text === 'none' ? null : readNumber(text, '--credits') };
};

type BalanceOf = (organizationId: string) => Promise<number | null>;

async function show(organization: Organization, balanceOf: BalanceOf) {
  const { id, name, plan, lifetimePaidUsd, metered } = organization;
  const credits = metered ? await balanceOf(id) : null;
  return { id, name, plan, lifetime_paid_usd: lifetimePaidUsd, metered, credits };
}

type Shown = Awaited<ReturnType<typeof show>>;

const format = (input: Input, shown: readonly Shown[], json: unknown): string =>
  input.switches.has('json')
    ? formatJson(json)
    : formatTable(
        ['ID', 'NAME', 'PLAN', 'PAID USD', 'CREDITS'],
        shown.map((one) => [
          one.id,
          one.name,
          one.plan,
          one.lifetime_paid_usd,
          one.metered ? one.credits : 'not metered',
        ]),
      );

export const createOrg: Command = {
  name: 'orgs create',
  about: 'Make an organization, and a first project in it if asked.',
  arguments: ['NAME'],
  options: {
    id: { value: 'ID', about: 'begins with org_; default: a new one' },
    plan: planOption,
    credits: creditsOption,
    project: { value: 'NAME', about: 'also make a project of this name' },
    ...jsonOption,
    ...configOption,
  },
  async run(input, terminal) {
    const [name] = input.arguments as [string];
    const { id, plan, credits, project } = input.values;
    const request = { name, ...(id !== undefined && { id }), ...readPlan(plan), ...readCredits(credits) };
    await withBalances(input, terminal, async (accounts, balanceOf) => {
      const shown = await show(await createOrganization(accounts, request), balanceOf);
      const made = project === undefined ? null : await createProject(accounts, shown.id, { name: project });
      terminal.out(format(input, [shown], { ...shown, project_id: made?.id ?? null }));
      if (made && !input.switches.has('json')) terminal.out(`project ${made.id} (${made.name})`);
    });
    return OK;
  },
};

export const setOrg: Command = {
  name: 'orgs set',
  about: 'Change an organization: its name, plan or balance.',
  arguments: ['ORG'],
  options: {
    name: { value: 'NAME', about: 'what people call it' },
    plan: planOption,
    credits: creditsOption,
    ...jsonOption,
    ...configOption,
  },
  async run(input, terminal) {
    const [id] = input.arguments as [string];
    const { name, plan, credits } = input.values;
    const changes = { ...(name !== undefined && { name }), ...readPlan(plan), ...readCredits(credits) };
    if (Object.keys(changes).length === 0)
      throw new UsageError('nothing to change: give --name, --plan or --credits');
    await withBalances(input, terminal, async (accounts, balanceOf) => {
      const shown = await show(await setOrganization(accounts, id, changes), balanceOf);
      terminal.out(format(input, [shown], shown));
    });
    return OK;
  },
};

export const listOrgs: Command = {
  name: 'orgs list',
  about: 'List the organizations with their plans and balances.',
  options: { ...jsonOption, ...configOption },
  async run(input, terminal) {
    await withBalances(input, terminal, async (accounts, balanceOf) => {
      const shown: Shown[] = [];
      for (const organization of await listAll((page) => listOrganizations(accounts, page)))
        shown.push(await show(organization, balanceOf));
      terminal.out(format(input, shown, shown));
    });
    return OK;
  },
};
