import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createProxyServer } from 'http-proxy-3';
import { tooLarge } from '../../core/errors.js';
import type { Delivery } from '../../core/exchange.js';
import { createAddress } from './address.js';
import { createConcealer } from './conceal.js';
import type { Timeouts } from './dispatch.js';
import { asFault, timedOut, unreadable } from './faults.js';
import { createRequestHeaders, tunnelHeaders, type Identity } from './headers.js';
import { readRejection, type UpstreamRejection } from './rejection.js';
import { createTunnelAgent } from './tunnel-agent.js';
import { TunnelRequest, type TunnelEvents } from './tunnel-request.js';

export interface TunnelOptions extends Identity {
  readonly baseUrl: string;
  /** Below the base address. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly timeouts: Timeouts;
  readonly proxyUrl: string;
  readonly caPem: string;
  /** Largest request body. */
  readonly bodyBytes: number;
}

/** What went through, for the meter. A client that left before the answer began has the status 499. */
export interface Tunnelled {
  readonly status: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly delivery: Delivery;
}

/**
 * Passes a request on unread and resolves when the exchange is over. Rejects only while nothing was answered yet:
 * with UpstreamFault, UpstreamRejection (redirects and refused credentials, which concern us and not the client), or
 * the 413 of a body that outgrew its bound.
 */
export type Tunnel = (
  req: IncomingMessage,
  res: ServerResponse,
  headers: Readonly<Record<string, string>>,
  /** The last bytes of a whole answer wait for this; it never rejects. */
  ending?: (moved: Moved) => Promise<unknown>,
) => Promise<Tunnelled>;

export type Moved = Pick<Tunnelled, 'status' | 'requestBytes' | 'responseBytes'>;

export const openTunnel = (options: TunnelOptions): Tunnel => {
  const { origin, target } = createAddress(options.baseUrl, options.query);
  const headersFor = createRequestHeaders(options);
  const conceal = createConcealer(options);
  const proxy = createProxyServer<typeof TunnelRequest>({
    target: origin,
    agent: createTunnelAgent({ ...options, origin, connectMs: options.timeouts.connectMs }),
    changeOrigin: true,
    prependPath: false,
    selfHandleResponse: true,
  });
  proxy.on('proxyReq', (request, seen) => seen.events?.opened(request));
  proxy.on('proxyRes', (answer, seen, res) => seen.events?.answered(answer, res));
  proxy.on('econnreset', (error, seen) => seen.events?.failed(error));
  proxy.on('error', (error, seen) => seen.events?.failed(error));
  return (req, res, headers, ending = atOnce) =>
    new Promise((resolve, reject) => {
      const declared = Number(req.headers['content-length'] ?? 0);
      if (declared > options.bodyBytes) {
        reject(tooLarge(options.bodyBytes));
        return;
      }
      const query = /\?.*/.exec(req.url ?? '')?.[0] ?? '';
      const seen = new TunnelRequest(req.socket);
      const ends = { ending, resolve, reject };
      const exchange = new TunnelExchange({ options, req, res, headers, seen, conceal, ...ends });
      proxy.web(seen.stand(req, target(options.path + query), headersFor(req.headers), exchange), res);
    });
};

interface TunnelParts {
  readonly options: TunnelOptions;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly headers: Readonly<Record<string, string>>;
  readonly ending: (moved: Moved) => Promise<unknown>;
  readonly seen: TunnelRequest;
  readonly resolve: (tunnelled: Tunnelled) => void;
  readonly reject: (error: Error) => void;
  readonly conceal: (words: string) => string;
}

export const CLIENT_LEFT = 499;
/** Every 429 says when to come again (seed 7.4). */
const RETRY_AFTER = { 'retry-after': '5' };
const MAX_INFORMATIONAL = 10;

/** One exchange through the tunnel; ends once, by whichever side is first. */
class TunnelExchange implements TunnelEvents {
  readonly #parts: TunnelParts;
  readonly #total: NodeJS.Timeout;
  /** First for the beginning of the answer, then for silence in it; every byte of either side winds it up. */
  #silence: NodeJS.Timeout;
  #upstream: ClientRequest | null = null;
  #answer: IncomingMessage | null = null;
  #requestBytes = 0;
  #responseBytes = 0;
  #informational = 0;
  #over = false;

