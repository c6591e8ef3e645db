import type { IncomingMessage, ServerResponse } from 'node:http';
import fc from 'fast-check';
import t from 'tap';
import { defaultPace, readBody, type BodyRead, type Pace } from '../../../src/io/http/body.js';
import { sendReply } from '../../../src/io/http/reply.js';
import { echo, exchange, openFront, rawConnect, refusal, statuses, until } from './front.js';

const never = new AbortController().signal;

/** Reads bodies and keeps what came of it. */
const reader =
  (
    reads: BodyRead[],
    boundBytes: number,
    pace?: Pace,
    signal = never,
    begun: (req: IncomingMessage) => void = () => undefined,
  ) =>
  async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const reading = readBody(req, res, boundBytes, signal, pace);
    begun(req);
    const read = await reading;
    reads.push(read);
    await sendReply(refusal(read.ok ? 200 : 400, read.ok ? 'ok' : read.fault), req, res);
  };

const post = (body: string, ...headers: string[]): string =>
  `POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${headers.map((h) => `${h}\r\n`).join('')}\r\n${body}`;

const chunked = (pieces: string[]): string =>
  `${pieces.map((p) => `${p.length.toString(16)}\r\n${p}\r\n`).join('')}0\r\n\r\n`;

t.test('a body is read whole, with a length or in chunks, up to its bound', async (t) => {
  const reads: BodyRead[] = [];
  const front = await openFront(t, reader(reads, 10));
  for (const [request, wanted] of [
    [post('0123456789', 'Content-Length: 10'), '0123456789'],
    [post(chunked(['01234', '56789']), 'Transfer-Encoding: chunked'), '0123456789'],
    [post('', 'Content-Length: 0'), ''],
    [post(''), ''],
    [post(chunked([]), 'Transfer-Encoding: chunked'), ''],
  ] as const) {
    reads.length = 0;
    await exchange(front.port, request);
    t.match(reads, [{ ok: true }]);
    t.equal(reads[0]?.ok && reads[0].bytes.toString(), wanted);
  }
  for (const request of [
    post('0123456789a', 'Content-Length: 11'),
    post(chunked(['01234', '56789', 'a']), 'Transfer-Encoding: chunked'),
  ]) {
    reads.length = 0;
    await exchange(front.port, request);
    t.strictSame(reads, [{ ok: false, fault: 'too_large' }]);
  }
});

t.test('any cutting of a body into chunks and packets gives the same bytes', async (t) => {
  const reads: BodyRead[] = [];
  const front = await openFront(t, reader(reads, 1_000_000));
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ minLength: 1, maxLength: 3_000 }), { maxLength: 12 }),
      fc.array(fc.nat(20_000), { maxLength: 6 }),
      async (texts, cuts) => {
        const pieces = texts.map((text) => Buffer.from(text).toString('latin1'));
        const request = post(chunked(pieces), 'Transfer-Encoding: chunked');
        const marks = [0, ...cuts.map((c) => c % request.length).sort((a, b) => a - b), request.length];
        reads.length = 0;
        await exchange(front.port, ...marks.slice(1).map((mark, i) => request.slice(marks[i], mark)));
        const read = reads[0];
        return read?.ok === true && read.bytes.toString('latin1') === pieces.join('');
      },
    ),
    { numRuns: 40 },
  );
});

