import { once } from 'node:events';
import { request } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import t from 'tap';
import { json } from '../../../src/core/exchange.js';
import { listen } from '../../../src/io/http/listen.js';
import { sendReply } from '../../../src/io/http/reply.js';
import { echo, exchange, openFront, options, rawConnect, statuses, until } from './front.js';
import { selfSigned } from './self-signed.js';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const hello = async (req: IncomingMessage, res: ServerResponse): Promise<unknown> =>
  sendReply(json({ hello: true }), req, res);

t.test('headers that come too slowly are answered with 408 and the connection is closed', async (t) => {
  const front = await openFront(t, hello, { limits: { headersTimeoutMs: 40, checkEveryMs: 10 } });
  const text = await exchange(front.port, 'GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ');
  t.strictSame(statuses(text), [408]);
  t.match(text, /\{"error":\{"code":"timeout"\}\}$/);
});

t.test('no time limit of the listener cuts an answer that takes long', async (t) => {
  const tight = { headersTimeoutMs: 20, requestTimeoutMs: 20, keepAliveMs: 20, checkEveryMs: 5 };
  const front = await openFront(
    t,
    async (_req, res) => {
      res.write('slow ');
      await wait(150);
      res.end('answer');
    },
    { limits: tight },
  );
  const text = await exchange(front.port, GET);
  t.match(text, /slow [^]*answer\r\n0\r\n\r\n$/);
});

