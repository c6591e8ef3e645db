import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';

/** A certificate authority made for one test, and what it signs. Written out by hand: Node reads certificates only. */
export interface Authority {
  readonly pem: string;
  issue(names: { readonly dns?: string; readonly ip?: string }): {
    readonly key: string;
    readonly cert: string;
  };
}

const der = (tag: number, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  const size = body.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
};

const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, ...parts);
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const TRUE = Buffer.from([1, 1, 255]);
const ECDSA_SHA256 = sequence(oid('2a8648ce3d040302'));
const named = (name: string): Buffer =>
  sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(name)))));
const time = (at: Date): Buffer =>
  der(0x17, Buffer.from(`${at.toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`));
const extension = (id: string, critical: boolean, value: Buffer): Buffer =>
  sequence(oid(id), ...(critical ? [TRUE] : []), der(0x04, value));

let serial = 0;

const certify = (
  subject: string,
  subjectKey: KeyObject,
  issuerKey: KeyObject,
  extensions: Buffer,
): string => {
  const nowMs = Date.now();
  const content = sequence(
    der(0xa0, Buffer.from([2, 1, 2])),
    der(0x02, Buffer.from([++serial])),
    ECDSA_SHA256,
    named('Test Authority'),
    sequence(time(new Date(nowMs - 3_600_000)), time(new Date(nowMs + 86_400_000))),
    named(subject),
    subjectKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(extensions)),
  );
  const signature = sign('sha256', content, issuerKey);
  const whole = sequence(content, ECDSA_SHA256, der(0x03, Buffer.from([0]), signature));
  const lines = whole.toString('base64').replace(/.{64}/g, '$&\n');
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
};

export const createAuthority = (): Authority => {
  const authority = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = certify(
    'Test Authority',
    authority.publicKey,
    authority.privateKey,
    extension('551d13', true, sequence(TRUE)),
  );
  return {
    pem,
    issue: ({ dns, ip }) => {
      const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const names = [
        ...(dns === undefined ? [] : [der(0x82, Buffer.from(dns))]),
        ...(ip === undefined ? [] : [der(0x87, Buffer.from(ip.split('.').map(Number)))]),
      ];
      return {
        key: own.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
        cert: certify(
          'Test Server',
          own.publicKey,
          authority.privateKey,
          extension('551d11', false, sequence(...names)),
        ),
      };
    },
  };
};
