import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** One thing the provider does; a script is done in order. */
export type Step =
  | { readonly head: number; readonly headers?: OutgoingHttpHeaders }
  | { readonly write: string | Buffer }
  /** Bytes on the socket as they are, past the framing of the answer. */
  | { readonly raw: string | Buffer }
  | { readonly waitMs: number }
  | { readonly until: Promise<unknown> }
  | 'end'
  /** The connection is reset (RST). */
  | 'reset'
  /** The connection is closed without an ending. */
  | 'close'
  /** Nothing more, for ever. */
  | 'stall';

export type Script = readonly Step[];

/** What the provider saw of one request. */
export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly rawHeaders: readonly string[];
  /** Grows until the request is read. */
  body: string;
  /** Connections are counted from 1. */
  readonly connection: number;
  /** The client closed or reset the connection before the answer was through. */
  left: boolean;
  /** Resolves when the connection of this request is gone. */
  readonly gone: Promise<void>;
}

export interface FakeProvider {
  readonly url: string;
  readonly port: number;
  readonly requests: readonly Seen[];
  /** Connections open now. */
  readonly open: number;
  /** Handed to the sockets of all answers so far. */
  readonly writtenBytes: number;
  /** What is done from now on; a list of scripts is used up one by one, its last stays. */
  play(...scripts: readonly Script[]): void;
  close(): Promise<void>;
}

export interface FakeProviderOptions {
  readonly tls?: { readonly key: string; readonly cert: string };
  readonly keepAliveMs?: number;
}

/** A scriptable upstream on a loopback port. */
export const startFakeProvider = async (
  script: Script = jsonAnswer(200, { ok: true }),
  options: FakeProviderOptions = {},
): Promise<FakeProvider> => {
  const requests: Seen[] = [];
  const sockets = new Map<Socket, number>();
  let scripts: Script[] = [script];
  let connections = 0;

  const serve = (req: IncomingMessage, res: ServerResponse): void => {
    const seen: Seen = {
      method: req.method ?? '',
      url: req.url ?? '',
      headers: req.headers,
      rawHeaders: req.rawHeaders,
      body: '',
      connection: sockets.get(req.socket) ?? 0,
      left: false,
      gone: new Promise((resolve) => req.socket.once('close', () => resolve())),
    };
    requests.push(seen);
    res.once('close', () => (seen.left = !res.writableFinished)).on('error', () => {});
    const next = scripts.length > 1 ? scripts.shift()! : scripts[0]!;
    req
      .setEncoding('utf8')
      .on('error', () => {})
      .on('data', (text: string) => (seen.body += text))
      .once('end', () => void perform(next, res));
  };

  const server = options.tls ? createSecureServer(options.tls, serve) : createServer(serve);
  server.keepAliveTimeout = options.keepAliveMs ?? 60_000;
  server.on(options.tls ? 'secureConnection' : 'connection', (socket: Socket) => {
    sockets.set(socket, ++connections);
    // One listener for each request of a kept connection: many, but not a leak.
    socket.setMaxListeners(0);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    port,
    requests,
    get open() {
      return sockets.size;
    },
    get writtenBytes() {
      return [...sockets.keys()].reduce((sum, socket) => sum + socket.bytesWritten, 0);
    },
    play: (...next) => (scripts = [...next]),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

const perform = async (script: Script, res: ServerResponse): Promise<void> => {
  const { socket } = res;
  for (const step of script) {
    if (!socket || socket.destroyed) return;
    if (step === 'end') res.end();
    else if (step === 'reset') socket.resetAndDestroy();
    else if (step === 'close') socket.destroy();
    else if (step === 'stall') return;
    else if ('head' in step) res.writeHead(step.head, step.headers).flushHeaders();
    else if ('raw' in step) socket.write(step.raw);
    else if ('waitMs' in step) await sleep(step.waitMs);
    else if ('until' in step) await step.until;
    else if (!res.write(step.write))
      await new Promise<void>((resolve) => {
        const go = (): void => {
          res.off('drain', go).off('close', go);
          resolve();
        };
        res.on('drain', go).on('close', go);
      });
  }
};

export const jsonAnswer = (status: number, body: unknown, headers: OutgoingHttpHeaders = {}): Script => {
  const text = JSON.stringify(body);
  return [
    {
      head: status,
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), ...headers },
    },
    { write: text },
    'end',
  ];
};

/** Events as given, one write each. */
export const streamAnswer = (...events: readonly string[]): Script => [
  { head: 200, headers: { 'content-type': 'text/event-stream' } },
  ...events.map((event) => ({ write: event })),
  'end',
];
