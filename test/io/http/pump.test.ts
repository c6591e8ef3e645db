import { request, type IncomingMessage, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import t from 'tap';
import { json, type Out, type Reply, type Stage, type StreamReply } from '../../../src/core/exchange.js';
import { sendReply, type SendOptions, type Sent } from '../../../src/io/http/reply.js';
import { openFront, rawConnect, until } from './front.js';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

/** A source the test pushes into; `reads` counts how often more was asked for. */
const openSource = (): Readable & { reads: number } => {
  const source = Object.assign(new Readable({ read: () => (source.reads += 1) }), { reads: 0 });
  return source;
};

const failWords = (error: unknown): Buffer =>
  Buffer.from(`[failed: ${error instanceof Error ? error.message : 'x'}]`);

/** Passes everything on, but for what the test puts in its place. */
const stageWith = (parts: Partial<Stage> = {}): Stage => ({
  done: false,
  feed: (chunk) => chunk,
  end: () => null,
  fail: failWords,
  leave: () => {},
  early: () => null,
  ...parts,
});

const streamOf = (source: Readable, stage = stageWith(), more: Partial<StreamReply> = {}): StreamReply => ({
  kind: 'stream',
  status: 200,
  source,
  stage,
  heartbeat: null,
  ...more,
});

interface Exchange {
  /** What the client has received of the body so far. */
  readonly text: () => string;
  readonly client: ReturnType<typeof request>;
  readonly response: Promise<IncomingMessage>;
  /** Resolves when the client's side is over; says whether the body came to its proper end. */
  readonly closed: Promise<boolean>;
  readonly sent: Promise<Sent>;
  readonly res: Promise<ServerResponse>;
  /** How many listeners the reply left on the response. */
  readonly leftOver: () => Promise<number>;
}

/** The listeners a reply must take away again. */
const listenersOn = (res: ServerResponse): number =>
  ['close', 'finish', 'drain'].reduce((sum, event) => sum + res.listenerCount(event), 0);

/** One request, answered by `reply`; an error thrown before the head is answered with 502. */
const run = async (
  t: Parameters<typeof openFront>[0],
  reply: Reply,
  options: SendOptions = {},
): Promise<Exchange> => {
  let tellSent: (sent: Sent) => void;
  let failSent: (error: unknown) => void;
  let tellRes: (res: ServerResponse) => void;
  const sent = new Promise<Sent>((resolve, reject) => {
    tellSent = resolve;
    failSent = reject;
  });
  sent.catch(() => undefined);
  const res = new Promise<ServerResponse>((resolve) => (tellRes = resolve));
  let before = 0;
  const front = await openFront(t, async (req, serverRes) => {
    before = listenersOn(serverRes);
    const sending = sendReply(reply, req, serverRes, options);
    tellRes(serverRes);
    try {
      tellSent(await sending);
    } catch (error) {
      failSent(error);
      await sendReply(json({}, 502), req, serverRes);
    }
  });
  const client = request({ port: front.port, agent: false });
  client.on('error', () => undefined);
  const chunks: Buffer[] = [];
  let tellClosed: (complete: boolean) => void;
  const closed = new Promise<boolean>((resolve) => (tellClosed = resolve));
  const response = new Promise<IncomingMessage>((resolve) => {
    client.on('response', (message) => {
      message.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => undefined);
      message.on('close', () => tellClosed(message.complete));
      resolve(message);
    });
  });
  client.end();
  const leftOver = async (): Promise<number> => listenersOn(await res) - before + 1; // the listener's own has gone
  return { text: () => Buffer.concat(chunks).toString(), client, response, closed, sent, res, leftOver };
};

const sourceListeners = (source: Readable): number =>
  ['data', 'end', 'close'].reduce((sum, event) => sum + source.listenerCount(event), 0);

