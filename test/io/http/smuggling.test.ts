import t from 'tap';
import { echo, exchange, openFront, rawConnect, statuses, until } from './front.js';

const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n';

/** Each is one request that two readers could understand in two ways, followed by one that must never be acted upon. */
const table: Record<string, string> = {
  'content-length with chunked':
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'chunked with content-length':
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n',
  'two content-lengths': 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello',
  'two equal content-lengths':
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello',
  'a signed content-length': 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\nhello',
  'a negative content-length': 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\nhello',
  'a hexadecimal content-length': 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x5\r\n\r\nhello',
  'a list as content-length': 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 5\r\n\r\nhello',
  'an overflowing content-length': `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${'9'.repeat(30)}\r\n\r\nhello`,
  'a space before the colon': 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length : 5\r\n\r\nhello',
  'a tab before the colon': 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n',
  'a folded header': 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n',
  'chunked not last': 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n',
  'an unknown transfer-encoding':
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n',
  'a compressed transfer-encoding':
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
  'two transfer-encodings':
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'bare line feeds': 'GET / HTTP/1.1\nHost: a\n\n',
  'a bare line feed in the headers': 'GET / HTTP/1.1\r\nHost: a\nX: y\r\n\r\n',
  'a header block ended by a bare CR': 'GET / HTTP/1.1\r\nHost: a\r\n\rX: y\r\n\r\n',
  'a NUL in a header': 'GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n',
  'a NUL in the path': 'GET /a\0b HTTP/1.1\r\nHost: a\r\n\r\n',
  'a broken chunk size':
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n',
  'a negative chunk size':
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n',
  'a chunk that is longer than its size':
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhello\r\n0\r\n\r\n',
  'an unknown method': 'BREW / HTTP/1.1\r\nHost: a\r\n\r\n',
  'HTTP/2 preface': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'an unknown version': 'GET / HTTP/9.9\r\nHost: a\r\n\r\n',
  'no HTTP at all': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
};

t.test('requests that two readers could read differently', async (t) => {
  const seen: string[] = [];
  const front = await openFront(t, echo(seen));
  for (const [what, request] of Object.entries(table))
    await t.test(`${what}: at most an error, then the connection is closed`, async (t) => {
      seen.length = 0;
      const text = await exchange(front.port, request, SMUGGLED);
      t.ok(
        statuses(text).every((status) => status === 400),
        text,
      );
      t.ok(statuses(text).length <= 1, text);
      t.notOk(seen.includes('GET /smuggled'), 'the second request is never acted upon');
      if (text !== '') t.match(text, /content-type: application\/json[^]*connection: close/i);
    });
});

/** The parser lets these pass; our own checks answer them, and the connection may live on. */
const answered: Record<string, [request: string, status: number]> = {
  'no host': ['GET / HTTP/1.1\r\n\r\n', 400],
  'two hosts': ['GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400],
  'two authorizations': ['GET / HTTP/1.1\r\nHost: a\r\nAuthorization: x\r\nauthorization: y\r\n\r\n', 400],
  'two api keys': ['GET / HTTP/1.1\r\nHost: a\r\nX-Api-Key: x\r\nX-API-KEY: y\r\n\r\n', 400],
  'absolute form': ['GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  'a host in the path': ['GET //b/x HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  'an encoded NUL in the path': ['GET /a%00b HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  'a parent segment': ['GET /v1/../x HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  'an unknown expectation': ['GET / HTTP/1.1\r\nHost: a\r\nExpect: cake\r\n\r\n', 400],
  'a compressed body': [
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nxx',
    415,
  ],
  'a __proto__ header': ['GET / HTTP/1.1\r\nHost: a\r\n__proto__: x\r\n\r\n', 200],
  'an upgrade nobody offers': [
    'GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n',
    200,
  ],
};

t.test('what the parser accepts and we do not', async (t) => {
  const front = await openFront(t, echo([]));
  for (const [what, [request, status]] of Object.entries(answered))
    await t.test(`${what}: ${status} with a body`, async (t) => {
      const text = await exchange(front.port, request.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
      t.strictSame(statuses(text), [status]);
      t.match(text, /content-type: application\/json/);
    });
});

t.test('CONNECT closes the connection', async (t) => {
  const seen: string[] = [];
  const front = await openFront(t, echo(seen));
  t.equal(await exchange(front.port, 'CONNECT b:443 HTTP/1.1\r\nHost: b:443\r\n\r\n'), '');
  t.strictSame(seen, []);
});

t.test('a pipelined pair is answered in order, the second only begun when the first is done', async (t) => {
  const seen: string[] = [];
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const front = await openFront(t, async (req, res) => {
    seen.push(req.url ?? '');
    if (req.url === '/1') await held;
    res.end(req.url);
  });
  const client = await rawConnect(front.port);
  client.socket.write(
    'GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
  );
  await until(() => seen.length === 1);
  // The second request arrived in the same packet: it is parsed by now.
  t.strictSame(seen, ['/1']);
  release();
  await client.closed;
  t.strictSame(seen, ['/1', '/2']);
  t.match(client.text(), /\/1[^]*\/2/);
});

t.test('a request behind one that closes the connection is not acted upon', async (t) => {
  const seen: string[] = [];
  const front = await openFront(t, echo(seen, 10));
  const text = await exchange(
    front.port,
    `POST /1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n20\r\n${'x'.repeat(32)}\r\n0\r\n\r\n${SMUGGLED}`,
  );
  t.strictSame(statuses(text), [413]);
  t.strictSame(seen, ['POST /1']);
});

t.test('a flood of pipelined requests is cut', async (t) => {
  const seen: string[] = [];
  const front = await openFront(t, async (req) => {
    seen.push(req.url ?? '');
  });
  t.equal(await exchange(front.port, SMUGGLED.repeat(200)), '');
  t.equal(seen.length, 1);
});

t.test('garbage behind a request under way cuts the connection, and no answer is garbled', async (t) => {
  const front = await openFront(t, async (_req, res) => {
    res.writeHead(200, { 'content-length': '10' });
    res.write('12345');
  });
  const client = await rawConnect(front.port);
  client.socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await until(() => client.text().endsWith('12345'));
  client.socket.write('garbage\r\n\r\n');
  await client.closed;
  t.strictSame(statuses(client.text()), [200]);
  t.ok(client.text().endsWith('12345'));
});
