import type { ChangeOptions } from '../../io/records/join.js';
import { invalidParameter } from '../../core/errors.js';
import { newId } from '../../core/ids.js';
import type { Organization } from '../../core/principal.js';
import { checkAmount, nowSeconds, type Accounts } from './accounts.js';
import { balanceOf, changeBalance, type CreditBalance } from './balance.js';
import { CREDIT_BALANCE, CREDITS, paymentsOf } from './layout.js';
import { changeOrganization, getOrganization } from './organizations.js';

/** Adds to the balance, or takes from it; each change leaves an entry with its reason. */
export const addCredits = async (
  accounts: Accounts,
  organizationId: string,
  amount: number,
  reason: string,
  { also }: ChangeOptions<CreditBalance> = {},
): Promise<CreditBalance> => {
  checkAmount('amount', amount, { whole: true });
  if (amount === 0) throw invalidParameter('amount', 'must not be 0.');
  const { metered } = await getOrganization(accounts, organizationId);
  if (!metered) throw invalidParameter('amount', 'the organization is not metered.');
  return changeBalance(
    accounts,
    organizationId,
    (balance) => balance + amount,
    reason.slice(0, 500),
    also ?? (() => []),
  );
};

/** null = no balance was ever opened. Whether it counts is the organization's `metered`. */
export const getBalance = async (accounts: Accounts, organizationId: string): Promise<number | null> => {
  const stored = await accounts.records.get(organizationId, CREDITS, CREDIT_BALANCE);
  return stored && balanceOf(stored);
};

/** Raises what the organization has paid in its life, and with it its tier; the payment is kept as an entry. */
export const recordPayment = async (
  accounts: Accounts,
  organizationId: string,
  usd: number,
  { also }: ChangeOptions<Organization> = {},
): Promise<Organization> => {
  checkAmount('usd', usd, { whole: false });
  if (usd <= 0) throw invalidParameter('usd', 'must be more than 0.');
  const entry = { usd, created_at: nowSeconds(accounts.clock) };
  return changeOrganization(
    accounts,
    organizationId,
    // Cents of dollars added as doubles leave dust; a millionth is kept.
    (record) => ({ ...record, lifetime_paid_usd: Number((record.lifetime_paid_usd + usd).toFixed(6)) }),
    (organization) => [
      { op: 'put', collection: paymentsOf(organizationId), id: newId('pay'), value: entry, expect: 'absent' },
      ...(also?.(organization) ?? []),
    ],
  );
};
