import { once } from 'node:events';
import * as http from 'node:http';
import * as https from 'node:https';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

/** What a destination does once instead of its work, or to its reply. */
export type Fault =
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    }
  /** Reads the request and says nothing. */
  | { readonly kind: 'stall' }
  /** Closes the connection in the middle of the request. */
  | { readonly kind: 'reset'; readonly afterBytes: number }
  /** Does its work, then sends half of the reply's body. */
  | { readonly kind: 'truncate' }
  /** Does its work, then is gone before it can say so. */
  | { readonly kind: 'vanish' };

export interface FakeRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  /** Decompressed. */
  readonly body: Buffer;
  readonly raw: Buffer;
}

export interface FakeReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface FakeServer {
  readonly url: string;
  readonly port: number;
  /** Every request that was read whole, in order. */
  readonly requests: FakeRequest[];
  /** Connections made to it so far. */
  readonly connections: () => number;
  /** The next requests meet these, one each. */
  fail(...faults: readonly Fault[]): void;
  /** Each request meets what this gives; null = none. For faults at random. */
  failAs(choose: ((request: FakeRequest) => Fault | null) | null): void;
  close(): Promise<void>;
}

export interface FakeOptions {
  readonly tls?: { readonly key: string; readonly cert: string };
  readonly port?: number;
}

export type Handle = (request: FakeRequest) => FakeReply;

/** A destination that does what `handle` says, except where it is told to fail. */
export const startFakeServer = async (handle: Handle, options: FakeOptions = {}): Promise<FakeServer> => {
  const requests: FakeRequest[] = [];
  const queue: Fault[] = [];
  let choose: ((request: FakeRequest) => Fault | null) | null = null;
  let connections = 0;

  const serve = async (req: http.IncomingMessage, res: http.ServerResponse): Promise<void> => {
    const early = queue[0] ?? null;
    if (early?.kind === 'reset') {
      queue.shift();
      await readSome(req, early.afterBytes);
      req.socket.destroy();
      return;
    }
    const raw = await readAll(req);
    const body = req.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw;
    const request = { method: req.method ?? '', path: req.url ?? '', headers: req.headers, body, raw };
    requests.push(request);
    const fault = queue.shift() ?? choose?.(request) ?? null;
    if (fault?.kind === 'stall') return;
    if (fault?.kind === 'reset') {
      req.socket.destroy();
      return;
    }
    const reply = fault?.kind === 'status' ? { body: '', ...fault } : handle(request);
    if (fault?.kind === 'vanish') {
      req.socket.destroy();
      return;
    }
    const content = Buffer.from(reply.body ?? '');
    const isCut = fault?.kind === 'truncate';
    res.writeHead(reply.status, { 'content-length': content.length + (isCut ? 1 : 0), ...reply.headers });
    if (!isCut) res.end(content);
    else res.write(content.subarray(0, content.length / 2), () => req.socket.destroy());
  };
  const listener = (req: http.IncomingMessage, res: http.ServerResponse): void => {
    serve(req, res).catch(() => req.socket.destroy());
  };
  const server = options.tls ? https.createServer(options.tls, listener) : http.createServer(listener);
  server.on('connection', () => connections++);
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    port,
    requests,
    connections: () => connections,
    fail: (...faults) => void queue.push(...faults),
    failAs: (chosen) => (choose = chosen),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
};

const readAll = async (req: http.IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};

const readSome = async (req: http.IncomingMessage, bytes: number): Promise<void> => {
  let seen = 0;
  while (seen < bytes) {
    const [chunk] = (await once(req, 'data')) as [Buffer];
    seen += chunk.length;
  }
};

export const jsonReply = (
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): FakeReply => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});

/** The event ids in what a destination keeps, in the order of their coming. */
export const idsOf = (events: readonly Readonly<Record<string, unknown>>[]): string[] =>
  events.map((event) => String(event['event_id']));
