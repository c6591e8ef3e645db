import { GatewayError } from '../core/errors.js';
import { UpstreamFault, type Provider } from '../io/upstream/provider.js';
import { CircuitOpen, UpstreamRejection } from '../io/upstream/send.js';

const DEFAULT_WAIT_S = 5;

/** What the client is told of a provider's refusal. Our own trouble with the provider (401, 402, 403) is not the client's. */
const fromRejection = (provider: string, rejection: UpstreamRejection): GatewayError => {
  const { status, body } = rejection;
  const retryAfterS = rejection.retryAfterS ?? DEFAULT_WAIT_S;
  if (status === 429)
    return new GatewayError('provider_rate_limited', `${provider} limits the rate of requests.`, {
      retryAfterS,
    });
  if (status === 529)
    return new GatewayError('provider_overloaded', `${provider} is overloaded.`, { retryAfterS });
  if (status === 503)
    return new GatewayError('provider_unavailable', `${provider} is unavailable.`, { retryAfterS });
  if (status === 408 || status === 504)
    return new GatewayError('provider_timeout', `${provider} did not answer in time.`);
  if (status >= 500 || status < 400 || [401, 402, 403, 407].includes(status))
    return new GatewayError('provider_error', `${provider} failed with status ${status}.`);
  return new GatewayError(
    'provider_rejected',
    messageIn(body) ?? `${provider} refused the request with status ${status}.`,
    { status },
  );
};

const fromFault = (provider: string, fault: UpstreamFault): GatewayError =>
  fault.kind === 'timeout'
    ? new GatewayError('provider_timeout', `${provider} did not answer in time.`, { cause: fault })
    : new GatewayError('provider_error', `${provider} could not be reached or broke off.`, { cause: fault });

/** A failure of the upstream as the client is to see it; anything else as it is. */
export const asProviderError = (provider: string, thrown: unknown): unknown => {
  if (thrown instanceof UpstreamRejection) return fromRejection(provider, thrown);
  if (thrown instanceof UpstreamFault) return fromFault(provider, thrown);
  if (thrown instanceof CircuitOpen)
    return new GatewayError(
      'provider_unavailable',
      `${provider} is failing; the gateway asks it again shortly.`,
      {
        retryAfterS: thrown.retryAfterS,
      },
    );
  return thrown;
};

/** An error in the provider's own words, without the operator's secrets should it quote them. */
export const concealIn = (thrown: unknown, { conceal }: Pick<Provider, 'conceal'>): unknown => {
  if (!(thrown instanceof GatewayError) || !conceal) return thrown;
  const { code, message, status, retryAfterS } = thrown;
  return new GatewayError(code, conceal(message), { status, ...(retryAfterS !== null && { retryAfterS }) });
};

const messageIn = (body: string): string | null => {
  try {
    const parsed = JSON.parse(body) as { error?: { message?: unknown } | string; message?: unknown };
    const error = parsed.error;
    const message = typeof error === 'object' ? error.message : (error ?? parsed.message);
    return typeof message === 'string' && message !== '' ? message : null;
  } catch {
    return null;
  }
};
