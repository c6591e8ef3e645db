import { newId } from '../../core/ids.js';
import { commitWith, type ChangeOptions } from '../../io/records/join.js';
import { readRecord } from '../../io/records/read-record.js';
import type { Step, Stored } from '../../io/records/records.js';
import { changeRecord, checkAmount, nowSeconds, type Accounts } from './accounts.js';
import { BalanceRecord, CREDIT_BALANCE, CREDIT_ENTRIES, CREDITS } from './layout.js';

/** The balance after a change. */
export interface CreditBalance {
  readonly balance: number;
}

export const balanceOf = (stored: Stored | null): number =>
  stored ? readRecord(BalanceRecord, stored).balance : 0;

const steps = (
  accounts: Accounts,
  stored: Stored | null,
  balance: number,
  reason: string,
): readonly [Step, Step] => [
  {
    op: 'put',
    collection: CREDITS,
    id: CREDIT_BALANCE,
    value: { ...stored?.value, balance },
    expect: stored?.revision ?? 'absent',
  },
  {
    op: 'put',
    collection: CREDIT_ENTRIES,
    id: newId('cred'),
    value: { amount: balance - balanceOf(stored), balance, reason, created_at: nowSeconds(accounts.clock) },
    expect: 'absent',
  },
];

export const changeBalance = async (
  accounts: Accounts,
  organizationId: string,
  next: (balance: number) => number,
  reason: string,
  also: NonNullable<ChangeOptions<CreditBalance>['also']>,
): Promise<CreditBalance> =>
  changeRecord(
    () => accounts.records.get(organizationId, CREDITS, CREDIT_BALANCE),
    async (stored) => {
      const result = { balance: next(balanceOf(stored)) };
      checkAmount('amount', result.balance, { whole: true });
      const own = steps(accounts, stored, result.balance, reason);
      return { refusal: await commitWith(accounts.records, organizationId, own, also(result)), result };
    },
  );

/** The first balance; one that is there already is left. */
export const openBalance = async (
  accounts: Accounts,
  organizationId: string,
  balance: number,
): Promise<void> => {
  await accounts.records.commit(organizationId, steps(accounts, null, balance, 'initial'));
};

export const setBalance = (
  accounts: Accounts,
  organizationId: string,
  balance: number,
): Promise<CreditBalance> =>
  changeBalance(
    accounts,
    organizationId,
    () => balance,
    'set',
    () => [],
  );
