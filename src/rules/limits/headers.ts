import { formatDuration } from '../../core/duration.js';
import type { AdmitReply, Metric, Reading } from './limiter.js';

export type Headers = Readonly<Record<string, string>>;

const scopeOrder = { key: 0, project: 1, organization: 2, user: 3 } as const;
const requestMetrics: readonly Metric[] = ['rpm', 'rpd'];
const tokenMetrics: readonly Metric[] = ['tpm', 'tpd'];

type Limited = Reading & { readonly limit: number };

const remainingOf = ({ limit, used }: Limited): number => Math.max(0, limit - used);

/** Negative where `one` is closer to its limit: by what is left, then by its share, then minute, then key. */
const compare = (one: Limited, other: Limited): number =>
  remainingOf(one) - remainingOf(other) ||
  shareOf(one) - shareOf(other) ||
  Number(one.window === 'day') - Number(other.window === 'day') ||
  scopeOrder[one.scope] - scopeOrder[other.scope];

const shareOf = (reading: Limited): number =>
  reading.limit === 0 ? 0 : remainingOf(reading) / reading.limit;

/** The pair the headers show: what refused the request, else the one closest to its limit. null = all are lifted. */
export const chooseReading = (readings: readonly Reading[], metrics: readonly Metric[]): Limited | null => {
  let chosen: Limited | null = null;
  for (const reading of readings) {
    const { limit, metric } = reading;
    if (limit === null || !metrics.includes(metric)) continue;
    const limited = reading as Limited;
    if (!chosen || (limited.waitMs - chosen.waitMs || -compare(limited, chosen)) > 0) chosen = limited;
  }
  return chosen;
};

/** The headers of an inference reply (seed 8.4). */
export const inferenceHeaders = ({ readings }: Pick<AdmitReply, 'readings'>): Headers => {
  const requests = chooseReading(readings, requestMetrics);
  const tokens = chooseReading(readings, tokenMetrics);
  return {
    ...(requests && triple('requests', requests)),
    ...(tokens && triple('tokens', tokens)),
    ...(tokens?.scope === 'project' && triple('project-tokens', tokens)),
  };
};

const triple = (what: string, reading: Limited): Headers => ({
  [`x-ratelimit-limit-${what}`]: String(reading.limit),
  [`x-ratelimit-remaining-${what}`]: String(remainingOf(reading)),
  [`x-ratelimit-reset-${what}`]: formatDuration(reading.resetMs),
});

/** Whole seconds until a repeat can succeed. */
export const retryAfterS = ({ retryMs }: Pick<AdmitReply, 'retryMs'>): number =>
  Math.max(1, Math.ceil(retryMs / 1_000));

/** The headers of a 429 of the administration (seed 8.4); Retry-After goes with the error itself. */
export const adminHeaders = (reply: AdmitReply, binding: Reading): Headers => ({
  'x-ratelimit-limit': String(binding.limit ?? 0),
  'x-ratelimit-remaining': '0',
  'x-ratelimit-reset': String(Math.floor(reply.nowMs / 1_000) + retryAfterS(reply)),
  'x-ratelimit-scope': binding.scope === 'key' ? 'credential' : binding.scope,
  'x-ratelimit-metric': binding.metric === 'concurrent' ? 'concurrent_requests' : 'requests',
});
