import {
  createServer,
  STATUS_CODES,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createSecureContext } from 'node:tls';
import type { BytesReply, JsonReply } from '../../core/exchange.js';
import type { Log } from '../../core/log.js';
import { Connections } from './connections.js';
import { encodeReply, sendReply } from './reply.js';

/** What can be wrong with a request before there is one, or with its wish for another protocol. */
export type ConnectionFault = 'malformed' | 'timeout' | 'headers_too_large' | 'upgrade';

export interface ListenLimits {
  readonly headersTimeoutMs: number;
  /** For the whole request; the pace of a body is watched where it is read. */
  readonly requestTimeoutMs: number;
  readonly checkEveryMs: number;
  readonly keepAliveMs: number;
  readonly headerBytes: number;
  readonly headerCount: number;
}

export interface ListenOptions {
  readonly host: string;
  /** 0 = any free one. */
  readonly port: number;
  readonly tls: TlsFiles | null;
  readonly limits?: Partial<ListenLimits>;
  /** The answer to a fault, as the API spells its errors at this path; null = it is not known. */
  readonly refuse: (fault: ConnectionFault, path: string | null) => JsonReply | BytesReply;
  readonly log: Log;
}

export interface TlsFiles {
  readonly certPem: string;
  readonly keyPem: string;
}

export interface Listener {
  readonly address: string;
  readonly port: number;
  /** How many clients are connected. */
  connections(): number;
  /** Replaces the certificate for new connections; throws, and keeps the old one, when the pair is not usable. */
  setTls(files: TlsFiles): void;
  /** Closes the port; open connections go on. */
  stopAccepting(): void;
  /**
   * Stops accepting, closes idle connections, lets answers finish (with `connection: close`) and, when the grace is
   * over, cuts the rest. Gives the number cut.
   */
  drain(graceMs: number): Promise<number>;
  /** Cuts everything at once. */
  close(): Promise<void>;
}

const defaultLimits: ListenLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 3_600_000,
  checkEveryMs: 2_000,
  keepAliveMs: 65_000,
  headerBytes: 16_384,
  headerCount: 100,
};

/** How long a client that was refused below HTTP may take to read why. */
const REFUSAL_MS = 500;
/** Connections that wait to be accepted: a pod full of clients may come back at once. */
const BACKLOG = 4_096;

const faultOf = (error: NodeJS.ErrnoException): ConnectionFault => {
  if (error.code === 'HPE_HEADER_OVERFLOW') return 'headers_too_large';
  return error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'timeout' : 'malformed';
};

const CONNECTION_UPGRADE = /(?:^|,)\s*upgrade\s*(?:,|$)/i;
/** Offered by some HTTP clients with every plain request; whoever does not take it up answers in HTTP/1.1. */
const OFFER = /^\s*h2c?\s*$/i;

/** node hands such requests on like any other while nobody listens for 'upgrade', so the socket stays in good hands. */
const wantsUpgrade = ({ connection, upgrade }: IncomingHttpHeaders): boolean =>
  upgrade !== undefined && CONNECTION_UPGRADE.test(connection ?? '') && !OFFER.test(upgrade);

const faultIn = (req: IncomingMessage, { headerCount }: ListenLimits): ConnectionFault | null => {
  if (req.rawHeaders.length > headerCount * 2) return 'headers_too_large';
  return wantsUpgrade(req.headers) ? 'upgrade' : null;
};

