import type { LookupAddress } from 'node:dns';
import { lookup as resolveName } from 'node:dns/promises';
import * as net from 'node:net';
import * as tls from 'node:tls';
import { privateHost, type Destination } from './destination.js';
import { asConnectFault, OutboundFault } from './fault.js';
import { isSpecialAddress } from './special-addresses.js';

export interface ConnectOptions {
  readonly destination: Destination;
  /** For everything until the connection can be used: name and TLS included. */
  readonly connectMs: number;
  /** Certificate authorities trusted beside the usual ones; empty = none. */
  readonly caPem: string;
  /** Every address of a name. */
  readonly lookup?: (host: string) => Promise<readonly LookupAddress[]>;
  readonly dial?: (options: net.TcpNetConnectOpts) => net.Socket;
}

type Done = (fault: OutboundFault | null, socket?: net.Socket) => void;

/** Makes a connection and hands it over when it is ready. Nothing is sent before its other end is known to be allowed. */
export type Connect = (done: Done) => void;

const PROBE_IDLE_MS = 60_000;

const lookupAll = (host: string): Promise<readonly LookupAddress[]> => resolveName(host, { all: true });

/** The guard stands here, below every route and sender: an address is checked as it is written, resolved and reached. */
export const createConnect = (options: ConnectOptions): Connect => {
  const { destination, connectMs, caPem, lookup = lookupAll, dial = net.connect } = options;
  const { host, port, secure, trusted } = destination;
  const isAllowed = (address: string | undefined): boolean =>
    trusted || (address !== undefined && !isSpecialAddress(address));
  // Parsed once: giving `ca` to each connection would read every certificate again for each.
  const secureContext = secure ? trustOf(caPem) : undefined;

  const resolve: net.LookupFunction = (name, { all }, callback) => {
    const tell = (addresses: readonly LookupAddress[]): void => {
      const [first] = addresses;
      // One private address among public ones is how a name is made to change its mind.
      if (!first || !addresses.every(({ address }) => isAllowed(address))) callback(privateHost(), '', 0);
      else if (all) callback(null, [...addresses]);
      else callback(null, first.address, first.family);
    };
    lookup(name).then(tell, (error: unknown) => callback(error as NodeJS.ErrnoException, '', 0));
  };

  return (done) => {
    let current: net.Socket | null = null;
    let settled = false;
    const settle: Done = (fault, socket) => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      if (fault) current?.destroy();
      done(fault, socket);
    };
    const fail = (error: unknown): void => settle(asConnectFault(error));
    const timer = setTimeout(
      () => settle(new OutboundFault('timeout', `No connection was made within ${connectMs} ms.`)),
      connectMs,
    );
    const watch = <S extends net.Socket>(socket: S): S => {
      current = socket;
      return socket.on('error', fail);
    };
    const encrypt = (socket: net.Socket): void => {
      const name = net.isIP(host) === 0 ? { servername: host } : {};
      const secured = watch(
        tls.connect({
          socket,
          host,
          ...name,
          secureContext,
          ALPNProtocols: ['http/1.1'],
          rejectUnauthorized: true, // also where the environment says otherwise
        }),
      );
      secured.once('secureConnect', () => settle(null, secured));
    };

    if (net.isIP(host) !== 0 && !isAllowed(host)) {
      queueMicrotask(() => settle(privateHost()));
      return;
    }
    const plain = watch(
      dial({
        host,
        port,
        lookup: resolve,
        autoSelectFamily: true,
        autoSelectFamilyAttemptTimeout: Math.ceil(connectMs / 2),
      }),
    );
    plain.setNoDelay(true).setKeepAlive(true, PROBE_IDLE_MS);
    plain.once('connect', () => {
      if (!isAllowed(plain.remoteAddress)) settle(privateHost());
      else if (settled) plain.destroy();
      else if (secure) encrypt(plain);
      else settle(null, plain);
    });
  };
};

const trustOf = (caPem: string): tls.SecureContext =>
  tls.createSecureContext({
    minVersion: 'TLSv1.2',
    ...(caPem !== '' && { ca: [...tls.rootCertificates, caPem] }),
  });
