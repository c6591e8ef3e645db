import * as http from 'node:http';
import * as net from 'node:net';
import * as tls from 'node:tls';

export interface ConnectorOptions {
  readonly origin: string;
  /** For everything until the connection can be used: name, proxy and TLS included. */
  readonly connectMs: number;
  /** Outbound proxy, spoken to with CONNECT; empty = none. */
  readonly proxyUrl: string;
  /** Certificate authorities trusted beside the usual ones; empty = none. */
  readonly caPem: string;
}

type Done = (error: Error | null, socket?: net.Socket) => void;

/** Makes a connection and hands it over when it is ready, so whatever fails before is a failure to connect. */
export type Connect = (done: Done) => void;

const PROBE_IDLE_MS = 60_000;

export const createConnector = (options: ConnectorOptions): Connect => {
  const target = placeOf(options.origin);
  const proxy = options.proxyUrl === '' ? null : placeOf(options.proxyUrl);
  // Parsed once: giving `ca` to each connection would read every certificate again for each.
  const trust =
    options.caPem === ''
      ? {}
      : { secureContext: tls.createSecureContext({ ca: [...tls.rootCertificates, options.caPem] }) };
  let session: Buffer | undefined;

  return (done) => {
    let current: net.Socket | null = null;
    let settled = false;
    const settle: Done = (error, socket) => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      if (error) current?.destroy();
      done(error, socket);
    };
    const timer = setTimeout(
      () => settle(new Error('The connection was not made in time.')),
      options.connectMs,
    );
    const watch = <S extends net.Socket>(socket: S): S => {
      current = socket;
      return socket.on('error', settle);
    };
    const open = (place: Place, use: (socket: net.Socket) => void): void => {
      const plain = watch(net.connect({ host: place.host, port: place.port }));
      plain.setNoDelay(true).setKeepAlive(true, PROBE_IDLE_MS);
      plain.once('connect', () => use(plain));
    };
    const encrypt = (socket: net.Socket, place: Place, use: (socket: net.Socket) => void): void => {
      const name = net.isIP(place.host) === 0 ? { servername: place.host } : {};
      const resumed = place === target && session ? { session } : {};
      const secure = watch(
        tls.connect({ socket, host: place.host, ALPNProtocols: ['http/1.1'], ...name, ...trust, ...resumed }),
      );
      if (place === target) secure.on('session', (given: Buffer) => (session = given));
      secure.once('secureConnect', () => use(secure));
    };
    const reach = (place: Place, use: (socket: net.Socket) => void): void =>
      open(place, (socket) => (place.secure ? encrypt(socket, place, use) : use(socket)));
    const finish = (socket: net.Socket): void => settle(null, socket);

    if (!proxy) reach(target, finish);
    else
      reach(proxy, (socket) =>
        askProxy(socket, proxy, target, (error) => {
          if (error) settle(error);
          else if (settled) socket.destroy();
          else if (target.secure) encrypt(socket, target, finish);
          else finish(socket);
        }),
      );
  };
};

/** Asks a proxy for a tunnel over a connection to it. */
const askProxy = (socket: net.Socket, proxy: Place, target: Place, done: (error?: Error) => void): void => {
  http
    .request({
      method: 'CONNECT',
      path: target.authority,
      headers: {
        host: target.authority,
        ...(proxy.credentials === '' ? {} : { 'proxy-authorization': `Basic ${proxy.credentials}` }),
      },
      createConnection: () => socket,
    })
    .once('connect', ({ statusCode }, _, head) => {
      if (head.length > 0) socket.unshift(head);
      done(statusCode === 200 ? undefined : refusal(statusCode));
    })
    .once('response', ({ statusCode }) => done(refusal(statusCode)))
    .on('error', done)
    .end();
};

const refusal = (status: number | undefined): Error =>
  new Error(`The outbound proxy answered CONNECT with status ${status ?? 0}.`);

interface Place {
  readonly host: string;
  readonly port: number;
  readonly authority: string;
  readonly secure: boolean;
  /** User and password, as Basic authentication writes them; empty = none. */
  readonly credentials: string;
}

const placeOf = (address: string): Place => {
  const url = new URL(address);
  const secure = url.protocol === 'https:';
  const port = Number(url.port) || (secure ? 443 : 80);
  const login = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''), // an IPv6 address has brackets only in a URL
    port,
    authority: `${url.hostname}:${port}`,
    secure,
    credentials: login === ':' ? '' : Buffer.from(login).toString('base64'),
  };
};
