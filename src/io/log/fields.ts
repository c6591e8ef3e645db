/** Every field a log line may carry. A name that is not here is not written: what nobody listed cannot leak. */
const allowed: ReadonlySet<string> = new Set([
  // the request
  'request_id',
  'client_request_id',
  'operation',
  'method',
  'path',
  'status',
  'code',
  'error_code',
  'delivery',
  'duration_ms',
  'overhead_ms',
  'upstream_wait_ms',
  'first_token_ms',
  'client_address',
  // who
  'organization_id',
  'project_id',
  'key_id',
  'principal',
  // what it took
  'model',
  'provider',
  'input_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'credits',
  'attempt',
  'attempts',
  'outcome',
  'circuit',
  // the process
  'host',
  'port',
  'url',
  'store',
  'signal',
  'file',
  'line',
  'column',
  'faults',
  'generation',
  'version',
  'node',
  'grace_ms',
  'delay_ms',
  'wait_ms',
  'age_ms',
  'open_requests',
  'cut',
  'partition',
  'count',
  'dropped_lines',
  'what',
  'state',
  'reason',
  'mode',
  'policy',
  'waiting',
  'waiting_bytes',
  'limit_bytes',
  'refusals',
  'row',
  'kind',
  'name',
  'id',
]);

export const isListed = (name: string): boolean => name === 'err' || name === 'error' || allowed.has(name);

const TEXT_BOUND = 256;
const LIST_BOUND = 20;
const STACK_BOUND = 4_000;
const CAUSE_DEPTH = 4;

// C0, DEL and C1 steer terminals; U+2028/2029 break lines; the rest reorders or hides what a reader sees.
const unprintable = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const unprintableButNewline =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

const escape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

const bounded = (text: string, bound: number): string =>
  text.length > bound ? `${text.slice(0, bound)}...` : text;

/** A text that cannot forge a line or steer a terminal. */
export const printable = (text: string, bound = TEXT_BOUND): string =>
  bounded(text, bound).replace(unprintable, escape);

const printableStack = (stack: string): string =>
  bounded(stack, STACK_BOUND).replace(unprintableButNewline, escape);

/** The fields that may be written: listed, plain and bounded. Names of dropped ones are kept so that it shows. */
export function keepAllowed(fields: object): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  let dropped: string[] | undefined;
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    if (name === 'err' || name === 'error') kept['err'] = describeError(value);
    else if (allowed.has(name)) kept[name] = plain(value);
    else if ((dropped?.length ?? 0) < LIST_BOUND && /^[A-Za-z_]{1,40}$/.test(name))
      (dropped ??= []).push(name);
  }
  if (dropped !== undefined) kept['dropped_fields'] = dropped;
  return kept;
}

function plain(value: unknown): unknown {
  switch (typeof value) {
    case 'string':
      return printable(value);
    case 'number':
    case 'boolean':
      return value;
    case 'bigint':
      return value.toString();
    default:
      if (value === null) return null;
      return Array.isArray(value)
        ? value.slice(0, LIST_BOUND).map((item) => (typeof item === 'object' ? '[object]' : plain(item)))
        : '[object]';
  }
}

interface DescribedError {
  readonly type: string;
  readonly message: string;
  readonly code?: string | number;
  readonly stack?: string;
  readonly cause?: DescribedError;
}

/** Type, message, code, stack and cause; never another property, since libraries hang requests and answers on theirs. */
function describeError(thrown: unknown, depth = 0): DescribedError {
  if (!(thrown instanceof Error))
    return {
      type: typeof thrown,
      message: typeof thrown === 'string' ? printable(thrown) : '[not an error]',
    };
  const code: unknown = 'code' in thrown ? thrown.code : undefined;
  return {
    type: printable(thrown.name),
    message: printable(thrown.message, 1_000),
    ...(typeof code === 'string' && { code: printable(code) }),
    ...(typeof code === 'number' && { code }),
    ...(thrown.stack !== undefined && { stack: printableStack(thrown.stack) }),
    ...(thrown.cause !== undefined &&
      depth < CAUSE_DEPTH && { cause: describeError(thrown.cause, depth + 1) }),
  };
}
