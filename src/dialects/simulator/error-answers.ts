import type { DialectName, Json } from '../dialect.js';

const MESSAGES_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

const OPENAI_KINDS: Readonly<Record<number, readonly [type: string, code: string]>> = {
  401: ['invalid_request_error', 'invalid_api_key'],
  404: ['invalid_request_error', 'not_found'],
  429: ['rate_limit_error', 'rate_limit_exceeded'],
};

/** An error as a provider of this format spells it. */
export const errorBody = (
  format: DialectName,
  fault: { readonly status: number; readonly message: string; readonly param: string | null },
  requestId: string,
): Json => {
  const { status, message, param } = fault;
  if (format === 'messages') {
    const type = MESSAGES_TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
    return { type: 'error', error: { type, message }, request_id: requestId };
  }
  const kind = OPENAI_KINDS[status];
  const type = kind?.[0] ?? (status < 500 ? 'invalid_request_error' : 'server_error');
  return { error: { message, type, param, code: kind?.[1] ?? null } };
};

const RETRY_AFTER_S = '1';

/** What a provider adds to the answers that are worth trying again. */
export const retryHeaders = (status: number): Readonly<Record<string, string>> =>
  status === 429 || status === 503 || status === 529 ? { 'retry-after': RETRY_AFTER_S } : {};
