import type { ProviderKind } from './provider.js';

/** Headers as either side gives them. */
export type Given = Readonly<Record<string, string | string[] | undefined>>;
type Headers = Record<string, string>;

/*
 * Never an idempotency key: all tenants share the operator's account, so one could be answered with another's reply.
 * Never openai-organization or openai-project: which account pays is the operator's choice.
 */
const FORWARDED: Readonly<Record<ProviderKind, readonly string[]>> = {
  simulator: [],
  anthropic: ['content-type', 'accept', 'anthropic-version', 'anthropic-beta'],
  openai_chat: ['content-type', 'accept', 'openai-beta'],
  openai_responses: ['content-type', 'accept', 'openai-beta'],
};

/** What belongs to the connection or to the framing of the body is nobody's to set. */
const UNSETTABLE = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

export interface Identity {
  readonly kind: ProviderKind;
  /** Empty = none is sent. */
  readonly apiKey: string;
  /** The operator's own; they win over everything but the framing. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Makes the headers a provider is sent: the few of the caller's that mean something to it, and its credentials. */
export const createRequestHeaders = ({ kind, apiKey, headers }: Identity): ((given: Given) => Headers) => {
  const own: Headers = { 'user-agent': 'sluice' };
  if (apiKey !== '')
    if (kind === 'anthropic') own['x-api-key'] = apiKey;
    else own['authorization'] = `Bearer ${apiKey}`;
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    if (UNSETTABLE.has(lower)) throw new Error(`The header ${lower} cannot be set for a provider.`);
    own[lower] = value;
  }
  own['accept-encoding'] = 'identity';
  const forwarded = FORWARDED[kind];
  // Where the caller's own do not say otherwise, as on a passthrough: what we write ourselves is JSON.
  const usual: Headers = {
    'content-type': 'application/json',
    ...(kind === 'anthropic' && { 'anthropic-version': '2023-06-01' }),
  };
  return (given) => {
    const sent: Headers = { ...usual };
    for (const name of forwarded) {
      const value = given[name];
      if (value !== undefined) sent[name] = typeof value === 'string' ? value : value.join(', ');
    }
    return Object.assign(sent, own);
  };
};

const REQUEST_ID_NAMES = ['request-id', 'x-request-id', 'apim-request-id'];
const PLAIN = /^[\x21-\x7e]{1,200}$/;

/**
 * What a client may see of a provider's headers: whom to name in a complaint to it. Its rate limits and organization
 * are the operator's, its cookies and connection headers are meant for us.
 */
export const answerHeaders = (given: Given): Headers => {
  for (const name of REQUEST_ID_NAMES) {
    const value = given[name];
    if (typeof value === 'string' && PLAIN.test(value)) return { 'x-upstream-request-id': value };
  }
  return {};
};

const DESCRIBING = [
  'content-type',
  'content-length',
  'content-encoding',
  'content-disposition',
  'content-language',
  'retry-after',
];
const PRINTABLE = /^[\t\x20-\x7e\x80-\xff]{1,1000}$/;

/** The same for a body that is passed on as it came: what describes it goes along. */
export const tunnelHeaders = (given: Given): Headers => {
  const shown = answerHeaders(given);
  for (const name of DESCRIBING) {
    const value = given[name];
    if (typeof value === 'string' && PRINTABLE.test(value)) shown[name] = value;
  }
  return shown;
};

const DAY_S = 86_400;

/** The provider's wish in whole seconds, at most a day; null when it has none that can be read. */
export const retryAfterS = (given: Given, nowMs: number): number | null => {
  const millis = given['retry-after-ms'];
  if (typeof millis === 'string' && /^\d{1,12}(\.\d+)?$/.test(millis))
    return Math.min(DAY_S, Math.ceil(Number(millis) / 1_000));
  const value = given['retry-after'];
  if (typeof value !== 'string') return null;
  if (/^\d{1,12}(\.\d+)?$/.test(value)) return Math.min(DAY_S, Math.ceil(Number(value)));
  if (!/[A-Za-z]/.test(value)) return null;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? null : Math.min(DAY_S, Math.max(0, Math.ceil((atMs - nowMs) / 1_000)));
};
