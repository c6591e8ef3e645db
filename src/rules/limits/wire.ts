import { createHash } from 'node:crypto';
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
export type Raw = readonly number[];

export const METRICS = ['rpm', 'rpd', 'tpm', 'tpd', 'concurrent'] as const;
const METRIC_WINDOWS = ['minute', 'day', 'minute', 'day', null] as const;
const SPANS_MS = [60_000, 86_400_000, 60_000, 86_400_000, 0] as const;
const HEAD = 10;
const PER_SCOPE = 7;
const PER_QUOTA = 3;
const MOST = 2 ** 47; // six bytes, with room to add

export const QUOTA_KINDS = { daily: 1, weekly: 2, monthly: 3 } as const;

const outcomes: Readonly<Record<number, Outcome>> = {
  1: 'admitted',
  2: 'repeated',
  3: 'settled',
  0: 'refused',
  [-1]: 'short_of_credits',
  [-2]: 'no_balance',
};

const settleOutcomes = ['settled', 'repeated', 'late', 'unknown', 'ignored'] as const;

/** A whole number that the rings can hold. */
export const whole = (amount: number): number => Math.min(MOST, Math.max(0, Math.ceil(amount)));

/** A bound as the scripts take it. */
export const orNone = (amount: number | null | undefined): number =>
  amount === null || amount === undefined ? -1 : whole(amount);

const PLAIN_ID = /^[\w.:@/+=|~-]{1,128}$/;

/** Ids are part of key names and of records by lines: anything unusual goes by its digest. */
export const nameOf = (id: string): string =>
  PLAIN_ID.test(id) ? id : `~${createHash('sha256').update(id).digest('base64url')}`;

const tagOf = ({ kind, id }: Scope): string =>
  kind === 'organization' ? 'o' : `${kind === 'project' ? 'p' : 'k'}:${nameOf(id)}`;

export const subjectOf = ({ subject, id }: Quota): string =>
  `${subject === 'user' ? 'u' : 'p'}:${nameOf(id)}`;

const limitNumbers = ({ kind, limits }: Scope): readonly number[] =>
  METRICS.map((metric) => orNone(metric === 'tpd' && kind !== 'organization' ? null : limits[metric]));

/** Scopes in the words of the scripts. */
export interface Compiled {
  readonly tags: readonly string[];
  /** In order of METRICS; -1 = none. */
  readonly limits: readonly (readonly number[])[];
  /** Tags below the organization, as a lease's record holds them. */
  readonly lines: string;
}

const compiled = new WeakMap<readonly Scope[], Compiled>();

/** Callers keep the scopes of a key as one array, so this is done once for it. */
export const compileScopes = (scopes: readonly Scope[]): Compiled => {
  let known = compiled.get(scopes);
  if (!known) {
    if (scopes[0]?.kind !== 'organization' || scopes.at(-1)?.kind !== 'key')
      throw new RangeError('The scopes begin with the organization and end with the key.');
    const tags = scopes.map(tagOf);
    known = {
      tags,
      limits: scopes.map(limitNumbers),
      lines: tags
        .slice(1)
        .map((tag) => `\n${tag}`)
        .join(''),
    };
    compiled.set(scopes, known);
  }
  return known;
};

type Asked = Pick<AdmitRequest, 'scopes' | 'quotas' | 'credits'>;

/** Where a scope's numbers hold what each metric has used. */
const USED_AT = [0, 3, 1, 4, 6] as const;

const scopeReading = (
  raw: Raw,
  base: number,
  { kind, id, limits }: Scope,
  m: number,
  waitMs: number,
): Reading => {
  const used = raw[base + USED_AT[m]!]!;
  const spanMs = SPANS_MS[m]!;
  const lastMs = spanMs === 60_000 ? raw[base + 2]! : raw[base + 5]!;
  const metric = METRICS[m]!;
  return {
    scope: kind,
    id,
    metric,
    window: METRIC_WINDOWS[m]!,
    limit: limits[metric],
    used,
    resetMs: used === 0 || spanMs === 0 ? 0 : Math.max(0, lastMs + spanMs - raw[1]!),
    waitMs,
  };
};

const quotaReading = (
  raw: Raw,
  at: number,
  { subject, id, window, requests, tokens }: Quota,
  metric: 'quota_requests' | 'quota_tokens',
  waitMs: number,
): Reading => {
  const ofRequests = metric === 'quota_requests';
  const used = raw[ofRequests ? at : at + 1]!;
  const limit = ofRequests ? requests : tokens;
  const resetMs = used === 0 ? 0 : raw[at + 2]! - raw[1]!;
  return { scope: subject, id, metric, window, limit, used, resetMs, waitMs };
};

/** Tells every counter, and of those violated the one that binds. */
export const readAdmitReply = (raw: Raw, request: Asked): AdmitReply => {
  const { scopes, quotas } = request;
  const quotaBase = HEAD + PER_SCOPE * scopes.length;
  const violatedFrom = quotaBase + PER_QUOTA * quotas.length;
  const waitOf = (bucket: number): number => {
    for (let at = violatedFrom; at < raw.length; at += 2) if (raw[at] === bucket) return raw[at + 1]!;
    return 0;
  };
  const readings: Reading[] = [];
  let concurrencyLeft: number | null = null;
  for (let i = 0; i < scopes.length; i++) {
    const scope = scopes[i]!;
    const base = HEAD + PER_SCOPE * i;
    for (let m = 0; m < METRICS.length; m++)
      if (i === 0 || METRICS[m] !== 'tpd')
        readings.push(scopeReading(raw, base, scope, m, waitOf(5 * i + m)));
    const { concurrent } = scope.limits;
    if (concurrent !== null)
      concurrencyLeft = Math.min(concurrencyLeft ?? Infinity, Math.max(0, concurrent - raw[base + 6]!));
  }
  for (let i = 0; i < quotas.length; i++) {
    const bucket = 5 * scopes.length + 2 * i;
    const at = quotaBase + PER_QUOTA * i;
    readings.push(quotaReading(raw, at, quotas[i]!, 'quota_requests', waitOf(bucket)));
    readings.push(quotaReading(raw, at, quotas[i]!, 'quota_tokens', waitOf(bucket + 1)));
  }
  let binding: Reading | null = null;
  if (raw.length > violatedFrom)
    for (const reading of readings) if (reading.waitMs > (binding?.waitMs ?? 0)) binding = reading;
  return {
    outcome: outcomes[raw[0]!]!,
    nowMs: raw[1]!,
    readings,
    binding,
    retryMs: raw[9]!,
    concurrencyLeft,
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
