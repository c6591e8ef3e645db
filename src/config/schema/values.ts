import { isIP } from 'node:net';
import * as v from 'valibot';
import { formatDuration, parseDuration } from '../../core/duration.js';

/** A key with a default; the description reaches editors through the JSON Schema. */
export const setting = <
  const Schema extends v.GenericSchema,
  const Fallback extends v.Default<Schema, undefined>,
>(
  about: string,
  schema: Schema,
  fallback: Fallback,
) => v.pipe(v.optional(schema, fallback), v.description(about));

/** A key that must be given. */
export const required = <const Schema extends v.GenericSchema>(about: string, schema: Schema) =>
  v.pipe(schema, v.description(about));

const SHAPE = /^\d+(?:\.\d+)?(?:ms|s|m|h|d)$/;
const LONGEST_TIMER_MS = 2_147_483_647; // what setTimeout can hold; beyond it fires at once

/** `250ms`, `5s`, `15m`, `24h`, `30d`; a number of milliseconds once read. */
export const duration = (minMs = 0, maxMs = LONGEST_TIMER_MS) =>
  v.pipe(
    v.string(),
    v.regex(SHAPE, 'must be a duration such as 250ms, 5s, 15m, 24h or 30d'),
    v.transform((text) => parseDuration(text) ?? 0),
    v.check(
      (ms) => ms >= minMs && ms <= maxMs,
      `must lie between ${formatDuration(minMs)} and ${formatDuration(maxMs)}`,
    ),
  );

export const integer = (min: number, max = Number.MAX_SAFE_INTEGER) =>
  v.pipe(
    v.number(),
    v.integer('must be a whole number'),
    v.minValue(min, `must be at least ${min}`),
    v.maxValue(max, `must be at most ${max}`),
  );

export const amount = (min = 0, max = Number.MAX_SAFE_INTEGER) =>
  v.pipe(v.number(), v.minValue(min, `must be at least ${min}`), v.maxValue(max, `must be at most ${max}`));

export const port = integer(0, 65_535);

export const word = (max = 200) =>
  v.pipe(
    v.string(),
    v.minLength(1, 'must not be empty'),
    v.maxLength(max, `must have at most ${max} characters`),
  );

/** A name of our own: of a provider, an organization, a project, a policy. */
export const name = v.pipe(
  v.string(),
  v.regex(
    /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/,
    'must be 1 to 128 letters, digits, "_", "-" or ".", the first a letter or digit',
  ),
);

export const idOf = (prefix: string) =>
  v.pipe(
    v.string(),
    v.regex(
      new RegExp(`^${prefix}_[A-Za-z0-9_-]{1,190}$`),
      `must begin with ${prefix}_, then letters, digits, "_" or "-"`,
    ),
  );

const MODEL = /^[^\s*]{1,200}$/;
const MODEL_OR_PREFIX = /^(?:[^\s*]{1,200}\*?|\*)$/;

export const modelName = v.pipe(
  v.string(),
  v.regex(MODEL, 'must be a model name: no spaces and no "*", at most 200 characters'),
);

export const modelPattern = v.pipe(
  v.string(),
  v.regex(MODEL_OR_PREFIX, 'must be a model name, or the beginning of one followed by a single "*"'),
);

const parseUrl = (text: string): URL | null => (URL.canParse(text) ? new URL(text) : null);

/** An http or https address with nothing secret in it. */
export const address = v.pipe(
  v.string(),
  v.check(
    (text) => /^https?:$/.test(parseUrl(text)?.protocol ?? ''),
    'must be an http:// or https:// address',
  ),
  v.check((text) => {
    const url = parseUrl(text);
    return url === null || (url.username === '' && url.password === '');
  }, 'must carry no user name or password; use api_key or headers'),
  v.check((text) => !/[?#]/.test(text), 'must have no query or fragment'),
);

export const optionalAddress = v.union(
  [v.literal(''), address],
  'must be an http:// or https:// address, or empty',
);

/** An outbound proxy may carry its own credentials. */
export const proxyAddress = v.pipe(
  v.string(),
  v.check(
    (text) => text === '' || /^https?:$/.test(parseUrl(text)?.protocol ?? ''),
    'must be an http:// or https:// address, or empty',
  ),
);

export const urlPath = v.pipe(
  v.string(),
  v.regex(/^\/[A-Za-z0-9._~/-]{0,199}$/, 'must be a path such as /v1/embeddings'),
  v.check((path) => !/\/\/|\/\.\.?(?:\/|$)/.test(path), 'must not contain "//", "/." or "/.."'),
);

/** An address or a network such as 10.0.0.0/8. */
export const network = v.pipe(
  v.string(),
  v.check((text) => {
    const [ip = '', bits, ...rest] = text.split('/');
    const family = isIP(ip);
    if (family === 0 || rest.length > 0) return false;
    return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
  }, 'must be an IP address or a network such as 10.0.0.0/8'),
);

export const headerMap = v.record(
  v.pipe(v.string(), v.regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, 'is not a valid header name')),
  v.pipe(v.string(), v.regex(/^[\t\u0020-\u007e]*$/, 'must be printable ASCII on one line')),
);
