import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { startFakeServer, type FakeOptions, type FakeReply, type FakeServer } from './fake-server.js';

export const S3_KEY = { id: 'S3RVER', secret: 'S3RVER' } as const;

interface S3rverLike {
  run(): Promise<AddressInfo>;
  close(): Promise<void>;
  readonly httpServer: { closeAllConnections(): void };
}
type S3rverClass = new (options: object) => S3rverLike;

/** An S3 server in this process that checks signatures, dates and buckets. The key is S3_KEY. */
export const startS3 = async (
  buckets: readonly string[],
): Promise<{ readonly url: string; readonly folder: string; close(): Promise<void> }> => {
  const S3rver = createRequire(import.meta.url)('@20minutes/s3rver') as S3rverClass;
  const folder = mkdtempSync(join(tmpdir(), 'sluice-s3-'));
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: folder,
    configureBuckets: buckets.map((name) => ({ name })),
  });
  const { port } = await server.run();
  return {
    url: `http://127.0.0.1:${port}`,
    folder,
    close: async () => {
      server.httpServer.closeAllConnections();
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

export interface FakeS3Options extends FakeOptions {
  /** The store's clock. */
  readonly nowMs?: () => number;
}

export interface FakeS3 extends FakeServer {
  /** Objects by their path, as they came. */
  readonly objects: Map<string, Buffer>;
  /** The events in them, in the order of the objects' names. */
  events(): Readonly<Record<string, unknown>>[];
}

const SKEW_MS = 900_000;

export const s3Error = (
  status: number,
  code: string,
  more = '',
  headers: Record<string, string> = {},
): FakeReply => ({
  status,
  headers: { 'content-type': 'application/xml', ...headers },
  body: `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>no</Message>${more}</Error>`,
});

/** A store that keeps what it is given and looks at nothing but the clock. */
export const startFakeS3 = async (options: FakeS3Options = {}): Promise<FakeS3> => {
  const { nowMs = Date.now } = options;
  const objects = new Map<string, Buffer>();
  const server = await startFakeServer(({ method, path, headers, raw }) => {
    const date = { date: new Date(nowMs()).toUTCString() };
    const sent = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(String(headers['x-amz-date']));
    if (!sent || !String(headers.authorization).startsWith('AWS4-HMAC-SHA256 '))
      return s3Error(403, 'AccessDenied', '', date);
    const [, y, mo, d, h, mi, s] = sent.map(Number);
    if (Math.abs(Date.UTC(y!, mo! - 1, d, h, mi, s) - nowMs()) > SKEW_MS)
      return s3Error(403, 'RequestTimeTooSkewed', '', date);
    if (method !== 'PUT') return s3Error(405, 'MethodNotAllowed', '', date);
    objects.set(path, raw);
    return { status: 200, headers: date };
  }, options);
  return {
    ...server,
    objects,
    events: () =>
      [...objects.values()].flatMap((body) =>
        gunzipSync(body)
          .toString()
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>),
      ),
  };
};
