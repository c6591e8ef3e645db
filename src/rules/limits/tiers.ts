import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { parse } from 'yaml';
import type { Organization } from '../../core/principal.js';
import { noLimits, type Limits, type ScopeKind } from './limiter.js';

const amount = v.pipe(v.number(), v.integer(), v.minValue(0));

const TierTable = v.pipe(
  v.strictObject({
    factors: v.strictObject({
      project: v.pipe(v.number(), v.minValue(0)),
      organization: v.pipe(v.number(), v.minValue(0)),
    }),
    credit_reads: v.strictObject({ key: amount, organization: amount }),
    tiers: v.pipe(
      v.array(
        v.strictObject({
          name: v.pipe(v.string(), v.regex(/^[a-z0-9_]+$/)),
          paid_usd: v.pipe(v.number(), v.minValue(0)),
          plan: v.nullable(v.picklist(['free', 'developer', 'growth', 'scale'])),
          key: v.strictObject({ rpm: amount, tpm: amount, rpd: amount }),
          organization_tpd: amount,
          concurrent: v.strictObject({ key: amount, project: amount, organization: amount }),
        }),
      ),
      v.minLength(1),
    ),
  }),
  v.check(
    ({ tiers }) => tiers.every((tier, i) => i === 0 || tier.paid_usd > tiers[i - 1]!.paid_usd),
    'tiers stand in rising order of paid_usd',
  ),
  v.check(({ tiers }) => tiers[0]!.paid_usd === 0, 'the first tier costs nothing'),
);

type TierTable = v.InferOutput<typeof TierTable>;

export type TierLimits = Readonly<Record<ScopeKind, Limits>>;

export interface Tier {
  readonly name: string;
  readonly limits: TierLimits;
}

export interface Tiers {
  readonly all: readonly Tier[];
  /** The higher of plan and lifetime payments (seed 8.2). */
  readonly tierOf: (organization: Pick<Organization, 'plan' | 'lifetimePaidUsd'>) => Tier;
  /** Limits of `GET /v1/credits`. */
  readonly creditReads: TierLimits;
}

/** Makes every limit of every tier once. Throws where the table is not sound. */
export const createTiers = (given: unknown): Tiers => {
  const table = v.parse(TierTable, given);
  const all = table.tiers.map((tier) => ({ name: tier.name, limits: limitsOf(tier, table.factors) }));
  const { credit_reads: reads } = table;
  return {
    all,
    tierOf: ({ plan, lifetimePaidUsd }) =>
      all[table.tiers.findLastIndex((tier) => tier.plan === plan || tier.paid_usd <= lifetimePaidUsd)] ??
      all[0]!,
    creditReads: {
      organization: { ...noLimits, rpm: reads.organization },
      project: noLimits,
      key: { ...noLimits, rpm: reads.key },
    },
  };
};

const limitsOf = (tier: TierTable['tiers'][number], factors: TierTable['factors']): TierLimits => {
  const scope = (factor: number, concurrent: number, tpd: number | null): Limits => ({
    rpm: Math.floor(tier.key.rpm * factor),
    rpd: Math.floor(tier.key.rpd * factor),
    tpm: Math.floor(tier.key.tpm * factor),
    tpd,
    concurrent,
  });
  return {
    organization: scope(factors.organization, tier.concurrent.organization, tier.organization_tpd),
    project: scope(factors.project, tier.concurrent.project, null),
    key: scope(1, tier.concurrent.key, null),
  };
};

const shipped = new URL('../../../../config/tiers.yaml', import.meta.url);

/** Reads a table, by default the one that is shipped. */
export const loadTiers = (file: URL | string = shipped): Tiers => {
  try {
    return createTiers(parse(readFileSync(file, 'utf8')));
  } catch (error) {
    const reason = v.isValiError(error) ? faultOf(error.issues[0]) : String(error);
    throw new Error(`The table of tiers is not sound: ${reason}`, { cause: error });
  }
};

const faultOf = (issue: v.BaseIssue<unknown>): string => `${v.getDotPath(issue) ?? 'it'}: ${issue.message}`;
