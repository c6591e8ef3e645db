import { invalidParameter, notFound } from '../../core/errors.js';
import { newId } from '../../core/ids.js';
import type { Organization, Plan } from '../../core/principal.js';
import { commitWith, type ChangeOptions } from '../../io/records/join.js';
import { readRecord } from '../../io/records/read-record.js';
import { GLOBAL, type Page, type Stored } from '../../io/records/records.js';
import {
  alreadyExists,
  changeRecord,
  checkAmount,
  checkId,
  checkName,
  nowSeconds,
  type Accounts,
} from './accounts.js';
import { openFunds, resetFunds } from './funds.js';
import { ORGANIZATIONS, OrganizationRecord } from './layout.js';

/** The organization under which anonymous requests run; no record bears its id. */
export const ANONYMOUS_ORGANIZATION = 'org_anonymous';

export interface NewOrganization {
  readonly id?: string;
  readonly name: string;
  readonly plan?: Plan;
  readonly lifetimePaidUsd?: number;
  /** The first balance; null = not metered. */
  readonly credits?: number | null;
}

/** What is not given stays. `credits` sets the balance; null ends metering. */
export interface OrganizationChanges {
  readonly name?: string;
  readonly plan?: Plan;
  readonly lifetimePaidUsd?: number;
  readonly credits?: number | null;
}

export const asOrganization = (stored: Stored): Organization => {
  const record = readRecord(OrganizationRecord, stored);
  return {
    id: stored.id,
    name: record.name,
    plan: record.plan,
    lifetimePaidUsd: record.lifetime_paid_usd,
    metered: record.metered,
  };
};

const checkFields = ({ name, lifetimePaidUsd, credits }: OrganizationChanges): void => {
  if (name !== undefined) checkName(name);
  if (lifetimePaidUsd !== undefined) {
    checkAmount('lifetime_paid_usd', lifetimePaidUsd, { whole: false });
    if (lifetimePaidUsd < 0) throw invalidParameter('lifetime_paid_usd', 'must not be negative.');
  }
  if (credits !== undefined && credits !== null) checkAmount('credits', credits, { whole: true });
};

export const findOrganization = async (accounts: Accounts, id: string): Promise<Organization | null> => {
  const stored = await accounts.records.get(GLOBAL, ORGANIZATIONS, id);
  return stored && asOrganization(stored);
};

export const getOrganization = async (accounts: Accounts, id: string): Promise<Organization> => {
  const organization = await findOrganization(accounts, id);
  if (!organization) throw notFound('No such organization.');
  return organization;
};

export const listOrganizations = async (
  accounts: Accounts,
  page: Page,
): Promise<{ readonly items: readonly Organization[]; readonly hasMore: boolean }> => {
  const { items, hasMore } = await accounts.records.list(GLOBAL, ORGANIZATIONS, page);
  return { items: items.map(asOrganization), hasMore };
};

export const createOrganization = async (
  accounts: Accounts,
  request: NewOrganization,
  { also }: ChangeOptions<Organization> = {},
): Promise<Organization> => {
  const { id = newId('org'), name, plan = 'free', lifetimePaidUsd = 0, credits = null } = request;
  checkId('org', id);
  checkFields({ name, lifetimePaidUsd, credits });
  if (id === ANONYMOUS_ORGANIZATION) throw invalidParameter('id', 'is reserved.');
  if (await findOrganization(accounts, id)) throw alreadyExists(id);

  // Another partition, so another commit: a balance nobody owns does no harm, a metered organization without one does.
  if (credits !== null) await openFunds(accounts, id, credits);
  const organization: Organization = { id, name, plan, lifetimePaidUsd, metered: credits !== null };
  const value: OrganizationRecord = {
    name,
    plan,
    lifetime_paid_usd: lifetimePaidUsd,
    metered: organization.metered,
    created_at: nowSeconds(accounts.clock),
  };
  const refusal = await commitWith(
    accounts.records,
    GLOBAL,
    [{ op: 'put', collection: ORGANIZATIONS, id, value, expect: 'absent' }],
    also?.(organization) ?? [],
  );
  if (refusal) throw alreadyExists(id);
  return organization;
};

export const setOrganization = async (
  accounts: Accounts,
  id: string,
  changes: OrganizationChanges,
  { also }: ChangeOptions<Organization> = {},
): Promise<Organization> => {
  checkFields(changes);
  const { credits } = changes;
  await getOrganization(accounts, id);
  if (credits !== undefined && credits !== null) await resetFunds(accounts, id, credits);
  return changeOrganization(
    accounts,
    id,
    (record) => ({
      ...record,
      name: changes.name ?? record.name,
      plan: changes.plan ?? record.plan,
      lifetime_paid_usd: changes.lifetimePaidUsd ?? record.lifetime_paid_usd,
      metered: credits === undefined ? record.metered : credits !== null,
    }),
    also ?? (() => []),
  );
};

export const changeOrganization = async (
  accounts: Accounts,
  id: string,
  change: (record: OrganizationRecord) => OrganizationRecord,
  also: NonNullable<ChangeOptions<Organization>['also']>,
): Promise<Organization> =>
  changeRecord(
    () => accounts.records.get(GLOBAL, ORGANIZATIONS, id),
    async (stored) => {
      if (!stored) throw notFound('No such organization.');
      const value = { ...stored.value, ...change(readRecord(OrganizationRecord, stored)) };
      const result = asOrganization({ ...stored, value });
      const refusal = await commitWith(
        accounts.records,
        GLOBAL,
        [{ op: 'put', collection: ORGANIZATIONS, id, value, expect: stored.revision }],
        also(result),
      );
      return { refusal, result };
    },
  );
