import { createAddress } from './address.js';
import { createConcealer } from './conceal.js';
import { dispatch, type Timeouts } from './dispatch.js';
import { createRequestHeaders } from './headers.js';
import { Pool } from './pool.js';
import type { Provider, ProviderKind } from './provider.js';

export interface HttpProviderOptions {
  readonly name: string;
  readonly kind: Exclude<ProviderKind, 'simulator'>;
  /** A path in it is kept. */
  readonly baseUrl: string;
  /** Empty = none is sent. */
  readonly apiKey: string;
  readonly timeouts: Timeouts;
  /** Tries in all, the first included. */
  readonly attempts: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** Empty = none. */
  readonly proxyUrl: string;
  /** Empty = none. */
  readonly caPem: string;
  readonly maxConnections?: number;
}

/** A provider behind HTTP. `close` takes no new calls, lets the answers under way finish, and leaves no socket. */
export const createHttpProvider = (options: HttpProviderOptions): Provider => {
  const { name, kind, attempts, timeouts } = options;
  const { origin, target } = createAddress(options.baseUrl, options.query);
  const headersFor = createRequestHeaders(options);
  const pool = new Pool({
    origin,
    connectMs: timeouts.connectMs,
    maxConnections: options.maxConnections ?? Infinity,
    proxyUrl: options.proxyUrl,
    caPem: options.caPem,
  });
  return {
    name,
    kind,
    attempts,
    send: ({ path, headers, body, signal }) =>
      dispatch(
        pool,
        { path: target(path), method: 'POST', headers: headersFor(headers), body },
        timeouts,
        signal,
      ),
    conceal: createConcealer(options),
    close: () => pool.close(),
  };
};