/** A whole HTTP response for a socket that has no ServerResponse. */
const rawResponse = (reply: JsonReply | BytesReply): Buffer => {
  const { headers, body } = encodeReply(reply, { connection: 'close' });
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status] ?? ''}\r\n${lines.join('')}\r\n`;
  return Buffer.concat([Buffer.from(head, 'latin1'), body]);
};

export const listen = async (
  options: ListenOptions,
  onRequest: (req: IncomingMessage, res: ServerResponse) => Promise<void>,
): Promise<Listener> => {
  const limits = { ...defaultLimits, ...options.limits };
  const { log, tls } = options;

  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const fault = faultIn(req, limits);
    if (!fault) return onRequest(req, res);
    res.shouldKeepAlive = false;
    const [path = '/'] = (req.url ?? '/').split('?');
    await sendReply(options.refuse(fault, path), req, res);
  };
  const connections = new Connections((req, res) => {
    answer(req, res).catch((error: unknown) => {
      log.error({ err: error }, 'A request broke off: its handler threw.');
      res.destroy();
    });
  });
  /** Below TLS, so that a handshake under way can be cut too. */
  const sockets = new Set<Socket>();
  const refused = new WeakSet<Duplex>();

  const serverOptions = {
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    connectionsCheckingInterval: limits.checkEveryMs,
    keepAliveTimeout: limits.keepAliveMs,
    maxHeaderSize: limits.headerBytes,
    noDelay: true,
    requireHostHeader: false, // answered with an error body by whoever checks the headers
  };
  const server = tls
    ? createTlsServer({
        ...serverOptions,
        cert: tls.certPem,
        key: tls.keyPem,
        handshakeTimeout: limits.headersTimeoutMs,
        ALPNProtocols: ['http/1.1'],
      })
    : createServer(serverOptions);
  server.timeout = 0;
  server.maxHeadersCount = 0; // node would drop the ones above silently
  // Node's own also cuts answers that are ended but not yet flushed, and close() calls it.
  server.closeIdleConnections = () => undefined;

  const onClientError = (error: NodeJS.ErrnoException, duplex: Duplex): void => {
    const socket = duplex as Socket;
    if (refused.has(socket)) return;
    refused.add(socket);
    log.debug({ code: error.code }, 'A connection was given up.');
    if (!socket.writable || error.code === 'ECONNRESET' || connections.isAnswering(socket)) {
      socket.destroy();
      return;
    }
    try {
      socket.end(rawResponse(options.refuse(faultOf(error), null)));
    } catch (thrown) {
      log.error({ err: thrown }, 'A refusal could not be written.');
      socket.destroy();
      return;
    }
    const timer = setTimeout(() => socket.destroy(), REFUSAL_MS);
    socket.once('close', () => clearTimeout(timer));
  };

  const accept = (req: IncomingMessage, res: ServerResponse): void => connections.accept(req, res);
  server
    .on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      if (!tls) connections.add(socket);
    })
    .on('secureConnection', (socket: Socket) => connections.add(socket))
    .on('tlsClientError', (error: NodeJS.ErrnoException, socket: Socket) => {
      log.debug({ code: error.code }, 'A TLS handshake failed.');
      socket.destroy();
    })
    .on('request', accept)
    .on('checkContinue', accept)
    .on('checkExpectation', accept)
    .on('clientError', onClientError);

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port: options.port, host: options.host, backlog: BACKLOG }, () => {
      server.off('error', reject);
      server.on('error', (error) => log.error({ err: error }, 'The listener has a fault.'));
      resolve();
    });
  });
  const { address, port } = server.address() as AddressInfo;

  let closed: Promise<void> | null = null;
  const stopAccepting = (): Promise<void> =>
    (closed ??= new Promise((resolve) => server.close(() => resolve())));
  const cut = async (): Promise<void> => {
    connections.destroyAll();
    for (const socket of sockets) socket.destroy();
    await stopAccepting();
  };

  return {
    address,
    port,
    connections: () => connections.size,
    setTls({ certPem, keyPem }) {
      if (!tls) throw new Error('This listener was started without TLS.');
      const files = { cert: certPem, key: keyPem };
      createSecureContext(files);
      (server as TlsServer).setSecureContext({ ...files });
    },
    stopAccepting: () => void stopAccepting(),
    async drain(graceMs) {
      void stopAccepting();
      connections.startDraining();
      const giveUp = setTimeout(() => connections.closeWithoutRequest(), limits.headersTimeoutMs);
      const left = await connections.emptied(graceMs);
      clearTimeout(giveUp);
      await cut();
      return left;
    },
    close: cut,
  };
};
