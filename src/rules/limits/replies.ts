import type {
  AdmitReply,
  AdmitRequest,
  CreditReading,
  Outcome,
  Quota,
  Reading,
  Scope,
  SettleReply,
} from './limiter.js';

/** What both limiters compute: the flat numbers described at the head of admit.lua and settle.lua. */
export type Raw = ArrayLike<number>;

const HEAD = 11;
const PER_SCOPE = 7;
const PER_QUOTA = 3;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

const outcomes: Readonly<Record<number, Outcome>> = {
  1: 'admitted',
  2: 'repeated',
  3: 'settled',
  0: 'refused',
  [-1]: 'short_of_credits',
  [-2]: 'no_balance',
};

const settleOutcomes = ['settled', 'repeated', 'late', 'unknown', 'ignored'] as const;

type Asked = Pick<AdmitRequest, 'scopes' | 'quotas' | 'credits'>;

/** Where the parts of a reply lie. */
interface Layout {
  readonly raw: Raw;
  readonly length: number;
  readonly nowMs: number;
  /** 0 = reservations were not summed. */
  readonly reservedFrom: number;
  readonly violatedFrom: number;
}

const layoutOf = (raw: Raw, length: number, scopes: number, quotas: number): Layout => {
  const after = HEAD + PER_SCOPE * scopes + PER_QUOTA * quotas;
  const isSummed = raw[10] === 1;
  return {
    raw,
    length,
    nowMs: raw[1]!,
    reservedFrom: isSummed ? after : 0,
    violatedFrom: isSummed ? after + 2 * scopes + quotas : after,
  };
};

const waitOf = ({ raw, length, violatedFrom }: Layout, bucket: number): number => {
  for (let at = violatedFrom; at < length; at += 2) if (raw[at] === bucket) return raw[at + 1]!;
  return 0;
};

const reservedAt = ({ raw, reservedFrom }: Layout, at: number, used: number): number | null =>
  reservedFrom === 0 ? null : Math.min(used, raw[reservedFrom + at]!);

/** Adds the readings of a scope; written out, as this is done for every request. */
const addScope = (readings: Reading[], layout: Layout, { kind: scope, id, limits }: Scope, i: number) => {
  const { raw, nowMs } = layout;
  const base = HEAD + PER_SCOPE * i;
  const bucket = 5 * i;
  const minuteMs = Math.max(0, raw[base + 2]! + MINUTE_MS - nowMs);
  const dayMs = Math.max(0, raw[base + 5]! + DAY_MS - nowMs);
  const rpm = raw[base]!;
  const rpd = raw[base + 3]!;
  const tpm = raw[base + 1]!;
  const concurrent = raw[base + 6]!;
  readings.push(
    {
      scope,
      id,
      metric: 'rpm',
      window: 'minute',
      limit: limits.rpm,
      used: rpm,
      reserved: 0,
      resetMs: rpm === 0 ? 0 : minuteMs,
      waitMs: waitOf(layout, bucket),
    },
    {
      scope,
      id,
      metric: 'rpd',
      window: 'day',
      limit: limits.rpd,
      used: rpd,
      reserved: 0,
      resetMs: rpd === 0 ? 0 : dayMs,
      waitMs: waitOf(layout, bucket + 1),
    },
    {
      scope,
      id,
      metric: 'tpm',
      window: 'minute',
      limit: limits.tpm,
      used: tpm,
      reserved: reservedAt(layout, 2 * i, tpm),
      resetMs: tpm === 0 ? 0 : minuteMs,
      waitMs: waitOf(layout, bucket + 2),
    },
  );
  if (i === 0) {
    const tpd = raw[base + 4]!;
    readings.push({
      scope,
      id,
      metric: 'tpd',
      window: 'day',
      limit: limits.tpd,
      used: tpd,
      reserved: reservedAt(layout, 1, tpd),
      resetMs: tpd === 0 ? 0 : dayMs,
      waitMs: waitOf(layout, bucket + 3),
    });
  }
  readings.push({
    scope,
    id,
    metric: 'concurrent',
    window: null,
    limit: limits.concurrent,
    used: concurrent,
    reserved: concurrent,
    resetMs: 0,
    waitMs: waitOf(layout, bucket + 4),
  });
};

const addQuota = (readings: Reading[], layout: Layout, quota: Quota, scopes: number, i: number) => {
  const { raw, nowMs } = layout;
  const { subject: scope, id, window } = quota;
  const at = HEAD + PER_SCOPE * scopes + PER_QUOTA * i;
  const bucket = 5 * scopes + 2 * i;
  const requests = raw[at]!;
  const tokens = raw[at + 1]!;
  const endMs = raw[at + 2]! - nowMs;
  readings.push(
    {
      scope,
      id,
      metric: 'quota_requests',
      window,
      limit: quota.requests,
      used: requests,
      reserved: 0,
      resetMs: requests === 0 ? 0 : endMs,
      waitMs: waitOf(layout, bucket),
    },
    {
      scope,
      id,
      metric: 'quota_tokens',
      window,
      limit: quota.tokens,
      used: tokens,
      reserved: reservedAt(layout, 2 * scopes + i, tokens),
      resetMs: tokens === 0 ? 0 : endMs,
      waitMs: waitOf(layout, bucket + 1),
    },
  );
};

/** Tells every counter, and of those violated the one that binds. */
export const readAdmitReply = (raw: Raw, request: Asked, length = raw.length): AdmitReply => {
  const { scopes, quotas } = request;
  const layout = layoutOf(raw, length, scopes.length, quotas.length);
  const readings: Reading[] = [];
  let left = Infinity;
  for (let i = 0; i < scopes.length; i++) {
    const scope = scopes[i]!;
    addScope(readings, layout, scope, i);
    const { concurrent } = scope.limits;
    if (concurrent !== null) left = Math.min(left, Math.max(0, concurrent - raw[HEAD + PER_SCOPE * i + 6]!));
  }
  for (let i = 0; i < quotas.length; i++) addQuota(readings, layout, quotas[i]!, scopes.length, i);
  let binding: Reading | null = null;
  if (length > layout.violatedFrom)
    for (const reading of readings) if (reading.waitMs > (binding?.waitMs ?? 0)) binding = reading;
  return {
    outcome: outcomes[raw[0]!]!,
    nowMs: layout.nowMs,
    readings,
    binding,
    retryMs: raw[9]!,
    concurrencyLeft: left === Infinity ? null : left,
    credits: readCredits(raw, request),
    clockStepped: raw[2] === 1,
    pruned: raw[3]!,
  };
};

const readCredits = (raw: Raw, { credits }: Asked): CreditReading | null => {
  if (!credits) return null;
  const balance = raw[5]!;
  return {
    balance: raw[4] === 1 ? balance : null,
    available: balance - raw[6]!,
    keyAvailable: credits.keyBudget === null ? null : credits.keyBudget - raw[7]! - raw[8]!,
  };
};

export const readSettleReply = (raw: Raw): SettleReply => ({
  outcome: settleOutcomes[raw[0]! - 1]!,
  nowMs: raw[1]!,
  balance: raw[2] === 1 ? raw[3]! : null,
  overdraft: raw[4]!,
});
