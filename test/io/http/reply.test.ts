import { request, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import t from 'tap';
import { json, type Reply } from '../../../src/core/exchange.js';
import { sendReply, type SendOptions, type Sent } from '../../../src/io/http/reply.js';
import { exchange, openFront, rawConnect, until, reply as replyWith } from './front.js';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

/** Sends one reply to a plain client and gives what that client saw. */
const see = async (
  t: Parameters<typeof openFront>[0],
  reply: Reply,
  options: SendOptions = {},
  method = 'GET',
): Promise<{ res: IncomingMessage; body: string; sent: Sent }> => {
  let sent: Sent | null = null;
  const front = await openFront(
    t,
    replyWith(
      () => reply,
      (s) => (sent = s),
      options,
    ),
  );
  const res = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ port: front.port, method, agent: false }, resolve).on('error', reject).end();
  });
  const chunks: Buffer[] = [];
  for await (const chunk of res) chunks.push(chunk as Buffer);
  await until(() => sent !== null);
  return { res, body: Buffer.concat(chunks).toString(), sent: sent! };
};

t.test('a JSON reply has its length, its headers, and is neither sniffed nor stored', async (t) => {
  const { res, body, sent } = await see(t, json({ é: 1 }, 201, { 'x-own': 'reply' }), {
    headers: { 'x-request-id': 'req_1', 'x-own': 'option' },
  });
  t.equal(res.statusCode, 201);
  t.equal(body, '{"é":1}');
  t.match(res.headers, {
    'content-type': 'application/json',
    'content-length': '8',
    'x-request-id': 'req_1',
    'x-own': 'reply',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  });
  t.strictSame(sent, { delivery: 'complete', bytes: 8 });
});

t.test('a bytes reply goes out as it is, and may say how it is cached', async (t) => {
  const { res, body, sent } = await see(t, {
    kind: 'bytes',
    status: 200,
    contentType: 'text/css',
    headers: { 'cache-control': 'max-age=60' },
    body: Buffer.alloc(300_000, 'x'),
  });
  t.equal(body.length, 300_000);
  t.match(res.headers, {
    'content-type': 'text/css',
    'content-length': '300000',
    'cache-control': 'max-age=60',
  });
  t.strictSame(sent, { delivery: 'complete', bytes: 300_000 });
});

t.test('HEAD gets the head of what GET would get', async (t) => {
  const { res, body, sent } = await see(t, json({ a: 1 }), {}, 'HEAD');
  t.equal(res.headers['content-length'], '7');
  t.equal(body, '');
  t.equal(sent.bytes, 0);
});

t.test('HEAD of a stream has no body and destroys the source', async (t) => {
  const source = new Readable({ read: () => undefined });
  const stage = {
    done: false,
    feed: (c: Buffer) => c,
    end: () => null,
    fail: () => null,
    leave: () => undefined,
    early: () => null,
  };
  const { res, sent } = await see(
    t,
    { kind: 'stream', status: 200, source, stage, heartbeat: null },
    {},
    'HEAD',
  );
  t.match(res.headers['content-type'], /event-stream/);
  t.equal(sent.delivery, 'complete');
  t.ok(source.destroyed);
});

t.test('a reply without a body says nothing about its length', async (t) => {
  const { res, body } = await see(t, { kind: 'bytes', status: 304, contentType: 'text/css', body: '' });
  t.equal(res.statusCode, 304);
  t.equal(res.headers['content-length'], undefined);
  t.equal(body, '');
});

t.test('a reply that cannot be sent throws while an error can still be answered', async (t) => {
  const circular: { self?: unknown } = {};
  circular.self = circular;
  const attempts: Reply[] = [json(circular), json(1n), json({}, 200, { 'x-bad': 'a\r\nb' }), json({}, 42)];
  const front = await openFront(t, async (req, res) => {
    await t.rejects(sendReply(attempts.shift()!, req, res));
    await sendReply(json({ sorry: true }, 500), req, res);
  });
  for (let left = attempts.length; left > 0; left--)
    t.match(await exchange(front.port, GET), /^HTTP\/1\.1 500 [^]*\{"sorry":true\}$/);
});

t.test('a client that leaves before or while it is answered is told as gone', async (t) => {
  const sents: Sent[] = [];
  let arrived = 0;
  const front = await openFront(t, async (req, res) => {
    arrived++;
    if (req.url === '/before') await new Promise((resolve) => res.once('close', resolve));
    sents.push(
      await sendReply(
        { kind: 'bytes', status: 200, contentType: 'text/plain', body: Buffer.alloc(50_000_000) },
        req,
        res,
      ),
    );
  });
  for (const path of ['/before', '/while']) {
    const client = await rawConnect(front.port);
    client.socket.pause();
    client.socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    const before = arrived;
    await until(() => arrived > before);
    client.socket.destroy();
    await until(() => sents.length === arrived);
  }
  t.strictSame(
    sents.map((sent) => sent.delivery),
    ['client_left', 'client_left'],
  );
});

t.test('a client that reads nothing of a large reply is cut', async (t) => {
  const sents: Sent[] = [];
  const body = Buffer.alloc(50_000_000);
  const front = await openFront(
    t,
    replyWith(
      () => ({ kind: 'bytes', status: 200, contentType: 'text/plain', body }),
      (s) => sents.push(s),
      { writeStallMs: 50 },
    ),
  );
  const client = await rawConnect(front.port);
  client.socket.pause();
  client.socket.write(GET);
  await until(() => sents.length === 1);
  t.equal(sents[0]!.delivery, 'client_left');
  t.ok(sents[0]!.bytes < body.length);
  client.socket.destroy();
});

t.test('a tunnel is opened with the common headers, and its end is told', async (t) => {
  const sents: (Sent | string)[] = [];
  const endings: Record<string, Reply & { kind: 'tunnel' }> = {
    '/good': {
      kind: 'tunnel',
      open: async (_req, res, headers) => {
        res.writeHead(200, headers);
        await new Promise<void>((resolve) => res.end('through', resolve));
      },
    },
    '/refused': { kind: 'tunnel', open: async () => Promise.reject(new Error('no route')) },
    '/cut': {
      kind: 'tunnel',
      open: async (_req, res) => {
        res.write('half');
        throw new Error('cut');
      },
    },
  };
  const front = await openFront(t, async (req, res) => {
    try {
      sents.push(
        await sendReply(endings[req.url ?? '']!, req, res, { headers: { 'x-request-id': 'req_1' } }),
      );
    } catch (error) {
      sents.push(String(error));
      await sendReply(json({}, 502), req, res);
    }
  });
  const get = async (path: string): Promise<string> => exchange(front.port, GET.replace('/', path));
  t.match(await get('/good'), /x-request-id: req_1[^]*through/);
  t.match(await get('/refused'), /^HTTP\/1\.1 502/);
  await get('/cut');
  await until(() => sents.length === 3);
  t.match(sents, [
    { delivery: 'complete' },
    /no route/,
    { delivery: 'upstream_failed', cause: { message: 'cut' } },
  ]);
  t.ok((sents[0] as Sent).bytes > 'through'.length);
});