t.test('4.10 a stream goes through its stage and ends with what the stage adds', async (t) => {
  const source = openSource();
  const stage = stageWith({
    feed: (chunk) => Buffer.from(chunk.toString().toUpperCase()),
    end: () => Buffer.from('!'),
  });
  const { text, response, closed, sent, leftOver } = await run(
    t,
    streamOf(source, stage, { headers: { 'x-a': 'b' } }),
    {
      headers: { 'x-request-id': 'req_1' },
    },
  );
  source.push('one ');
  await until(() => text() === 'ONE ');
  source.push('two');
  source.push(null);
  t.equal(await closed, true);
  t.equal(text(), 'ONE TWO!');
  t.strictSame(await sent, { delivery: 'complete', bytes: 8, cause: undefined });
  t.match((await response).headers, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
    'x-content-type-options': 'nosniff',
    'x-request-id': 'req_1',
    'x-a': 'b',
  });
  t.equal(sourceListeners(source), 0);
  t.ok(source.destroyed);
  t.equal(await leftOver(), 0);
});

t.test('the head waits for the first bytes the stage lets out', async (t) => {
  const source = openSource();
  const { response, res, sent, closed } = await run(
    t,
    streamOf(source, stageWith({ feed: (chunk) => (chunk.length > 1 ? chunk : null) })),
  );
  const serverRes = await res;
  source.push('a');
  await until(() => source.reads > 1);
  await turn();
  t.equal(serverRes.headersSent, false);
  source.push('bc');
  t.equal((await response).statusCode, 200);
  source.push(null);
  await closed;
  t.equal((await sent).bytes, 2);
});

t.test('a failure before the first bytes is thrown, so that an HTTP error can be answered', async (t) => {
  const explode = (): never => {
    throw new Error('stage');
  };
  const cases: Record<string, [act: (source: Readable) => void, parts: Partial<Stage>]> = {
    'the source fails': [(source) => source.destroy(new Error('upstream')), {}],
    'the source closes': [(source) => source.destroy(), {}],
    'the stage throws': [(source) => source.push('a'), { feed: explode }],
    'the stage rejects': [(source) => source.push('a'), { feed: async () => explode() }],
    'the stage throws at the end': [(source) => source.push(null), { end: explode }],
    'the stage rejects at the end': [(source) => source.push(null), { end: async () => explode() }],
  };
  for (const [what, [act, parts]] of Object.entries(cases))
    await t.test(what, async (t) => {
      const source = openSource();
      const { response, sent, closed, res } = await run(t, streamOf(source, stageWith(parts)));
      await res;
      act(source);
      await t.rejects(sent);
      t.equal((await response).statusCode, 502);
      t.equal(await closed, true);
      t.ok(source.destroyed);
      t.equal(sourceListeners(source), 0);
    });
  for (const error of [new Error('early'), undefined])
    await t.test(`the source had ${error ? 'failed' : 'closed'} before`, async (t) => {
      const source = openSource();
      source.on('error', () => undefined).destroy(error);
      await turn();
      const { response, sent, closed } = await run(t, streamOf(source));
      await t.rejects(sent, error ?? /closed its stream/);
      t.equal((await response).statusCode, 502);
      t.equal(await closed, true);
    });
  await t.test('the gateway stops', async (t) => {
    const stop = new AbortController();
    stop.abort(new Error('stopping'));
    const { response, sent, closed } = await run(t, streamOf(openSource()), { signal: stop.signal });
    await t.rejects(sent, { message: 'stopping' });
    t.equal((await response).statusCode, 502);
    await closed;
  });
  await t.test('a header is impossible', async (t) => {
    const source = openSource();
    source.push('a');
    const { response, sent, closed } = await run(
      t,
      streamOf(source, stageWith(), { headers: { 'x-a': 'b\nc' } }),
    );
    await t.rejects(sent, { code: 'ERR_INVALID_CHAR' });
    t.equal((await response).statusCode, 502);
    await closed;
    t.ok(source.destroyed);
  });
});

