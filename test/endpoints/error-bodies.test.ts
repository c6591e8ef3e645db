import t from 'tap';
import { GatewayError, lacksPermission, missingKey } from '../../src/core/errors.js';
import { errorTable, type ErrorCode } from '../../src/core/error-table.js';
import { errorBody, errorReply, familyOf } from '../../src/endpoints/error-bodies.js';

const error = new GatewayError('invalid_request', 'model: is missing', { param: 'model' });
const limited = new GatewayError('rate_limit_exceeded', 'Too many requests.', { retryAfterS: 2.2 });

t.test('7.1 administration errors carry code, message, type, param, request_id and doc_url', async (t) => {
  t.strictSame(errorBody(error, 'administration', 'req_1'), {
    error: {
      code: 'invalid_request',
      message: 'model: is missing',
      type: 'validation_error',
      param: 'model',
      request_id: 'req_1',
      doc_url: '/docs/errors#invalid_request',
    },
  });
});

t.test('7.3 errors on /v1/messages are of type error with the type of their status', async (t) => {
  t.strictSame(errorBody(error, 'messages', 'req_1'), {
    type: 'error',
    error: { type: 'invalid_request_error', message: 'model: is missing', code: 'invalid_request' },
    request_id: 'req_1',
  });
  const types = new Map<ErrorCode, string>([
    ['missing_api_key', 'authentication_error'],
    ['free_request_used', 'authentication_error'],
    ['insufficient_credits', 'permission_error'],
    ['insufficient_permissions', 'permission_error'],
    ['model_not_found', 'not_found_error'],
    ['request_too_large', 'request_too_large'],
    ['rate_limit_exceeded', 'rate_limit_error'],
    ['provider_error', 'api_error'],
    ['provider_timeout', 'api_error'],
    ['internal_error', 'api_error'],
    ['provider_overloaded', 'overloaded_error'],
  ]);
  for (const [code, type] of types)
    t.match(errorBody(new GatewayError(code, 'x'), 'messages', 'r'), { error: { type } }, code);
});

t.test('7.3 errors on /v1/responses are flat, but a 429 is nested', async (t) => {
  t.strictSame(errorBody(error, 'responses', 'r'), { error: 'model: is missing', code: 'invalid_request' });
  t.strictSame(errorBody(limited, 'responses', 'r'), {
    error: {
      message: 'Too many requests.',
      type: 'rate_limit_error',
      param: null,
      code: 'rate_limit_exceeded',
    },
  });
});

t.test('7.3 OpenAI-style errors are nested, and every 429 has the code rate_limit_exceeded', async (t) => {
  t.strictSame(errorBody(error, 'openai', 'r'), {
    error: {
      message: 'model: is missing',
      type: 'invalid_request_error',
      param: 'model',
      code: 'invalid_request',
    },
  });
  const provider = new GatewayError('provider_rate_limited', 'sim limits.', { retryAfterS: 9 });
  t.match(errorBody(provider, 'openai', 'r'), { error: { code: 'rate_limit_exceeded' } });
  t.equal(errorReply(provider, 'openai', 'r').headers?.['x-error-code'], 'provider_rate_limited');
});

t.test('7.3 count_tokens answers a faulty body with detail[], everything else like messages', async (t) => {
  const detail = [{ type: 'missing', loc: ['body', 'model'], msg: 'Field required', input: {} }];
  t.strictSame(errorBody(new GatewayError('invalid_parameter', 'x', { detail }), 'count_tokens', 'r'), {
    detail,
  });
  t.match(errorBody(missingKey(), 'count_tokens', 'r'), {
    type: 'error',
    error: { type: 'authentication_error' },
  });
});

t.test('7.4 a 429 carries Retry-After in whole seconds, rounded up, at least 1', async (t) => {
  t.equal(errorReply(limited, 'openai', 'r').headers?.['retry-after'], '3');
  const now = new GatewayError('rate_limit_exceeded', 'x', { retryAfterS: 0 });
  t.equal(errorReply(now, 'openai', 'r').headers?.['retry-after'], '1');
});

t.test('7.4 x-should-retry is false where a repeat cannot help or the wait is long', async (t) => {
  const should = (thrown: GatewayError) => errorReply(thrown, 'messages', 'r').headers?.['x-should-retry'];
  t.equal(should(lacksPermission('gateway.read')), 'false');
  t.equal(should(new GatewayError('revision_conflict', 'x')), 'false');
  t.equal(should(new GatewayError('insufficient_credits', 'x')), 'false');
  t.equal(should(new GatewayError('rate_limit_exceeded', 'x', { retryAfterS: 61 })), 'false');
  t.equal(should(limited), undefined);
  t.equal(should(new GatewayError('provider_error', 'x')), undefined);
});

t.test('7.4 no client is told to sleep for longer than a minute, whatever the status', async (t) => {
  const families = ['administration', 'messages', 'count_tokens', 'responses', 'openai'] as const;
  const waits = ['rate_limit_exceeded', 'provider_rate_limited', 'provider_unavailable'] as const;
  for (const code of [...waits, 'provider_overloaded', 'store_unavailable'] as const)
    for (const family of families) {
      const headers = (retryAfterS: number) =>
        errorReply(new GatewayError(code, 'x', { retryAfterS }), family, 'r').headers;
      t.match(headers(3_600), { 'retry-after': '3600', 'x-should-retry': 'false' }, `${code} ${family}`);
      t.equal(headers(60)?.['x-should-retry'], undefined, `${code} ${family}`);
    }
});

t.test('7.4 what a repeat cannot cure says so, what it can does not', async (t) => {
  const cured = new Set([408, 429, 500, 502, 503, 504, 529]);
  const ended = new Set([401, 402, 403, 409]);
  for (const [code, { status }] of Object.entries(errorTable)) {
    const shown = errorReply(new GatewayError(code as ErrorCode, 'x'), 'messages', 'r').headers;
    t.equal(shown?.['x-should-retry'], ended.has(status) ? 'false' : undefined, code);
    // Every other status is one that no client repeats.
    t.ok(cured.has(status) || ended.has(status) || (status >= 400 && status < 432), code);
  }
});

t.test('5 a 401 names the scheme; a key that was sent is called invalid', async (t) => {
  t.equal(
    errorReply(missingKey(), 'administration', 'r').headers?.['www-authenticate'],
    'Bearer realm="sluice"',
  );
});

t.test('7 every code renders in every family, and the message is bounded', async (t) => {
  const families = ['administration', 'messages', 'count_tokens', 'responses', 'openai'] as const;
  for (const code of Object.keys(errorTable) as ErrorCode[])
    for (const family of families) {
      const reply = errorReply(new GatewayError(code, 'm'.repeat(5_000)), family, 'req_1');
      t.equal(reply.status, errorTable[code].status);
      t.ok(JSON.stringify(reply.body).length < 1_500, `${code} ${family}`);
    }
});

t.test('D16 an unknown path answers in the family it belongs to', async (t) => {
  t.equal(familyOf('/v1/messages/batches'), 'messages');
  t.equal(familyOf('/v1/messages/count_tokens'), 'count_tokens');
  t.equal(familyOf('/v1/responses/resp_1'), 'responses');
  t.equal(familyOf('/v1/embeddings'), 'openai');
  t.equal(familyOf('/v1/organization/nope'), 'administration');
  t.equal(familyOf('/v1/credits'), 'administration');
  t.equal(familyOf('/api/policy-gateway/x'), 'administration');
  t.equal(familyOf('/v1/messagesx'), 'openai');
  t.equal(familyOf('/'), 'administration');
});
