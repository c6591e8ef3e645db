import type { Readable } from 'node:stream';
import { UpstreamFault } from './provider.js';

const cutOff = (body: Readable): Error =>
  body.errored ?? new UpstreamFault('reset', 'The answer was cut off.');

/** The whole body; above the bound it is cut off and the answer counts as unreadable. */
export const readWhole = (body: Readable, boundBytes: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    body
      .on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > boundBytes)
          body.destroy(new UpstreamFault('unreadable', `The answer is larger than ${boundBytes} bytes.`));
        else chunks.push(chunk);
      })
      .on('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, bytes)))
      .on('error', reject)
      .on('close', () => {
        if (!body.readableEnded) reject(cutOff(body));
      });
    if (body.destroyed) reject(cutOff(body));
  });

/** The beginning of a body, as far as it comes within the bounds; the rest is dropped. Never throws. */
export const readStart = (body: Readable, boundBytes: number, boundMs: number): Promise<string> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const timer = setTimeout(() => body.destroy(), boundMs);
    const done = (): void => {
      clearTimeout(timer);
      body.destroy();
      resolve(Buffer.concat(chunks).subarray(0, boundBytes).toString());
    };
    body
      .on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > boundBytes) body.destroy();
      })
      .on('end', done)
      .on('error', done)
      .on('close', done);
    if (body.destroyed) done();
  });
