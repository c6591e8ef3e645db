import { isIP, isIPv6 } from 'node:net';
import { OutboundFault } from './fault.js';
import { isSpecialAddress } from './special-addresses.js';

/** What the operator lets API callers name as a destination. */
export interface OutboundRules {
  /** Whether `http://` is allowed. */
  readonly allowInsecure: boolean;
  /** Hosts, by name or address as a URL has them, that may be private and listen on any port. */
  readonly allowPrivateHosts: readonly string[];
}

/** A checked address: where to connect, and what stands before each path. */
export interface Destination {
  readonly origin: string;
  readonly host: string;
  readonly port: number;
  readonly secure: boolean;
  /** Below the origin, without a slash at its end. */
  readonly basePath: string;
  /** The operator named this host, so it may be private. */
  readonly trusted: boolean;
}

/** HTTPS, Splunk's collector, Elasticsearch (own and hosted), and the usual second choice for HTTPS and S3. */
const PORTS: ReadonlySet<number> = new Set([443, 8088, 8443, 9000, 9200, 9243]);
const INSECURE_PORTS: ReadonlySet<number> = new Set([80, ...PORTS]);

const forbidden = (message: string): OutboundFault => new OutboundFault('forbidden', message);

/**
 * Reads an address that an API caller gave. Everything that can be told without asking a name server is told here; the
 * connector checks the rest. The message of what it throws fits behind the name of a field.
 */
export const readDestination = (address: string, rules: OutboundRules): Destination => {
  const url = parse(address);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && rules.allowInsecure))
    throw forbidden('must begin with https://.');
  if (url.username !== '' || url.password !== '') throw forbidden('must not contain a user or a password.');
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(address))
    throw forbidden('must not contain a query or a fragment.');
  const secure = url.protocol === 'https:';
  const host = bareHost(url.hostname);
  const port = Number(url.port) || (secure ? 443 : 80);
  const trusted = rules.allowPrivateHosts.some((entry) => hostOf(entry) === host);
  if (!trusted) {
    if (!(secure ? PORTS : INSECURE_PORTS).has(port))
      throw forbidden(`must use one of the ports ${[...PORTS].join(', ')}.`);
    if (isIP(host) === 0 ? isLocalName(host) : isSpecialAddress(host)) throw privateHost();
  }
  return { origin: url.origin, host, port, secure, basePath: url.pathname.replace(/\/+$/, ''), trusted };
};

export const privateHost = (): OutboundFault =>
  forbidden('must not lead to a private or reserved address, unless the operator allows that host.');

/** The host a rule names, as a URL would spell it; null = this is no host. */
export const hostOf = (entry: string): string | null => {
  const text = isIPv6(entry) ? `[${entry}]` : entry;
  if (!/^(\[[^\s/?#@\\[\]]+\]|[^\s/?#@\\:]+)$/.test(text)) return null; // no scheme, user, port or path
  try {
    return bareHost(new URL(`https://${text}`).hostname);
  } catch {
    return null;
  }
};

const parse = (address: string): URL => {
  try {
    return new URL(address);
  } catch {
    throw forbidden('must be a URL such as https://logs.example.com.');
  }
};

/** An IPv6 address has brackets only in a URL, and a name may end with the root's dot. */
const bareHost = (hostname: string): string => hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');

const isLocalName = (host: string): boolean =>
  host === '' || host === 'localhost' || host.endsWith('.localhost');
