import { IncomingMessage } from 'node:http';
import type { ClientRequest, ServerResponse } from 'node:http';

/** What the pump tells whoever runs the exchange. */
export interface TunnelEvents {
  /** A connection stands and the request goes out on it. */
  opened(request: ClientRequest): void;
  answered(answer: IncomingMessage, res: ServerResponse): void;
  failed(error: Error): void;
  /** Bytes of the body were passed on. */
  moved(bytes: number): void;
}

const WITH_BODY = new Set(['POST', 'PUT', 'PATCH']);

/**
 * The request that http-proxy-3 sees in place of the client's: our headers and target, and the client's body under
 * our eyes. It copies whatever headers it finds, so it finds only what may go out.
 */
export class TunnelRequest extends IncomingMessage {
  #source: IncomingMessage | null = null;
  events: TunnelEvents | null = null;

  /** Takes over method and body of the client's request. */
  stand(
    source: IncomingMessage,
    target: string,
    headers: Record<string, string>,
    events: TunnelEvents,
  ): this {
    this.method = source.method ?? 'GET';
    this.url = target;
    this.httpVersion = '1.1';
    this.httpVersionMajor = 1;
    this.httpVersionMinor = 1;
    this.events = events;
    // Other methods would let node:http write a body without framing: a second request in disguise.
    if (!WITH_BODY.has(this.method)) {
      this.headers = headers;
      this.push(null);
      return this;
    }
    const length = source.headers['content-length'];
    this.headers = {
      ...headers,
      ...(length === undefined ? { 'transfer-encoding': 'chunked' } : { 'content-length': length }),
    };
    this.#source = source;
    source
      .on('data', (chunk: Buffer) => {
        events.moved(chunk.length);
        if (!this.destroyed && !this.push(chunk)) source.pause();
      })
      .once('end', () => this.push(null));
    return this;
  }

  override _read(): void {
    this.#source?.resume();
  }

  /** The socket below is the client's; it outlives this object. */
  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#source?.pause();
    callback(error);
  }
}
