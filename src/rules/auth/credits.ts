import type { ChangeOptions } from '../../io/records/join.js';
import { invalidParameter } from '../../core/errors.js';
import { newId } from '../../core/ids.js';
import type { Organization } from '../../core/principal.js';
import { checkAmount, nowSeconds, type Accounts } from './accounts.js';
import { changeFunds, type Grant } from './funds.js';
import { paymentsOf } from './layout.js';
import { changeOrganization, getOrganization } from './organizations.js';

/** Grants credits, or takes some back; each change leaves an entry with its reason. */
export const addCredits = async (
  accounts: Accounts,
  organizationId: string,
  amount: number,
  reason: string,
  { also }: ChangeOptions<Grant> = {},
): Promise<Grant> => {
  checkAmount('amount', amount, { whole: true });
  if (amount === 0) throw invalidParameter('amount', 'must not be 0.');
  const { metered } = await getOrganization(accounts, organizationId);
  if (!metered) throw invalidParameter('amount', 'the organization is not metered.');
  return changeFunds(
    accounts,
    organizationId,
    ({ granted, epoch }) => ({ granted: granted + amount, epoch }),
    reason.slice(0, 500),
    also ?? (() => []),
  );
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
