import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { readFileSync } from 'node:fs';
import { lookup } from 'node:dns/promises';
import { connect as connectTls } from 'node:tls';
import type { Config, ProviderConfig } from '../../config/schema.js';
import { fail, milliseconds, ok, reasonOf, warn, type Finding } from './finding.js';

const TIMEOUT_MS = 5_000;

/** Whether every provider can be reached: name, connection, certificate. No request is sent, so nothing is paid. */
export async function examineProviders({ providers, auth }: Config): Promise<Finding[]> {
  const findings = await Promise.all(
    Object.entries(providers).map(([name, provider]) => examineProvider(`provider ${name}`, provider)),
  );
  const { jwt } = auth;
  if (jwt.enabled && jwt.jwks_url !== '') findings.push([await examineAddress('jwks', jwt.jwks_url, '')]);
  return findings.flat();
}

async function examineProvider(what: string, provider: ProviderConfig): Promise<Finding[]> {
  if (provider.kind === 'simulator') return [ok(what, 'simulator')];
  const { base_url: base, proxy_url: proxy, ca_file: ca, api_key: key, headers } = provider;
  const findings = [
    proxy === '' ? await examineAddress(what, base, ca) : await examineAddress(`${what} (proxy)`, proxy, ''),
  ];
  const local = ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(base).hostname);
  if (key === '' && Object.keys(headers).length === 0 && !local)
    findings.push(warn(what, 'has no api_key', 'set it, or the provider will refuse every call'));
  return findings;
}

async function examineAddress(what: string, address: string, caFile: string): Promise<Finding> {
  const url = new URL(address);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const secure = url.protocol === 'https:';
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
  try {
    if (isIP(host) === 0) await lookup(host);
  } catch (error) {
    return fail(what, `the name ${host} is not known (${reasonOf(error)})`, 'check its address and the DNS');
  }
  try {
    const startMs = performance.now();
    await shakeHands(host, port, secure, caFile === '' ? undefined : readFileSync(caFile, 'utf8'));
    return ok(
      what,
      `${host}:${port} reached in ${milliseconds(performance.now() - startMs)}${secure ? ', certificate good' : ''}`,
    );
  } catch (error) {
    const hint = secure ? 'check the network, the proxy and ca_file' : 'check that it runs and the network';
    return fail(what, `${host}:${port}: ${reasonOf(error)}`, hint);
  }
}

const shakeHands = (host: string, port: number, secure: boolean, ca: string | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const name = isIP(host) === 0 ? { servername: host } : {};
    const socket: Socket = secure
      ? connectTls({ host, port, ...name, ...(ca !== undefined && { ca }) })
      : connectTcp({ host, port });
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error('no answer in time')));
    socket.once('error', reject).once(secure ? 'secureConnect' : 'connect', () => {
      socket.destroy();
      resolve();
    });
  });