t.test('D11 a body of 100 MB is answered with 413 while it is still being sent', async (t) => {
  for (const [what, headers, framed] of [
    ['with a length', 'Content-Length: 104857600\r\n', false],
    ['in chunks', 'Transfer-Encoding: chunked\r\n', true],
    ['with a length, expecting to go on', 'Content-Length: 104857600\r\nExpect: 100-continue\r\n', false],
  ] as const)
    await t.test(what, async (t) => {
      let bytesRead = 0;
      const handle = echo([], 65_536);
      const front = await openFront(t, async (req, res) => {
        const { socket } = req;
        res.on('close', () => (bytesRead = socket.bytesRead));
        return handle(req, res);
      });
      const client = await rawConnect(front.port);
      client.socket.write(`POST / HTTP/1.1\r\nHost: a\r\n${headers}\r\n`);
      const block = Buffer.alloc(65_536, 'x');
      const piece = framed ? Buffer.concat([Buffer.from('10000\r\n'), block, Buffer.from('\r\n')]) : block;
      let sentBytes = 0;
      const pour = (): void => {
        while (!client.socket.destroyed && sentBytes < 104_857_600) {
          sentBytes += piece.length;
          if (!client.socket.write(piece)) return;
        }
      };
      client.socket.on('drain', pour);
      pour();
      await client.closed;
      t.strictSame(statuses(client.text()), [413]);
      t.match(client.text(), /Connection: close\r\n/);
      t.ok(sentBytes < 104_857_600, 'the client could not send it all');
      t.ok(bytesRead < 1_048_576, `the gateway read only ${bytesRead} bytes`);
    });
});

t.test('a slow body is given up', async (t) => {
  /** Sends pieces of a body of 500,000 bytes under a clock that only the test moves. */
  const send = async (pieceBytes: number, pausesMs: readonly number[]): Promise<BodyRead | undefined> => {
    let nowMs = 0;
    const clock = { nowMs: () => nowMs, ticksMs: () => nowMs };
    const reads: BodyRead[] = [];
    const reqs: IncomingMessage[] = [];
    const pace = { ...defaultPace, clock, checkEveryMs: 2 };
    const front = await openFront(
      t,
      reader(reads, 1_000_000, pace, never, (req) => reqs.push(req)),
    );
    const client = await rawConnect(front.port);
    client.socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 500000\r\n\r\n');
    await until(() => reqs.length === 1);
    let arrivedBytes = reqs[0]!.socket.bytesRead;
    for (const pauseMs of pausesMs) {
      client.socket.write('x'.repeat(pieceBytes));
      arrivedBytes += pieceBytes;
      await until(() => reqs[0]!.socket.bytesRead === arrivedBytes);
      nowMs += pauseMs;
    }
    await until(() => reads.length === 1);
    client.socket.destroy();
    return reads[0];
  };
  t.strictSame(await send(100_000, [30_001]), { ok: false, fault: 'timeout' }, 'silent for 30 s');
  t.strictSame(await send(1_000, [10_001]), { ok: false, fault: 'timeout' }, 'under 1 KiB/s');
  t.match(await send(125_000, [29_000, 29_000, 29_000, 0]), { ok: true }, 'slow but steady is let through');
});

t.test('an upload that breaks off, or a gateway that stops, is told as aborted', async (t) => {
  const reads: BodyRead[] = [];
  const stop = new AbortController();
  let begun = 0;
  const front = await openFront(
    t,
    reader(reads, 1_000, undefined, stop.signal, () => begun++),
  );
  const start = async () => {
    const client = await rawConnect(front.port);
    client.socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc');
    const before = begun;
    await until(() => begun > before);
    return client;
  };
  (await start()).socket.destroy();
  await until(() => reads.length === 1);
  (await start()).socket.end();
  await until(() => reads.length === 2);
  const client = await start();
  stop.abort();
  await until(() => reads.length === 3);
  await client.closed;
  (await start()).socket.destroy();
  await until(() => reads.length === 4);
  for (const read of reads) t.strictSame(read, { ok: false, fault: 'aborted' });
});

t.test('a short body nobody reads does not cost the connection', async (t) => {
  const front = await openFront(t, async (req, res) => sendReply(refusal(404, 'not_found'), req, res));
  const client = await rawConnect(front.port);
  const request = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello';
  client.socket.write(request);
  await until(() => statuses(client.text()).length === 1);
  client.socket.write(request);
  await until(() => statuses(client.text()).length === 2);
  t.strictSame(statuses(client.text()), [404, 404]);
  client.socket.destroy();
});
