import type { IncomingHttpHeaders } from 'node:http';
import type { Forwarded, ForwardOptions, InferenceRequest, Json } from '../dialect.js';

/** The last version of the format that knows temperature, top_p and top_k; later ones answer 400 to them. */
const SAMPLING_VERSION = '2023-06-01';
const CONTEXT_MANAGEMENT_BETA = 'context-management-2025-06-27';

const headerText = (headers: IncomingHttpHeaders, name: string): string => {
  const value = headers[name] ?? '';
  return (typeof value === 'string' ? value : value.join(',')).trim();
};

const samples = (body: Json): boolean =>
  [body.temperature, body.top_p, body.top_k].some((value) => value !== undefined && value !== null);

/** The client's betas, less the one whose only use was consumed here. */
const betas = (body: Json, headers: IncomingHttpHeaders): string =>
  headerText(headers, 'anthropic-beta')
    .split(',')
    .map((token) => token.trim())
    .filter((token) => token !== '')
    .filter((token) => token !== CONTEXT_MANAGEMENT_BETA || 'context_management' in body)
    .join(',');

/** The version and the betas a body is to be read by. */
export const messagesVersion = (
  body: Json,
  clientHeaders: IncomingHttpHeaders,
): Readonly<Record<string, string>> => {
  const version = samples(body) ? '' : headerText(clientHeaders, 'anthropic-version');
  const beta = betas(body, clientHeaders);
  return {
    'anthropic-version': version === '' ? SAMPLING_VERSION : version,
    ...(beta !== '' && { 'anthropic-beta': beta }),
  };
};

export const forwardMessages = (request: InferenceRequest, options: ForwardOptions): Forwarded => {
  const { body } = request;
  return {
    body: JSON.stringify({
      ...body,
      model: options.upstreamModel,
      max_tokens: Math.min(
        request.maxOutputTokens ?? options.defaultMaxTokens,
        options.mostTokens ?? Infinity,
      ),
      ...(typeof body.temperature === 'number' && { temperature: Math.min(body.temperature, 1) }),
    }),
    headers: messagesVersion(body, options.clientHeaders),
  };
};