t.test('a failure after the first bytes ends the stream with the words of the stage', async (t) => {
  const cases: Record<string, [(source: Readable, stop: AbortController) => void, Partial<Stage>, string]> = {
    'the source fails': [(source) => source.destroy(new Error('reset')), {}, '[failed: reset]'],
    'the source closes': [
      (source) => source.destroy(),
      {},
      '[failed: The upstream closed its stream before the end.]',
    ],
    'the gateway stops': [(_source, stop) => stop.abort(new Error('stopping')), {}, '[failed: stopping]'],
    'the stage throws': [
      (source) => source.push('bad'),
      {
        feed: (chunk) => {
          if (chunk.toString() === 'bad') throw new Error('stage');
          return chunk;
        },
      },
      '[failed: stage]',
    ],
    'the stage rejects': [
      (source) => source.push('bad'),
      { feed: (chunk) => (chunk.toString() === 'bad' ? Promise.reject(new Error('stage')) : chunk) },
      '[failed: stage]',
    ],
    'the stage throws at the end': [
      (source) => source.push(null),
      {
        end: () => {
          throw new Error('stage');
        },
      },
      '[failed: stage]',
    ],
    'the words come later': [
      (source) => source.destroy(new Error('reset')),
      { fail: async (error) => turn().then(() => failWords(error)) },
      '[failed: reset]',
    ],
  };
  for (const [what, [fail, parts, words]] of Object.entries(cases))
    await t.test(what, async (t) => {
      const source = openSource();
      const stop = new AbortController();
      const { text, sent, closed, leftOver } = await run(t, streamOf(source, stageWith(parts)), {
        signal: stop.signal,
      });
      source.push('good ');
      await until(() => text() === 'good ');
      fail(source, stop);
      t.equal(await closed, true, 'the body is properly ended');
      t.equal(text(), `good ${words}`);
      t.match(await sent, { delivery: 'upstream_failed', bytes: text().length, cause: Error });
      t.ok(source.destroyed);
      t.equal(await leftOver(), 0);
    });
  await t.test('a stage that cannot even fail cuts the connection', async (t) => {
    const source = openSource();
    const fail = (): Out => {
      throw new Error('twice');
    };
    const { text, sent, closed } = await run(t, streamOf(source, stageWith({ fail })));
    source.push('good ');
    await until(() => text() === 'good ');
    source.destroy(new Error('reset'));
    t.equal(await closed, false, 'the client can tell that it was cut');
    t.match(await sent, { delivery: 'upstream_failed', cause: { message: 'reset' } });
  });
});

t.test('a stage that is done ends the stream at once and destroys the source', async (t) => {
  const source = openSource();
  let done = false;
  const stage: Stage = {
    ...stageWith(),
    get done() {
      return done;
    },
    feed: (chunk) => {
      done = chunk.toString() === 'stop';
      return chunk;
    },
  };
  const { text, sent, closed } = await run(t, streamOf(source, stage));
  source.push('go ');
  await until(() => text() === 'go ');
  source.push('stop');
  source.push('never read');
  t.equal(await closed, true);
  t.equal(text(), 'go stop');
  t.equal((await sent).delivery, 'complete');
  t.ok(source.destroyed);
});

t.test('a slow stage stops the source, and what it gives stays in order', async (t) => {
  const source = openSource();
  const open: (() => void)[] = [];
  const fed: string[] = [];
  const stage = stageWith({
    feed: (chunk) => {
      fed.push(chunk.toString());
      return new Promise((resolve) => open.push(() => resolve(chunk)));
    },
    end: async () => turn().then(() => Buffer.from('.')),
  });
  const { text, sent, closed } = await run(t, streamOf(source, stage));
  for (const piece of ['a', 'b', 'c']) source.push(piece);
  source.push(null);
  for (const wanted of [['a'], ['a', 'b'], ['a', 'b', 'c']]) {
    await until(() => open.length === 1);
    await turn();
    t.strictSame(fed, wanted, 'nothing is fed while the stage is busy');
    t.ok(source.isPaused());
    open.shift()!();
  }
  t.equal(await closed, true);
  t.equal(text(), 'abc.');
  t.equal((await sent).delivery, 'complete');
});

