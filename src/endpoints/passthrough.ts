import type { Call, TunnelReply } from '../core/exchange.js';
import type { Tunnel } from '../io/upstream/tunnel.js';
import { asProviderError } from './provider-errors.js';

const BYTES_PER_TOKEN = 3;

/** The door of a path that is handed through unread (D43): authenticated, limited and metered by an estimate. */
export const createPassthrough =
  (provider: string, tunnel: Tunnel, ticksMs: () => number) =>
  async (call: Call): Promise<TunnelReply> => ({
    kind: 'tunnel',
    open: async (req, res, headers) => {
      const { meter } = call;
      const startedMs = ticksMs();
      meter.provider = provider;
      meter.upstreamReached = true;
      try {
        const { requestBytes, responseBytes } = await tunnel(req, res, headers);
        meter.usage = {
          ...meter.usage,
          input: Math.ceil(requestBytes / BYTES_PER_TOKEN),
          output: Math.ceil(responseBytes / BYTES_PER_TOKEN),
        };
      } catch (thrown) {
        throw asProviderError(provider, thrown);
      } finally {
        meter.upstreamWaitMs = ticksMs() - startedMs;
      }
    },
  });
