import { errorTable, type ErrorCode } from '../core/error-table.js';
import { GatewayError } from '../core/errors.js';
import type { FinishReason, InferenceEvent } from '../core/events.js';
import type { CreditFields, Json } from './dialect.js';

/** Writes neutral events as the frames of one wire format. One encoder serves one answer. */
export interface Encoder {
  /** The frames this event makes, '' when it makes none yet. The fields go where the format's last event can carry them. */
  push(event: InferenceEvent, fields?: CreditFields): string;
}

export interface EncodeOptions {
  readonly nowMs?: () => number;
  readonly newId?: (prefix: string) => string;
  /** The error as the body of the client's family; absent = as the format's vendor writes it. */
  readonly errorBody?: (error: GatewayError) => Json;
}

const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(errorTable, code);

/** Failures that pass, of which a client is told how long to wait; an answer cannot say it as a header does. */
const PASSING: readonly string[] = ['provider_rate_limited', 'provider_overloaded', 'provider_unavailable'];
const WAIT_S = 5;

/** What an error event says, as the one error that may reach a client. */
export const errorOf = ({ code, message }: InferenceEvent & { type: 'error' }): GatewayError =>
  new GatewayError(isErrorCode(code) ? code : 'provider_error', message, {
    ...(PASSING.includes(code) && { retryAfterS: WAIT_S }),
  });

/** Clients run tools only when told so, and wait for calls that never came: the reason follows what was sent. */
export const settleReason = (reason: FinishReason, calledTools: boolean): FinishReason => {
  if (calledTools) return reason === 'stop' ? 'tool_calls' : reason;
  return reason === 'tool_calls' ? 'stop' : reason;
};

/** Gives each call of one answer an id of its own, the upstream's where it can be kept. */
export const nameCalls = (
  mint: () => string,
  makeSafe: (id: string) => string = (id) => id,
): ((given: string | undefined) => string) => {
  const used = new Set<string>();
  return (given) => {
    const safe = makeSafe(given ?? '');
    const id = safe === '' || used.has(safe) ? mint() : safe;
    used.add(id);
    return id;
  };
};

/** An id of the format's own kind: the upstream's where it already looks like one. */
export const keepId = (given: string, prefix: string, mint: () => string): string =>
  given.startsWith(prefix) ? given : mint();
