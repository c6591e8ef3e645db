import * as v from 'valibot';
import { id, seconds } from './administration/describe.js';

const whole = v.pipe(v.number(), v.integer());

/** D40. */
export const CreditBalance = v.pipe(
  v.strictObject({
    object: v.literal('credit_balance'),
    remaining_credits: v.pipe(v.nullable(whole), v.description('null = the organization is not metered.')),
    as_of: seconds,
  }),
  v.title('CreditBalance'),
);

const scope = v.picklist(['organization', 'project', 'key', 'user']);

export const metrics = {
  rpm: 'requests_per_minute',
  rpd: 'requests_per_day',
  tpm: 'tokens_per_minute',
  tpd: 'tokens_per_day',
  concurrent: 'concurrent_requests',
  quota_requests: 'quota_requests',
  quota_tokens: 'quota_tokens',
} as const;

const metric = v.picklist(Object.values(metrics));

const reserved = v.pipe(
  v.nullable(whole),
  v.description(
    'Of `used`, what requests under way have reserved: it comes back as far as they do not use it. null = more than 256 requests of the organization are under way, and their tokens are not summed.',
  ),
);

const LimitReading = v.pipe(
  v.strictObject({
    scope,
    id,
    metric,
    limit: v.pipe(v.nullable(whole), v.description('null = lifted.')),
    used: v.pipe(whole, v.description('With what requests under way have reserved.')),
    reserved,
    remaining: v.nullable(whole),
    reset_at: v.pipe(seconds, v.description('When it is whole again if nothing more is sent.')),
  }),
  v.title('LimitReading'),
);

export const LimitReadings = v.pipe(
  v.strictObject({
    object: v.literal('limits'),
    tier: v.string(),
    as_of: seconds,
    limits: v.array(LimitReading),
    credits: v.nullable(
      v.strictObject({
        remaining_credits: v.nullable(whole),
        available_credits: v.pipe(whole, v.description('Less what requests under way hold.')),
        key_budget_remaining: v.nullable(whole),
      }),
    ),
  }),
  v.title('LimitReadings'),
);

export const RefusalExplanation = v.pipe(
  v.strictObject({
    object: v.literal('request.limits'),
    request_id: id,
    code: v.picklist(['rate_limit_exceeded', 'insufficient_credits']),
    decided_at: seconds,
    project_id: v.nullable(id),
    api_key_id: id,
    requested: v.strictObject({
      tokens: v.pipe(whole, v.description('What the request would have reserved.')),
      credits: v.nullable(whole),
    }),
    available_credits: v.nullable(whole),
    retry_at: v.pipe(v.nullable(seconds), v.description('When a repeat, sent alone, is admitted.')),
    degraded: v.pipe(v.boolean(), v.description('Decided without the shared store.')),
    violated: v.array(
      v.strictObject({ scope, id, metric, limit: whole, used: whole, reserved, frees_at: seconds }),
    ),
  }),
  v.title('RefusalExplanation'),
);