t.test('too many or too large headers are answered with 431 and the connection is closed', async (t) => {
  const seen: string[] = [];
  const front = await openFront(t, echo(seen));
  const withHeaders = (count: number, value = 'v'): string =>
    `GET / HTTP/1.1\r\nHost: a\r\n${Array.from({ length: count - 1 }, (_, i) => `h${i}: ${value}\r\n`).join('')}\r\n`;
  for (const [what, request] of Object.entries({
    '10,000 headers': withHeaders(10_000),
    '2,000 headers of 500 bytes': withHeaders(2_000, 'x'.repeat(500)),
    '2,500 headers within the size': `GET / HTTP/1.1\r\nHost: a\r\n${'a:\r\n'.repeat(2_500)}\r\n`,
    '101 headers': withHeaders(101),
    'a header of 20 KB': withHeaders(2, 'x'.repeat(20_000)),
    'a target of 20 KB': `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
  })) {
    const text = await exchange(front.port, request);
    t.strictSame(statuses(text), [431], what);
    t.match(text, /"headers_too_large"/, what);
  }
  t.strictSame(seen, []);
  const client = await rawConnect(front.port);
  client.socket.write(withHeaders(100));
  await until(() => client.text().includes('200 OK'), '100 headers to pass');
  client.socket.destroy();
});

t.test('a handler that throws costs its own connection only', async (t) => {
  const complaints: string[] = [];
  const log = { ...options.log, error: (_fields: object, message: string) => void complaints.push(message) };
  const front = await openFront(
    t,
    async (req, res) => {
      if (req.url === '/bad') throw new Error('bad');
      return hello(req, res);
    },
    { log },
  );
  t.equal(await exchange(front.port, 'GET /bad HTTP/1.1\r\nHost: a\r\n\r\n'), '');
  t.equal(complaints.length, 1);
  const client = await rawConnect(front.port);
  client.socket.write(GET);
  await until(() => client.text().includes('hello'));
  client.socket.destroy();
});

t.test('a client that resets at any moment harms nobody', async (t) => {
  const front = await openFront(t, echo([]));
  for (const text of ['', 'GET', GET, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc']) {
    const client = await rawConnect(front.port);
    if (text !== '') await new Promise((resolve) => client.socket.write(text, resolve));
    client.socket.resetAndDestroy();
    await client.closed;
  }
  await until(() => front.connections() === 0);
  t.strictSame(statuses(await exchange(front.port, 'GET / HTTP/1.0\r\n\r\n')), [200]);
});

t.test('a port that is taken is told at once', async (t) => {
  const front = await openFront(t, hello);
  await t.rejects(
    listen({ ...options, port: front.port }, async () => undefined),
    { code: 'EADDRINUSE' },
  );
});

t.test('100 Continue goes out when the body is read, and only then', async (t) => {
  const front = await openFront(t, echo([], 100));
  const head = (path: string, length: number): string =>
    `POST ${path} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`;
  const client = await rawConnect(front.port);
  client.socket.write(head('/read', 5));
  await until(() => client.text() === 'HTTP/1.1 100 Continue\r\n\r\n');
  client.socket.write('hello');
  await until(() => client.text().includes('"body":"hello"'));
  client.socket.destroy();
  t.strictSame(statuses(await exchange(front.port, head('/too-large', 101))), [413]);
  t.strictSame(statuses(await exchange(front.port, head('/../bad', 5))), [400]);
});

t.test('draining', async (t) => {
  await t.test('idle connections close at once, new ones are refused', async (t) => {
    const front = await openFront(t, hello);
    const fresh = await rawConnect(front.port);
    const used = await rawConnect(front.port);
    used.socket.write(GET);
    await until(() => used.text().includes('hello'));
    await until(() => front.connections() === 2);
    t.equal(await front.drain(60_000), 0);
    await Promise.all([fresh.closed, used.closed]);
    await t.rejects(rawConnect(front.port), { code: 'ECONNREFUSED' });
  });

  await t.test('answers under way finish and close their connection', async (t) => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let started = 0;
    const front = await openFront(t, async (req, res) => {
      started++;
      if (req.url === '/streaming') res.write('first ');
      await held;
      if (req.url === '/streaming') res.end('last');
      else await hello(req, res);
    });
    const clients = [
      await rawConnect(front.port),
      await rawConnect(front.port),
      await rawConnect(front.port),
    ];
    clients[0]!.socket.write(GET);
    clients[1]!.socket.write('GET /streaming HTTP/1.1\r\nHost: a\r\n\r\n');
    clients[2]!.socket.write('GET / HTTP/1.1\r\nHo'); // arriving when the drain begins
    await until(() => started === 2 && clients[1]!.text().includes('first'));
    const drained = front.drain(60_000);
    clients[2]!.socket.write('st: a\r\n\r\n');
    await until(() => started === 3);
    release();
    t.equal(await drained, 0);
    await Promise.all(clients.map((client) => client.closed));
    for (const i of [0, 2]) t.match(clients[i]!.text(), /Connection: close\r\n[^]*hello/);
    t.match(clients[1]!.text(), /first [^]*last\r\n0\r\n\r\n$/);
  });

  await t.test('an answer that is ended but not yet read is not cut short', async (t) => {
    const length = 20_000_000;
    const front = await openFront(t, async (_req, res) => {
      res.setHeader('content-length', length);
      res.end(Buffer.alloc(length));
      stopped = true;
    });
    let stopped = false;
    const client = await rawConnect(front.port);
    client.socket.pause();
    client.socket.write(GET);
    await until(() => stopped);
    const drained = front.drain(60_000);
    client.socket.resume();
    t.equal(await drained, 0);
    await client.closed;
    t.equal(client.text().split('\r\n\r\n')[1]?.length, length);
  });

  await t.test('what outlasts the grace is cut and counted', async (t) => {
    const front = await openFront(t, async (_req, res) => void res.write('for ever'));
    const clients = [await rawConnect(front.port), await rawConnect(front.port)];
    for (const client of clients) client.socket.write(GET);
    await until(() => clients.every((client) => client.text().includes('for ever')));
    t.equal(await front.drain(20), 2);
    await Promise.all(clients.map((client) => client.closed));
    await until(() => front.connections() === 0);
  });

  await t.test('a client that never finishes its headers does not hold up the drain', async (t) => {
    const front = await openFront(t, hello, { limits: { headersTimeoutMs: 30 } });
    const client = await rawConnect(front.port);
    client.socket.write('GET / HTTP/1.1\r\nHo');
    await until(() => front.connections() === 1);
    t.equal(await front.drain(60_000), 0);
    await client.closed;
  });
});

t.test('TLS', async (t) => {
  const first = selfSigned('first');
  const front = await openFront(t, hello, { tls: first, limits: { headersTimeoutMs: 1_000 } });
  /** Gives the body and the name on the certificate that was shown. */
  const get = async (ca: string): Promise<[body: string, name: unknown]> => {
    const req = request({ host: '127.0.0.1', port: front.port, ca, agent: false }).end();
    const [res] = (await once(req, 'response')) as [IncomingMessage];
    const name = (res.socket as TLSSocket).getPeerCertificate().subject.CN;
    let body = '';
    for await (const chunk of res) body += String(chunk);
    return [body, name];
  };
  t.strictSame(await get(first.certPem), ['{"hello":true}', 'first']);

  await t.test('a new certificate serves new connections, a bad one changes nothing', async (t) => {
    const second = selfSigned('second');
    t.throws(() => front.setTls({ certPem: second.certPem, keyPem: first.keyPem }));
    t.throws(() => front.setTls({ certPem: 'no certificate', keyPem: second.keyPem }));
    t.strictSame(await get(first.certPem), ['{"hello":true}', 'first']);
    front.setTls(second);
    t.strictSame(await get(second.certPem), ['{"hello":true}', 'second']);
    await t.rejects(get(first.certPem));
  });

  await t.test('plain HTTP on a TLS port and unfinished handshakes are cut', async (t) => {
    t.notMatch(await exchange(front.port, GET), /HTTP/);
    const silent = await rawConnect(front.port);
    t.equal(await front.drain(5_000), 0);
    await silent.closed;
  });

  await t.test('a plain listener takes no certificate', async (t) => {
    const plain = await openFront(t, hello);
    t.throws(() => plain.setTls(first), /without TLS/);
  });
});
