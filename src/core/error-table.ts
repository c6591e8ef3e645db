/** The kinds of error of the administration body (seed 7.1). */
export type ErrorType =
  | 'auth_error'
  | 'permission_error'
  | 'validation_error'
  | 'rate_limit_error'
  | 'billing_error'
  | 'moderation_error'
  | 'policy_error'
  | 'media_error'
  | 'not_found_error'
  | 'conflict_error'
  | 'provider_error'
  | 'internal_error';

interface Entry {
  readonly type: ErrorType;
  readonly status: number;
  /** When it happens and what to do: the sentence shown in docs/errors.md. */
  readonly when: string;
}

const entry = (type: ErrorType, status: number, when: string): Entry => ({ type, status, when });

/** Every stable `code` the gateway can answer with. docs/errors.md is kept equal to it by a test. */
export const errorTable = {
  missing_api_key: entry('auth_error', 401, 'No credential was sent. Send `Authorization: Bearer <key>`.'),
  invalid_api_key: entry(
    'auth_error',
    401,
    'The credential is unknown, malformed or of the wrong kind for this route.',
  ),
  expired_api_key: entry('auth_error', 401, 'The credential has passed its expiry. Create a new one.'),
  revoked_api_key: entry('auth_error', 401, 'The credential was revoked. Create a new one.'),
  free_request_used: entry(
    'auth_error',
    401,
    'The one anonymous free request of this address is used up. Sign up to continue.',
  ),
  insufficient_permissions: entry(
    'permission_error',
    403,
    'The credential lacks the permission named in `param`.',
  ),
  browser_use_forbidden: entry(
    'permission_error',
    403,
    'Administrator keys are for servers; the request came from a browser.',
  ),
  model_not_allowed: entry('permission_error', 403, 'The key may not use this model.'),
  insufficient_credits: entry(
    'billing_error',
    402,
    'The credit balance does not cover the request. Add credits.',
  ),
  credit_balance_unavailable: entry(
    'internal_error',
    503,
    'The credit balance cannot be read for the moment. Wait `Retry-After` seconds.',
  ),
  invalid_json: entry('validation_error', 400, 'The body is not valid UTF-8 JSON, or nests too deep.'),
  invalid_content_type: entry('validation_error', 400, 'The body must be sent as `application/json`.'),
  unsupported_content_encoding: entry('validation_error', 415, 'Compressed request bodies are not accepted.'),
  invalid_request: entry(
    'validation_error',
    400,
    'A field of an inference request is missing or out of bounds; `param` names it.',
  ),
  invalid_parameter: entry(
    'validation_error',
    422,
    'A field or query parameter fails its type or bound; `param` names it.',
  ),
  invalid_cursor: entry(
    'validation_error',
    400,
    'The list cursor is empty, too long or not an id of the listed kind.',
  ),
  invalid_header: entry(
    'validation_error',
    400,
    'A header is malformed, repeated where it must not be, or has a value that is not allowed.',
  ),
  invalid_path: entry('validation_error', 400, 'The request target is not a plain, normalised path.'),
  request_too_large: entry('validation_error', 413, 'The body is larger than this route accepts.'),
  headers_too_large: entry('validation_error', 431, 'The request headers are too large or too many.'),
  request_timeout: entry('validation_error', 408, 'The request was not received in time.'),
  not_found: entry(
    'not_found_error',
    404,
    'No such route, or no such resource in the organization of the credential.',
  ),
  method_not_allowed: entry(
    'validation_error',
    405,
    'The path exists but not with this method; `Allow` lists the ones that do.',
  ),
  model_not_found: entry('not_found_error', 404, 'No configured model has this name.'),
  unsupported_by_upstream: entry(
    'validation_error',
    400,
    'The upstream that serves this model cannot do what the request asks for; `param` names it.',
  ),
  revision_conflict: entry(
    'conflict_error',
    409,
    'The resource changed since the given revision; read it again.',
  ),
  already_exists: entry('conflict_error', 409, 'A resource with this id exists already.'),
  last_admin_key: entry(
    'conflict_error',
    409,
    'The last key with every permission does not revoke itself. Make another first, or send `force=true`.',
  ),
  resource_limit_exceeded: entry(
    'conflict_error',
    409,
    'The organization holds as many resources of this kind as it may.',
  ),
  no_unpublished_changes: entry(
    'conflict_error',
    409,
    'The draft equals the published version, so there is nothing to publish.',
  ),
  policy_not_active: entry(
    'conflict_error',
    409,
    'Only a policy that is monitoring or enforcing can be paused.',
  ),
  policy_not_paused: entry('conflict_error', 409, 'Only a paused policy can be resumed.'),
  idempotency_key_in_flight: entry(
    'conflict_error',
    409,
    'A request with this `Idempotency-Key` is under way. Wait `Retry-After` seconds and send it again.',
  ),
  idempotency_key_reuse: entry(
    'conflict_error',
    409,
    'This `Idempotency-Key` was used for another method, path or body. Use a new one.',
  ),
  rate_limit_exceeded: entry(
    'rate_limit_error',
    429,
    'A request, token or concurrency limit is reached. Wait `Retry-After` seconds.',
  ),
  content_blocked: entry(
    'moderation_error',
    400,
    'Moderation refused the request: a category that is always blocked, or one that was asked for. Do not repeat it.',
  ),
  policy_blocked: entry(
    'policy_error',
    400,
    'A policy of the organization refused the request. Do not repeat it; `x-policy-reason-code` says which rule.',
  ),
  moderation_unavailable: entry(
    'moderation_error',
    503,
    'The moderation service does not answer, and nothing passes without it. Try again shortly.',
  ),
  project_mismatch: entry(
    'permission_error',
    403,
    'The key belongs to another project than the one `X-Policy-Project` names.',
  ),
  audit_unavailable: entry(
    'internal_error',
    503,
    'The audit trail has no room, and this organization is not served without it. Try again later.',
  ),
  upgrade_refused: entry(
    'validation_error',
    426,
    'WebSocket is not served here. Send the same request over HTTP; streams are server-sent events.',
  ),
  provider_rejected: entry(
    'provider_error',
    400,
    'The provider refused the request; its message is passed on, its status kept.',
  ),
  provider_rate_limited: entry(
    'rate_limit_error',
    429,
    'The provider limits us and no fallback is left. Wait `Retry-After` seconds.',
  ),
  provider_overloaded: entry('provider_error', 529, 'The provider is overloaded and no fallback is left.'),
  provider_unavailable: entry(
    'provider_error',
    503,
    'The provider is failing; the circuit to it is open for a moment.',
  ),
  provider_error: entry(
    'provider_error',
    502,
    'The provider failed, refused our credential or answered with something unreadable.',
  ),
  provider_timeout: entry('provider_error', 504, 'The provider did not answer in time.'),
  store_unavailable: entry('internal_error', 503, 'The store behind the gateway does not answer. Try again.'),
  shutting_down: entry(
    'internal_error',
    503,
    'The gateway is draining before it stops. Try again elsewhere.',
  ),
  internal_error: entry(
    'internal_error',
    500,
    'Something unexpected went wrong; the log holds its cause under the request id.',
  ),
} as const satisfies Record<string, Entry>;

export type ErrorCode = keyof typeof errorTable;
