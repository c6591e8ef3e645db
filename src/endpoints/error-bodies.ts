import type { GatewayError } from '../core/errors.js';
import type { ErrorType } from '../core/error-table.js';
import type { Family, JsonReply } from '../core/exchange.js';

type Body = Readonly<Record<string, unknown>>;
type Renderer = (error: GatewayError, requestId: string) => Body;

const administration: Renderer = (error, requestId) => ({
  error: {
    code: error.code,
    message: error.message,
    type: error.type,
    param: error.param,
    request_id: requestId,
    doc_url: `/docs/errors#${error.code}`,
  },
});

const messagesTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'permission_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

const messages: Renderer = (error, requestId) => ({
  type: 'error',
  error: {
    type: messagesTypes[error.status] ?? (error.status >= 500 ? 'api_error' : 'invalid_request_error'),
    message: error.message,
    code: error.code,
  },
  request_id: requestId,
});

const openaiTypes: Readonly<Record<ErrorType, string>> = {
  auth_error: 'authentication_error',
  permission_error: 'permission_error',
  validation_error: 'invalid_request_error',
  rate_limit_error: 'rate_limit_error',
  billing_error: 'billing_error',
  moderation_error: 'moderation_error',
  policy_error: 'policy_error',
  media_error: 'invalid_request_error',
  not_found_error: 'not_found_error',
  conflict_error: 'conflict_error',
  provider_error: 'provider_error',
  internal_error: 'internal_error',
};

// Seed 7.3 fixes the whole body of a 429 here; the finer code stands in `x-error-code`.
const openai: Renderer = (error) => ({
  error:
    error.status === 429
      ? { message: error.message, type: 'rate_limit_error', param: null, code: 'rate_limit_exceeded' }
      : { message: error.message, type: openaiTypes[error.type], param: error.param, code: error.code },
});

const renderers: Readonly<Record<Family, Renderer>> = {
  administration,
  messages,
  count_tokens: (error, requestId) => (error.detail ? { detail: error.detail } : messages(error, requestId)),
  // Seed 7.3: flat, except the 429 of the OpenAI-style endpoints.
  responses: (error, requestId) =>
    error.status === 429 ? openai(error, requestId) : { error: error.message, code: error.code },
  openai,
};

export const errorBody = (error: GatewayError, family: Family, requestId: string): Body =>
  renderers[family](error, requestId);

/** One widespread client sleeps for as long as it is told, another goes on at once beyond this. */
const LONGEST_SLEEP_S = 60;

/** Clients that honour it stop here: a repeat cannot help, or would have to wait for longer than they should sleep. */
const isPointlessToRetry = (error: GatewayError): boolean =>
  [401, 402, 403, 409].includes(error.status) || (error.retryAfterS ?? 0) > LONGEST_SLEEP_S;

export const errorReply = (error: GatewayError, family: Family, requestId: string): JsonReply => ({
  kind: 'json',
  status: error.status,
  headers: {
    'x-error-code': error.code,
    ...(error.retryAfterS !== null && { 'retry-after': String(Math.max(1, Math.ceil(error.retryAfterS))) }),
    ...(isPointlessToRetry(error) && { 'x-should-retry': 'false' }),
    ...error.headers,
  },
  body: errorBody(error, family, requestId),
});

const familiesByPrefix: readonly (readonly [string, Family])[] = [
  ['/v1/messages/count_tokens', 'count_tokens'],
  ['/v1/messages', 'messages'],
  ['/v1/responses', 'responses'],
  ['/v1/organization', 'administration'],
  ['/v1/credits', 'administration'],
  ['/v1/limits', 'administration'],
  ['/v1/requests', 'administration'],
  ['/v1', 'openai'],
];

/** The family an unknown path belongs to, so that a client reads its own kind of error. */
export const familyOf = (path: string): Family =>
  familiesByPrefix.find(([prefix]) => path === prefix || path.startsWith(`${prefix}/`))?.[1] ??
  'administration';
