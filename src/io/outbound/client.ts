import type { EventEmitter } from 'node:events';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliDecompress, unzip, type InputType } from 'node:zlib';
import { Client, type Dispatcher } from 'undici';
import { createConnect, type ConnectOptions } from './connect.js';
import { readDestination, type Destination, type OutboundRules } from './destination.js';
import { asReplyFault, OutboundFault } from './fault.js';

export interface OutboundTimeouts {
  readonly connectMs: number;
  /** From the call to the reply's head. */
  readonly headersMs: number;
  readonly totalMs: number;
}

export interface OutboundOptions extends Pick<ConnectOptions, 'lookup' | 'dial'> {
  /** Scheme, host, port and the path below which everything lies. */
  readonly address: string;
  readonly rules: OutboundRules;
  readonly caPem?: string;
  readonly timeouts?: OutboundTimeouts;
}

export interface OutboundRequest {
  readonly method: 'POST' | 'PUT';
  /** Below the address; begins with a slash, or with `?` for the address itself. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | string;
}

export interface OutboundReply {
  readonly status: number;
  /** Names in lower case; of repeated ones the first. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

const usualTimeouts: OutboundTimeouts = { connectMs: 5_000, headersMs: 30_000, totalMs: 60_000 };

export const REPLY_BYTES = 1_048_576;
const MAX_HEADER_BYTES = 16_384;
const KEEP_ALIVE_MS = 4_000;
const KEEP_ALIVE_MAX_MS = 60_000;

/**
 * One connection to one destination, one request at a time on it. Every owner has its own: what one destination sends
 * too much can never become another's answer. Redirects are replies like any other.
 */
export class OutboundClient {
  readonly destination: Destination;
  readonly #client: Client;
  readonly #timeouts: OutboundTimeouts;

  /** Throws an OutboundFault of kind `forbidden` for an address that the rules do not allow. */
  constructor({ address, rules, caPem = '', timeouts = usualTimeouts, ...overrides }: OutboundOptions) {
    this.destination = readDestination(address, rules);
    this.#timeouts = timeouts;
    const { connectMs } = timeouts;
    const connect = createConnect({ destination: this.destination, connectMs, caPem, ...overrides });
    this.#client = new Client(this.destination.origin, {
      pipelining: 1,
      allowH2: false,
      headersTimeout: 0, // `send` keeps the time
      bodyTimeout: 0,
      maxHeaderSize: MAX_HEADER_BYTES,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS,
      connect: (_, callback) =>
        connect((fault, socket) => {
          if (socket) callback(null, socket);
          else callback(fault ?? new OutboundFault('connect', 'No connection was made.'), null);
        }),
    });
    (this.#client as EventEmitter).on('error', () => {});
  }

  /** The whole reply, or an OutboundFault. */
  async send({ path, ...request }: OutboundRequest, signal: AbortSignal): Promise<OutboundReply> {
    const { headersMs, totalMs } = this.#timeouts;
    const stop = new AbortController();
    const late = (ms: number) => () =>
      stop.abort(new OutboundFault('timeout', `The destination did not answer within ${ms} ms.`));
    const leave = (): void => stop.abort(new OutboundFault('stopped', 'The sending was stopped.'));
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    const headersTimer = setTimeout(late(headersMs), headersMs);
    const totalTimer = setTimeout(late(totalMs), totalMs);
    try {
      const reply = await this.#client.request({
        ...request,
        path: `${this.destination.basePath}${path}`,
        headers: { 'user-agent': 'sluice', 'accept-encoding': 'identity', ...request.headers },
        signal: stop.signal,
      });
      clearTimeout(headersTimer);
      const headers = headersOf(reply.headers);
      const body = await decode(await readBounded(reply.body), headers.get('content-encoding'));
      return { status: reply.statusCode, headers, body };
    } catch (error) {
      throw asReplyFault(stop.signal.aborted ? stop.signal.reason : error);
    } finally {
      clearTimeout(headersTimer);
      clearTimeout(totalTimer);
      signal.removeEventListener('abort', leave);
    }
  }

  /** Breaks off what is under way and leaves no connection. */
  async close(): Promise<void> {
    await this.#client.destroy();
  }
}

const headersOf = (headers: Dispatcher.ResponseData['headers']): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(headers).flatMap(([name, value]) => {
      const first = Array.isArray(value) ? value[0] : value;
      return first === undefined ? [] : [[name.toLowerCase(), first] as const];
    }),
  );

const oversized = (): OutboundFault =>
  new OutboundFault('oversized', `The reply is larger than ${REPLY_BYTES} bytes.`);

const readBounded = async (body: Readable): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > REPLY_BYTES) throw oversized(); // leaving the loop destroys the body
    chunks.push(chunk);
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, bytes);
};

type Decompress = (bytes: InputType, options: { readonly maxOutputLength: number }) => Promise<Buffer>;

const decoders: Readonly<Record<string, Decompress>> = {
  gzip: promisify(unzip),
  deflate: promisify(unzip),
  br: promisify(brotliDecompress),
};

/** Replies are asked for uncompressed; some proxies compress all the same. */
const decode = async (bytes: Buffer, encoding = 'identity'): Promise<Buffer> => {
  if (bytes.length === 0 || encoding.toLowerCase() === 'identity') return bytes;
  const decompress = Object.hasOwn(decoders, encoding.toLowerCase())
    ? decoders[encoding.toLowerCase()]
    : undefined;
  if (!decompress)
    throw new OutboundFault('unreadable', 'The reply is compressed in a way that is not understood.');
  try {
    return await decompress(bytes, { maxOutputLength: REPLY_BYTES });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw oversized();
    throw new OutboundFault('unreadable', 'The reply cannot be decompressed.', error);
  }
};
