import type { ErrorCode } from '../core/error-table.js';
import { GatewayError } from '../core/errors.js';
import type { Usage } from '../core/usage.js';
import type { Frame } from '../io/sse/frame.js';
import type { Json } from './dialect.js';
import { isFiller, isObject, readEvent } from './event.js';
import type { Standing } from './relay-stage.js';

/** Reads an answer of one wire format and tells it in neutral events. One decoder serves one answer. Never throws. */
export interface Decoder {
  readonly usage: Usage;
  /** All that is missing is a formal end. */
  readonly closable: boolean;
  /** Reads an event of a stream. What the ending says is kept for `finish`; `failed` = an error event was told. */
  take(frame: Frame): Standing;
  /** Reads a whole answer. */
  takeWhole(body: Json): Standing;
  /** Tells the usage and the ending. */
  finish(): void;
}

/** An event with its kind, which its data names better than its name does; null = it says nothing. */
export const typedEvent = (frame: Frame): { readonly type: string; readonly event: Json } | null => {
  if (frame.data === null || frame.event === 'ping' || isFiller(frame)) return null;
  const event = readEvent(frame);
  return { type: typeof event.type === 'string' ? event.type : (frame.event ?? ''), event };
};

/** Error words of the vendors, by what they mean to a client. */
const MEANINGS: readonly (readonly [words: RegExp, code: ErrorCode])[] = [
  [/rate_?limit|too_many_requests|429/i, 'provider_rate_limited'],
  [/overloaded|529/i, 'provider_overloaded'],
  [/unavailable|503/i, 'provider_unavailable'],
  [/timeout|timed_out|408|504/i, 'provider_timeout'],
  [/invalid_(request|prompt|image)|context_length|too_large|413|\b400|BadRequest/i, 'provider_rejected'],
];

/** An error that the upstream wrote into its answer. */
export const upstreamError = (error: unknown): GatewayError => {
  const fields: Json = isObject(error) ? error : { message: error };
  const words = [fields.type, fields.code]
    .filter((word) => typeof word === 'string' || typeof word === 'number')
    .join(' ');
  const code = MEANINGS.find(([pattern]) => pattern.test(words))?.[1] ?? 'provider_error';
  const { message } = fields;
  return new GatewayError(
    code,
    typeof message === 'string' && message !== '' ? message : 'The provider failed in its answer.',
  );
};

/** Arguments as text: some upstreams write the object itself. */
export const argumentsText = (value: unknown): string => {
  if (typeof value === 'string') return value;
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : '';
};

export const textIn = (json: Json, key: string): string => {
  const value = json[key];
  return typeof value === 'string' ? value : '';
};
