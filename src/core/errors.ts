import { errorTable, type ErrorCode, type ErrorType } from './error-table.js';

export interface ErrorDetails {
  /** The request field at fault, as a dotted path. */
  readonly param?: string;
  /** Seconds; sent as `Retry-After`. */
  readonly retryAfterS?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Overrides the table's status (a provider's own 4xx). */
  readonly status?: number;
  readonly cause?: unknown;
  /** Family-specific parts of the body, such as the `detail[]` of count_tokens. */
  readonly detail?: readonly unknown[];
}

const MESSAGE_BOUND = 1_000;

/** The one error that may reach a client. Anything else thrown becomes `internal_error`, its cause only logged. */
export class GatewayError extends Error {
  readonly code: ErrorCode;
  readonly type: ErrorType;
  readonly status: number;
  readonly param: string | null;
  readonly retryAfterS: number | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly detail: readonly unknown[] | null;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message.slice(0, MESSAGE_BOUND), details.cause === undefined ? {} : { cause: details.cause });
    this.name = 'GatewayError';
    this.code = code;
    this.type = errorTable[code].type;
    this.status = details.status ?? errorTable[code].status;
    this.param = details.param ?? null;
    this.retryAfterS = details.retryAfterS ?? null;
    this.headers = details.headers ?? {};
    this.detail = details.detail ?? null;
  }
}

export const asGatewayError = (thrown: unknown): GatewayError =>
  thrown instanceof GatewayError
    ? thrown
    : new GatewayError('internal_error', 'Something went wrong inside the gateway.', { cause: thrown });

const CHALLENGE = 'Bearer realm="sluice"';

export const missingKey = (): GatewayError =>
  new GatewayError('missing_api_key', 'No API key was sent. Use Authorization: Bearer <key>.', {
    headers: { 'www-authenticate': CHALLENGE },
  });

export const badKey = (
  code: 'invalid_api_key' | 'expired_api_key' | 'revoked_api_key' = 'invalid_api_key',
  message = {
    invalid_api_key: 'The API key is not valid.',
    expired_api_key: 'The API key has expired.',
    revoked_api_key: 'The API key was revoked.',
  }[code],
): GatewayError =>
  new GatewayError(code, message, { headers: { 'www-authenticate': `${CHALLENGE}, error="invalid_token"` } });

export const lacksPermission = (permission: string): GatewayError =>
  new GatewayError('insufficient_permissions', `This needs the permission ${permission}.`, {
    param: permission,
    headers: { 'x-should-retry': 'false' },
  });

export const notFound = (what = 'No such resource.'): GatewayError => new GatewayError('not_found', what);

export const tooLarge = (boundBytes: number): GatewayError =>
  new GatewayError('request_too_large', `The request body is larger than ${boundBytes} bytes.`);

export const invalidRequest = (param: string, message: string): GatewayError =>
  new GatewayError('invalid_request', `${param}: ${message}`, { param });

export const invalidParameter = (param: string, message: string): GatewayError =>
  new GatewayError('invalid_parameter', `${param}: ${message}`, { param });

/** The same for whoever asks for the balance (seed 7.4). */
export const balanceUnavailable = (cause: unknown): GatewayError =>
  new GatewayError('credit_balance_unavailable', 'The credit balance cannot be read. Try again shortly.', {
    retryAfterS: 1,
    cause,
  });

export const storeUnavailable = (cause: unknown): GatewayError =>
  new GatewayError('store_unavailable', 'The store does not answer. Try again shortly.', {
    retryAfterS: 1,
    cause,
  });