  constructor(parts: TunnelParts) {
    this.#parts = parts;
    const { firstByteMs, totalMs } = parts.options.timeouts;
    this.#silence = setTimeout(() => this.#fail(timedOut('first_byte')), firstByteMs);
    this.#total = setTimeout(() => this.#fail(timedOut('total')), totalMs);
    parts.res.once('close', this.#closed).once('finish', this.#finished).on('error', ignore);
    parts.req.on('error', ignore);
  }

  opened(request: ClientRequest): void {
    this.#upstream = request;
    if (this.#over) return void request.destroy();
    request.on('information', () => {
      if (++this.#informational > MAX_INFORMATIONAL)
        this.#fail(unreadable('The provider sent too many informational replies.'));
    });
  }

  moved(bytes: number): void {
    this.#requestBytes += bytes;
    this.#silence.refresh();
    if (this.#requestBytes > this.#parts.options.bodyBytes)
      this.#fail(tooLarge(this.#parts.options.bodyBytes));
  }

  answered(answer: IncomingMessage, res: ServerResponse): void {
    const status = answer.statusCode ?? 0;
    if (this.#over) return void answer.destroy();
    answer.on('error', (error) => this.failed(error));
    if (!presentable(status) || status >= 400) {
      const { headers } = answer;
      const { conceal } = this.#parts;
      void readRejection({ status, headers, body: answer }, Date.now(), conceal).then((rejection) =>
        presentable(status) ? this.#refuse(rejection, headers) : this.#fail(rejection),
      );
      return;
    }
    this.#answer = answer;
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => this.#fail(timedOut('idle')), this.#parts.options.timeouts.idleMs);
    res.writeHead(status, { ...tunnelHeaders(answer.headers), ...this.#parts.headers });
    const length = Number(answer.headers['content-length'] ?? NaN);
    let last: Buffer | undefined;
    answer.on('data', (chunk: Buffer) => {
      this.#responseBytes += chunk.length;
      this.#silence.refresh();
      // With the last of the promised bytes the client has everything, whether or not it is told so.
      if (this.#responseBytes === length) last = chunk;
      else if (!res.write(chunk)) {
        answer.pause();
        res.once('drain', () => answer.resume());
      }
    });
    answer.once('end', () => {
      clearTimeout(this.#silence);
      void this.#parts.ending(this.#moved()).then(() => res.end(last));
    });
  }

  /** What a provider says when it refuses may quote our credentials, so it is read before it is passed on. */
  #refuse({ status, body }: UpstreamRejection, given: IncomingHttpHeaders): void {
    if (this.#over) return;
    const { res, headers, ending } = this.#parts;
    const shown = tunnelHeaders(given);
    delete shown['content-length']; // it may be shorter now
    const wait = status === 429 && given['retry-after'] === undefined && RETRY_AFTER;
    this.#responseBytes = Buffer.byteLength(body);
    res.writeHead(status, { ...shown, ...wait, ...headers });
    void ending(this.#moved()).then(() => res.end(body));
  }

  #moved(): Moved {
    const { res } = this.#parts;
    return {
      status: res.headersSent ? res.statusCode : CLIENT_LEFT,
      requestBytes: this.#requestBytes,
      responseBytes: this.#responseBytes,
    };
  }

  failed(error: Error): void {
    if (this.#answer?.complete) return; // the answer is whole; what comes after it is nobody's
    this.#fail(asFault(error, this.#upstream !== null));
  }

  readonly #closed = (): void => this.#end('client_left');
  readonly #finished = (): void => this.#end('complete');

  #fail(error: Error): void {
    if (this.#over) return;
    const { res } = this.#parts;
    // Silence because the client does not take what is there is the client's.
    if (res.headersSent) this.#end(res.writableNeedDrain ? 'client_left' : 'upstream_failed');
    else {
      this.#finish();
      this.#parts.reject(error);
    }
  }

  #end(delivery: Delivery): void {
    if (this.#over) return;
    this.#finish();
    const { res, resolve } = this.#parts;
    if (delivery !== 'complete') res.destroy();
    resolve({ ...this.#moved(), delivery });
  }

  #finish(): void {
    this.#over = true;
    clearTimeout(this.#silence);
    clearTimeout(this.#total);
    this.#upstream?.on('error', ignore).destroy();
    this.#parts.seen.destroy();
  }
}

/** A redirect would lead away from the provider; a refused credential is ours, and the refusal may quote it. */
const presentable = (status: number): boolean =>
  status >= 200 && (status < 300 || status >= 400) && ![401, 402, 403, 407].includes(status);

const ignore = (): void => {};
const atOnce = (): Promise<void> => Promise.resolve();
