import * as v from 'valibot';
import { id, listOf, seconds } from './describe.js';
import { integer, text } from './parse.js';

const MOST = Number.MAX_SAFE_INTEGER;
const amount = v.number();
const day = v.pipe(v.string(), v.regex(/^\d{4}-\d\d-\d\d$/));

export const NewCreditGrant = v.pipe(
  v.strictObject({
    amount: v.pipe(integer(-MOST, MOST), v.description('Credits to add; negative takes some back.')),
    reason: text(1, 500),
  }),
  v.title('NewCreditGrant'),
);

export const CreditGrant = v.pipe(
  v.strictObject({
    object: v.literal('organization.credit_grant'),
    id,
    amount,
    reason: v.string(),
    created_at: seconds,
    remaining_credits: v.pipe(
      v.nullable(amount),
      v.description('The balance after it, in a replay too; null while the balance cannot be read.'),
    ),
  }),
  v.title('CreditGrant'),
);

export const NewPayment = v.pipe(
  v.strictObject({
    usd: v.pipe(
      v.number(),
      v.minValue(0.000_001, 'must be more than 0.'),
      v.maxValue(1_000_000_000, 'must be at most 1000000000.'),
    ),
  }),
  v.title('NewPayment'),
);

export const Payment = v.pipe(
  v.strictObject({
    object: v.literal('organization.payment'),
    usd: amount,
    lifetime_paid_usd: amount,
    tier: v.string(),
  }),
  v.title('Payment'),
);

const sums = {
  requests: amount,
  input_tokens: amount,
  cache_read_tokens: amount,
  cache_write_tokens: amount,
  output_tokens: amount,
  credits: amount,
  cost_usd: amount,
};

export const UsageRow = v.pipe(
  v.strictObject({
    object: v.literal('organization.usage'),
    id: v.string(),
    day,
    project_id: v.nullable(id),
    api_key_id: v.string(),
    ...sums,
    models: v.array(v.strictObject({ model: v.string(), ...sums })),
  }),
  v.title('UsageRow'),
);
export const UsageList = listOf('UsageList', UsageRow);
