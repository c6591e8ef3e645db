import * as v from 'valibot';

/** In the partition that bears the organization's id: a record per day, project and key. */
export const USAGE = 'usage';

const amount = v.number();

const Sums = v.object({
  requests: amount,
  input_tokens: amount,
  cache_read_tokens: amount,
  cache_write_tokens: amount,
  output_tokens: amount,
  credits: amount,
  cost_usd: amount,
});
export type Sums = v.InferOutput<typeof Sums>;

export const noSums: Sums = {
  requests: 0,
  input_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 0,
  credits: 0,
  cost_usd: 0,
};

const USD_DECIMALS = 10;

export const addSums = (one: Sums, other: Sums): Sums => ({
  requests: one.requests + other.requests,
  input_tokens: one.input_tokens + other.input_tokens,
  cache_read_tokens: one.cache_read_tokens + other.cache_read_tokens,
  cache_write_tokens: one.cache_write_tokens + other.cache_write_tokens,
  output_tokens: one.output_tokens + other.output_tokens,
  credits: one.credits + other.credits,
  cost_usd: Number((one.cost_usd + other.cost_usd).toFixed(USD_DECIMALS)),
});

export const UsageRecord = v.object({
  day: v.string(),
  project_id: v.nullable(v.string()),
  api_key_id: v.string(),
  models: v.record(v.string(), Sums),
});
export type UsageRecord = v.InferOutput<typeof UsageRecord>;

/** What was counted under one day, project and key. */
export interface UsageRow {
  readonly id: string;
  readonly day: string;
  readonly projectId: string | null;
  readonly keyId: string;
  readonly models: Readonly<Record<string, Sums>>;
}

const PLAIN = /^[\w.-]{1,80}$/;

/** Sorts by day, so that a range of days is a range of ids. */
export const rowId = (day: string, projectId: string | null, keyId: string): string => {
  const key = PLAIN.test(keyId) ? keyId : Buffer.from(keyId).toString('base64url').slice(0, 80);
  return `${day}.${projectId ?? '-'}.${key}`;
};
