import { GatewayError } from '../core/errors.js';
import type { Call, Demand, TunnelReply } from '../core/exchange.js';
import type { Price, Usage } from '../core/usage.js';
import { CLIENT_LEFT, type Moved, type Tunnel } from '../io/upstream/tunnel.js';
import { settleBill } from './bill.js';
import { asProviderError } from './provider-errors.js';

const BYTES_PER_TOKEN = 3;

export interface PassthroughParts {
  readonly ticksMs: () => number;
  readonly usdPerCredit: number;
}

/** What a request may take, as far as its size is told beforehand. */
export const passthroughDemand =
  (price: Price) =>
  (_body: unknown, bytes: number): Demand => ({
    model: null,
    inputTokens: Math.ceil(bytes / BYTES_PER_TOKEN),
    outputTokens: 0,
    price,
  });

/** What the provider refused or failed at costs nothing, as everywhere else. */
const estimate = ({ status, requestBytes, responseBytes }: Moved): Pick<Usage, 'input' | 'output'> =>
  status >= 400 && status !== CLIENT_LEFT
    ? { input: 0, output: 0 }
    : {
        input: Math.ceil(requestBytes / BYTES_PER_TOKEN),
        output: Math.ceil(responseBytes / BYTES_PER_TOKEN),
      };

/** The door of a path that is handed through unread (D43): authenticated, limited and metered by an estimate. */
export const createPassthrough =
  (provider: string, price: Price, tunnel: Tunnel, { ticksMs, usdPerCredit }: PassthroughParts) =>
  async (call: Call): Promise<TunnelReply> => {
    // Nobody reads here which model is asked for, so a key that may not use every one may not come this way.
    if (call.principal.models !== null)
      throw new GatewayError('model_not_allowed', 'A key for certain models only cannot use this path.');
    return {
      kind: 'tunnel',
      open: async (req, res, headers) => {
        const { meter, lease } = call;
        const note = (moved: Moved): void => {
          meter.usage = { ...meter.usage, ...estimate(moved) };
        };
        const startedMs = ticksMs();
        meter.provider = provider;
        meter.price = price;
        meter.upstreamReached = true;
        try {
          const moved = await tunnel(req, res, headers, (all) => {
            note(all);
            return settleBill(meter, lease, usdPerCredit).catch(() => undefined);
          });
          note(moved);
        } catch (thrown) {
          throw asProviderError(provider, thrown);
        } finally {
          meter.upstreamWaitMs = ticksMs() - startedMs;
        }
      },
    };
  };
