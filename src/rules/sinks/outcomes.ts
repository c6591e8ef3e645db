import type { Outcome } from '../../core/sink.js';
import type { OutboundReply } from '../../io/outbound/client.js';
import type { OutboundFault } from '../../io/outbound/fault.js';

export type Held = Extract<Outcome, { kind: 'held' }>;
export type Retry = Extract<Outcome, { kind: 'retry' }>;

export const accepted: Outcome = { kind: 'accepted' };
export const held = (reason: string): Held => ({ kind: 'held', reason });
export const split = (reason: string): Outcome => ({ kind: 'split', reason });
export const poison = (reason: string): Outcome => ({ kind: 'poison', reason });
export const retry = (reason: string, retryAfterMs: number | null = null): Retry => ({
  kind: 'retry',
  reason,
  ...(retryAfterMs !== null && { retryAfterMs }),
});

/** What a fault on the way means: a destination that must not be reached waits for a correction, the rest for time. */
export const outcomeOfFault = (fault: OutboundFault): Held | Retry =>
  fault.kind === 'forbidden'
    ? held(`The destination ${fault.message}`)
    : fault.kind === 'certificate'
      ? held(fault.message)
      : retry(fault.message);

const LONGEST_RETRY_AFTER_MS = 3_600_000;

/** `Retry-After` in milliseconds: seconds or a date; null = none that can be read. */
export const readRetryAfter = ({ headers }: OutboundReply, nowMs: number): number | null => {
  const text = headers.get('retry-after')?.trim();
  if (text === undefined || text === '') return null;
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - nowMs;
  return Number.isNaN(ms) ? null : Math.min(Math.max(0, ms), LONGEST_RETRY_AFTER_MS);
};

/** What a status means where the destination has no rule of its own. `hint` tells more in our own words. */
export const outcomeOfStatus = (reply: OutboundReply, nowMs: number, hint = ''): Outcome => {
  const { status } = reply;
  const said = (text: string): string => `${text} (HTTP ${status}${hint === '' ? '' : `, ${hint}`}).`;
  if (status === 408 || status === 409 || status === 425 || status === 429 || status >= 500)
    return retry(
      said(status === 429 ? 'The destination asks for patience' : 'The destination is failing'),
      readRetryAfter(reply, nowMs),
    );
  if (status === 413) return split(said('The destination finds the batch too large'));
  if (status === 400 || status === 422) return poison(said('The destination refuses an event'));
  if (status === 401 || status === 403) return held(said('The destination refuses the credentials'));
  if (status === 404) return held(said('The destination knows nothing at this address'));
  if (status >= 300 && status < 400) return held(said('The destination redirects, which is not followed'));
  return held(said('The destination gave an unexpected answer'));
};

/** A reply's JSON; undefined = it is none, or was cut off. */
export const readJson = ({ body }: OutboundReply): unknown => {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
};

/** A member of what a destination said, or undefined where it is no object. */
export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