t.test('a source that fails while the stage is busy waits for its turn', async (t) => {
  const source = openSource();
  let open: ((chunk: Buffer) => void) | null = null;
  const stage = stageWith({
    feed: (chunk) => (chunk.length > 1 ? chunk : new Promise((resolve) => (open = resolve))),
  });
  const { text, sent, closed } = await run(t, streamOf(source, stage));
  source.push('first ');
  await until(() => text() === 'first ');
  source.push('x');
  await until(() => open !== null);
  source.destroy(new Error('reset'));
  await turn();
  t.equal(text(), 'first ');
  open!(Buffer.from('second '));
  t.equal(await closed, true);
  t.equal(text(), 'first second [failed: reset]');
  t.equal((await sent).delivery, 'upstream_failed');
});

t.test('chunks of one tick leave in one write', async (t) => {
  const source = openSource();
  const { text, res, sent, closed } = await run(t, streamOf(source));
  const serverRes = await res;
  let writes = 0;
  const write = serverRes.write.bind(serverRes) as (chunk: Buffer) => boolean;
  Object.assign(serverRes, { write: (chunk: Buffer) => (writes++, write(chunk)) });
  for (let i = 0; i < 10; i++) source.push(`${i}`);
  source.push(null);
  await closed;
  t.equal(text(), '0123456789');
  t.equal(writes, 1);
  await sent;
});

t.test('a client that leaves stops the source in the same tick', async (t) => {
  const source = openSource();
  const { text, client, res, sent } = await run(t, streamOf(source));
  source.push('x');
  await until(() => text() === 'x');
  const serverRes = await res;
  let destroyedThen: boolean | null = null;
  serverRes.on('close', () => (destroyedThen = source.destroyed));
  client.destroy();
  t.match(await sent, { delivery: 'client_left', bytes: 1 });
  t.equal(destroyedThen, true);
  t.equal(sourceListeners(source), 0);
});

t.test('a client that has left already costs the source its life, whatever the signal says', async (t) => {
  const source = openSource();
  const left = new AbortController();
  let sent: Sent | null = null;
  const front = await openFront(t, async (req, res) => {
    res.once('close', () => left.abort(new Error('left')));
    if (req.url === '/before') await new Promise((resolve) => res.once('close', resolve));
    sent = await sendReply(streamOf(source), req, res, { signal: left.signal });
  });
  const client = await rawConnect(front.port);
  client.socket.write(GET.replace('/', '/before'));
  await until(() => front.connections() === 1);
  client.socket.destroy();
  await until(() => sent !== null);
  t.match(sent, { delivery: 'client_left', bytes: 0 });
  t.ok(source.destroyed);
});

t.test('a reader that stops reading 200 MB stops the source, and memory stays flat', async (t) => {
  const total = 200_000_000;
  const block = Buffer.alloc(65_536, 'x');
  let produced = 0;
  let mostHeld = 0;
  let serverRes: ServerResponse | null = null;
  const source = new Readable({
    read() {
      produced += block.length;
      mostHeld = Math.max(mostHeld, serverRes?.writableLength ?? 0);
      this.push(produced <= total ? block : null);
    },
  });
  let sent: Sent | null = null;
  const front = await openFront(t, async (req, res) => {
    serverRes = res;
    sent = await sendReply(streamOf(source), req, res);
  });
  const client = await rawConnect(front.port);
  client.socket.removeAllListeners('data').pause();
  client.socket.write(GET);
  await until(
    () => serverRes !== null && serverRes.writableNeedDrain && source.isPaused(),
    'the source to be stopped',
  );
  t.ok(produced < 32_000_000, `${produced} bytes are with the kernel, no more were asked for`);
  const heldWhenStopped = produced;
  await wait(50);
  t.equal(produced, heldWhenStopped, 'and none are asked for while the reader sleeps');
  let received = 0;
  client.socket.on('data', (chunk) => (received += chunk.length));
  client.socket.resume();
  await until(() => sent !== null, 'the rest to be read');
  t.equal(sent!.delivery, 'complete');
  await until(() => received > sent!.bytes);
  t.ok(sent!.bytes > total - block.length);
  t.ok(mostHeld < 1_000_000, `at most ${mostHeld} bytes waited in the response`);
  client.socket.destroy();
});

