import { X509Certificate, createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Config } from '../../config/schema.js';
import { probe } from '../healthcheck.js';
import { fail, ok, reasonOf, warn, type Finding } from './finding.js';

export function examineNode(version = process.versions.node): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 18)) return fail('node', version, 'install Node 22 or 24');
  if (major === 20)
    return warn('node', `${version} gets no more security fixes`, 'run Node 22 or 24 in production');
  if (major % 2 === 1)
    return warn('node', `${version} is a short-lived release`, 'run Node 22 or 24 in production');
  return ok('node', version);
}

const tryPort = (host: string, port: number): Promise<string | null> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(reasonOf(error)));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });

export async function examinePort(config: Config): Promise<Finding[]> {
  const { host, port, admin_port: adminPort } = config.server;
  const doors = [{ what: 'port', host, port }];
  if (adminPort !== null) doors.push({ what: 'admin port', host: '0.0.0.0', port: adminPort });
  const findings: Finding[] = [];
  for (const door of doors) {
    const place = `${door.host}:${door.port}`;
    const reason = await tryPort(door.host, door.port);
    if (reason === null) findings.push(ok(door.what, `${place} is free`));
    else if (reason === 'EADDRINUSE' && (await probe(config, '/healthz', 1_000)) === 200)
      findings.push(ok(door.what, `${place} is served by a running gateway`));
    else
      findings.push(
        fail(door.what, `${place}: ${reason}`, hints[reason] ?? 'choose another server.host or port'),
      );
  }
  return findings;
}

const hints: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there: stop it or change the port',
  EADDRNOTAVAIL: 'server.host is no address of this machine',
  EACCES: 'ports below 1024 need the privilege to bind them',
};

const SOON_MS = 14 * 86_400_000;

export function examineTls({ server: { tls } }: Config, nowMs = Date.now()): Finding[] {
  if (!tls) return [];
  try {
    const certificate = new X509Certificate(readFileSync(tls.cert));
    if (!certificate.checkPrivateKey(createPrivateKey(readFileSync(tls.key))))
      return [
        fail('tls', 'the key does not belong to the certificate', 'check server.tls.cert and server.tls.key'),
      ];
    const leftMs = Date.parse(certificate.validTo) - nowMs;
    const until = `valid until ${certificate.validTo}`;
    if (leftMs < 0) return [fail('tls', `was ${until}`, 'renew the certificate')];
    return [leftMs < SOON_MS ? warn('tls', until, 'renew the certificate soon') : ok('tls', until)];
  } catch (error) {
    return [fail('tls', reasonOf(error), 'check server.tls.cert and server.tls.key')];
  }
}
