import { formatDuration } from '../../core/duration.js';
import { GatewayError } from '../../core/errors.js';
import { adminHeaders, inferenceHeaders, retryAfterS, type Headers } from './headers.js';
import type { AdmitReply, Metric, Reading, Space } from './limiter.js';

const words: Readonly<Record<Metric, string>> = {
  rpm: 'requests per minute',
  rpd: 'requests per day',
  tpm: 'tokens per minute',
  tpd: 'tokens per day',
  concurrent: 'concurrent requests',
  quota_requests: 'requests',
  quota_tokens: 'tokens',
};

const scopeWords = {
  key: 'API key',
  project: 'project',
  organization: 'organization',
  user: 'user',
} as const;
const windowWords = { daily: 'daily', weekly: 'weekly', monthly: 'monthly', minute: '', day: '' } as const;

/** D21: why a quota refused. */
const reasonOf = ({ scope, metric }: Reading): string | null => {
  if (metric !== 'quota_requests' && metric !== 'quota_tokens') return null;
  return scope === 'user' ? 'USER_QUOTA_EXCEEDED' : 'PROJECT_QUOTA_EXCEEDED';
};

const nameOf = (reading: Reading): string => {
  const { scope, metric, window } = reading;
  if (!reasonOf(reading)) return `${words[metric]} of this ${scopeWords[scope]}`;
  return `${windowWords[window ?? 'daily']} quota of ${words[metric]} of this ${scopeWords[scope]}`;
};

const messageOf = (binding: Reading, retryS: number): string => {
  const reason = reasonOf(binding);
  const limit = `Rate limit reached: ${nameOf(binding)}, limit ${binding.limit ?? 0}, used ${binding.used}.`;
  const free =
    binding.metric === 'concurrent'
      ? 'It frees as soon as one of them ends.'
      : `It frees in ${formatDuration(binding.waitMs)}.`;
  return `${reason ? `${reason}: ` : ''}${limit} ${free} Try again in ${formatDuration(retryS * 1_000)}.`;
};

export const headersOf = (reply: AdmitReply, space: Space): Headers =>
  space === 'inference' ? inferenceHeaders(reply) : {};

/** A 429 that names the scope, metric and limit that bind, and when a repeat can succeed. */
export const limitReached = (reply: AdmitReply, space: Space, more: Headers = {}): GatewayError => {
  const retryS = retryAfterS(reply);
  const binding = reply.binding!;
  const reason = reasonOf(binding);
  return new GatewayError('rate_limit_exceeded', messageOf(binding, retryS), {
    retryAfterS: retryS,
    headers: {
      ...(space === 'inference' ? inferenceHeaders(reply) : adminHeaders(reply, binding)),
      ...(reason && { 'x-policy-reason-code': reason }),
      ...more,
    },
  });
};

/** A 402; the attempt has counted. */
export const creditsShort = (
  reply: AdmitReply,
  space: Space,
  hold: number,
  more: Headers = {},
): GatewayError => {
  const { available = 0, keyAvailable = null } = reply.credits ?? {};
  const ofKey = keyAvailable !== null && keyAvailable < hold && available >= hold;
  const left = Math.max(0, ofKey ? keyAvailable : available);
  return new GatewayError(
    'insufficient_credits',
    ofKey
      ? `The request may cost up to ${hold} credits; the credit budget of this API key has ${left} left.`
      : `The request may cost up to ${hold} credits; ${left} are available. Add credits to continue.`,
    { headers: { ...headersOf(reply, space), ...more } },
  );
};