t.test('a reader that has stopped for good is cut after the stall time', async (t) => {
  const source = new Readable({
    read() {
      this.push(Buffer.alloc(65_536));
    },
  });
  let sent: Sent | null = null;
  const front = await openFront(t, async (req, res) => {
    sent = await sendReply(streamOf(source), req, res, { writeStallMs: 50 });
  });
  const client = await rawConnect(front.port);
  client.socket.pause();
  client.socket.write(GET);
  await until(() => sent !== null);
  t.equal(sent!.delivery, 'client_left');
  t.ok(source.destroyed);
  client.socket.destroy();
});

t.test('an idle stream is not a stalled one', async (t) => {
  const source = openSource();
  const { text, sent, closed } = await run(t, streamOf(source), { writeStallMs: 20 });
  source.push('a');
  await until(() => text() === 'a');
  await wait(100);
  source.push('b');
  source.push(null);
  t.equal(await closed, true);
  t.equal((await sent).delivery, 'complete');
});

t.test('heartbeats fill a silence, only after the head and only between frames', async (t) => {
  const source = openSource();
  const heartbeat = { bytes: Buffer.from(': ping\n\n'), everyMs: 10 };
  const { text, res, sent, closed } = await run(t, streamOf(source, stageWith(), { heartbeat }));
  await wait(50);
  t.equal((await res).headersSent, false, 'no heartbeat opens the stream');
  source.push('data: 1\n');
  await until(() => text() === 'data: 1\n');
  await wait(50);
  t.equal(text(), 'data: 1\n', 'none inside a frame');
  source.push('\n');
  await until(() => text().includes(': ping\n\n: ping\n\n'));
  source.push('data: 2\r\n\r');
  source.push('\n');
  await until(() => /data: 2\r\n\r\n: ping/.test(text()));
  source.push(null);
  t.equal(await closed, true);
  t.match(text(), /^data: 1\n\n(: ping\n\n)+data: 2\r\n\r\n(: ping\n\n)+$/);
  t.equal((await sent).bytes, text().length);
});

t.test('any chunking, any slowness of stage and reader: the same bytes in order', async (t) => {
  let reply: StreamReply;
  let sent: Sent | null;
  const front = await openFront(t, async (req, res) => {
    sent = await sendReply(reply, req, res);
  });
  const piece = fc.record({
    length: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 200_000 })),
    how: fc.constantFrom('at once', 'later', 'held back', 'after a turn of the source'),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { maxLength: 30 }),
      fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 20 }),
      async (pieces, naps) => {
        const chunks = pieces.map(({ length }, i) => Buffer.alloc(length, `${i}-${length};`));
        const source = openSource();
        let held: Buffer[] = [];
        const letOut = (): Buffer => {
          const out = Buffer.concat(held);
          held = [];
          return out;
        };
        let fed = 0;
        const stage = stageWith({
          feed: (chunk) => {
            held.push(chunk);
            const how = pieces[fed++ % pieces.length]!.how;
            if (how === 'held back') return null;
            return how === 'later' ? turn().then(letOut) : letOut();
          },
          end: letOut,
        });
        reply = streamOf(source, stage);
        sent = null;
        const got: Buffer[] = [];
        const done = new Promise<void>((resolve, reject) => {
          const client = request({ port: front.port, agent: false }, (message) => {
            let count = 0;
            message.on('data', (chunk: Buffer) => {
              got.push(chunk);
              const turns = naps[count++ % naps.length]!;
              if (turns === 0) return;
              message.pause();
              let wake: Promise<unknown> = Promise.resolve();
              for (let i = 0; i < turns; i++) wake = wake.then(() => turn());
              void wake.then(() => message.resume());
            });
            message.on('end', resolve).on('error', reject);
          });
          client.on('error', reject).end();
        });
        for (const [i, chunk] of chunks.entries()) {
          if (pieces[i]!.how === 'after a turn of the source') await turn();
          source.push(chunk);
        }
        source.push(null);
        await done;
        await until(() => sent !== null);
        const wanted = Buffer.concat(chunks);
        return (
          sent!.delivery === 'complete' && sent!.bytes === wanted.length && Buffer.concat(got).equals(wanted)
        );
      },
    ),
    { numRuns: 60 },
  );
});
