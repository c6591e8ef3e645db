import { newId } from '../../core/ids.js';
import { commitWith, type ChangeOptions } from '../../io/records/join.js';
import { readRecord } from '../../io/records/read-record.js';
import type { Step, Stored } from '../../io/records/records.js';
import { changeRecord, checkAmount, nowSeconds, type Accounts } from './accounts.js';
import { CREDIT_ENTRIES, CREDITS, FUNDS, FundsRecord } from './layout.js';

/** What an organization was granted. The balance is this less what was spent, which the limiter knows. */
export interface Funds {
  readonly granted: number;
  /** Another one begins the balance anew at `granted`. */
  readonly epoch: number;
  readonly revision: number;
}

/** A change of the funds, as its entry tells it. */
export interface Grant {
  readonly id: string;
  readonly amount: number;
  readonly reason: string;
  readonly createdAtS: number;
}

const asFunds = (stored: Stored): Funds => {
  const { granted, epoch } = readRecord(FundsRecord, stored);
  return { granted, epoch, revision: stored.revision };
};

/** null = the organization was never given credits. Whether they count is its `metered`. */
export const getFunds = async (accounts: Accounts, organizationId: string): Promise<Funds | null> => {
  const stored = await accounts.records.get(organizationId, CREDITS, FUNDS);
  return stored && asFunds(stored);
};

const steps = (
  stored: Stored | null,
  next: FundsRecord,
  { id, amount, reason, createdAtS }: Grant,
): readonly [Step, Step] => [
  {
    op: 'put',
    collection: CREDITS,
    id: FUNDS,
    value: { ...stored?.value, ...next },
    expect: stored?.revision ?? 'absent',
  },
  {
    op: 'put',
    collection: CREDIT_ENTRIES,
    id,
    value: { amount, reason, granted: next.granted, epoch: next.epoch, created_at: createdAtS },
    expect: 'absent',
  },
];

const none: Funds = { granted: 0, epoch: 0, revision: 0 };

export const changeFunds = async (
  accounts: Accounts,
  organizationId: string,
  next: (funds: Funds) => FundsRecord,
  reason: string,
  also: NonNullable<ChangeOptions<Grant>['also']>,
): Promise<Grant> =>
  changeRecord(
    () => accounts.records.get(organizationId, CREDITS, FUNDS),
    async (stored) => {
      const funds = stored ? asFunds(stored) : none;
      const changed = next(funds);
      checkAmount('amount', changed.granted, { whole: true });
      const isSet = changed.epoch !== funds.epoch;
      const grant = {
        id: newId('cred'),
        amount: isSet ? changed.granted : changed.granted - funds.granted,
        reason,
        createdAtS: nowSeconds(accounts.clock),
      };
      const own = steps(stored, changed, grant);
      return { refusal: await commitWith(accounts.records, organizationId, own, also(grant)), result: grant };
    },
  );

/** The first funds; those that are there already are left. */
export const openFunds = async (
  accounts: Accounts,
  organizationId: string,
  granted: number,
): Promise<void> => {
  const grant = {
    id: newId('cred'),
    amount: granted,
    reason: 'initial',
    createdAtS: nowSeconds(accounts.clock),
  };
  await accounts.records.commit(organizationId, steps(null, { granted, epoch: 0 }, grant));
};

/** Lets the balance begin anew. */
export const resetFunds = async (
  accounts: Accounts,
  organizationId: string,
  granted: number,
): Promise<void> => {
  await changeFunds(
    accounts,
    organizationId,
    ({ epoch }) => ({ granted, epoch: epoch + 1 }),
    'set',
    () => [],
  );
};
