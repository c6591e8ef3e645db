import type { Lease, Meter } from '../core/exchange.js';
import { costUsd, creditsFor } from '../core/usage.js';
import type { CreditFields } from '../dialects/dialect.js';

const USD_DECIMALS = 10;

/** Settles what the meter shows by now and gives the three credit fields of the answer (seed 4.10, 4.11; D39). */
export const settleBill = async (meter: Meter, lease: Lease, usdPerCredit: number): Promise<CreditFields> => {
  const { usage, price } = meter;
  meter.costUsd = price ? Number(costUsd(usage, price).toFixed(USD_DECIMALS)) : 0;
  meter.credits = creditsFor(meter.costUsd, usdPerCredit);
  const { remainingCredits } = await lease.settle({ usage, costUsd: meter.costUsd, credits: meter.credits });
  return {
    remaining_credits: remainingCredits,
    estimated_credits_used: meter.credits,
    estimated_cost_usd: meter.costUsd,
  };
};
