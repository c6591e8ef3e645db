import {
  createServer,
  request,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { GatewayError } from '../../../src/core/errors.js';
import { UpstreamFault } from '../../../src/io/upstream/provider.js';
import { UpstreamRejection } from '../../../src/io/upstream/send.js';
import { openTunnel, type Tunnelled, type TunnelOptions } from '../../../src/io/upstream/tunnel.js';
import { jsonAnswer, startFakeProvider, type Script } from '../../support/fake-provider.js';
import { checkLeaks } from '../../support/leaks.js';
import { createAuthority } from './certificate.js';
import { startConnectProxy } from './connect-proxy.js';
import { SECRET, until } from './provider-setup.js';

const OK = jsonAnswer(200, { ok: 1 });
const MEGABYTE = Buffer.alloc(1 << 20, 'a');
const megabytes = (count: number): Script => Array.from({ length: count }, () => ({ write: MEGABYTE }));

type Overrides = Partial<Omit<TunnelOptions, 'timeouts'>> & { timeouts?: Partial<TunnelOptions['timeouts']> };

/** A door whose every request goes through the tunnel, and how each of them ended. */
const openDoor = async (t: Test, baseUrl: string, { timeouts, ...overrides }: Overrides = {}) => {
  const ends: (Tunnelled | Error)[] = [];
  const tunnel = openTunnel({
    kind: 'openai_chat',
    apiKey: SECRET,
    headers: {},
    baseUrl,
    path: '/embeddings',
    query: {},
    proxyUrl: '',
    caPem: '',
    bodyBytes: 4 << 20,
    timeouts: { connectMs: 5_000, firstByteMs: 10_000, idleMs: 10_000, totalMs: 20_000, ...timeouts },
    ...overrides,
  });
  const server = createServer((req, res) => {
    tunnel(req, res, { 'x-request-id': 'ours' }).then(
      (end) => ends.push(end),
      (error: unknown) => {
        ends.push(error as Error);
        res.writeHead(599, { connection: 'close' }).end();
      },
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  const { port } = server.address() as AddressInfo;
  const ended = async (): Promise<Tunnelled | Error> => {
    await until(() => ends.length > 0, 'the exchange is over');
    return ends[0]!;
  };
  return { port, ends, ended };
};

const stage = async (t: Test, script: Script, overrides: Overrides = {}) => {
  checkLeaks(t);
  const fake = await startFakeProvider(script);
  t.teardown(() => fake.close());
  return { fake, ...(await openDoor(t, `${fake.url}/v1`, overrides)) };
};

const ask = (port: number, options: RequestOptions = {}): ClientRequest =>
  request({ port, host: '127.0.0.1', method: 'POST', path: '/v1/embeddings', agent: false, ...options }).on(
    'error',
    () => {},
  );

const answerTo = (asked: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => asked.once('response', resolve).once('error', reject));

const textOf = async (answer: IncomingMessage): Promise<string> => {
  let text = '';
  for await (const chunk of answer as AsyncIterable<Buffer>) text += chunk.toString();
  return text;
};

t.test(
  'D43 a request goes through with our headers, our credential and nothing else of the client',
  async (t) => {
    const { fake, port, ended } = await stage(t, OK, {
      query: { 'api-version': '1' },
      headers: { 'x-extra': 'operator' },
    });
    const asked = ask(port, {
      path: '/v1/embeddings?user=u&api-version=mine',
      headers: {
        authorization: 'Bearer client-key',
        'x-api-key': 'client-key',
        cookie: 'a=b',
        connection: 'keep-alive, x-hop',
        'x-hop': '1',
        te: 'trailers',
        'proxy-authorization': 'Basic x',
        'proxy-connection': 'keep-alive',
        'http2-settings': 'x',
        'x-forwarded-for': '1.2.3.4',
        'x-policy-user': 'u',
        'x-free-tier': 'true',
        'content-type': 'application/json',
        'accept-encoding': 'gzip',
      },
    });
    asked.end('{"input":"ü"}');
    const answer = await answerTo(asked);
    t.equal(await textOf(answer), '{"ok":1}');
    const [seen] = fake.requests;
    t.equal(seen?.url, '/v1/embeddings?user=u&api-version=1');
    t.equal(seen?.body, '{"input":"ü"}');
    t.same(seen?.headers, {
      'accept-encoding': 'identity',
      authorization: `Bearer ${SECRET}`,
      connection: 'close',
      'content-type': 'application/json',
      host: `127.0.0.1:${fake.port}`,
      'content-length': '14',
      'user-agent': 'sluice',
      'x-extra': 'operator',
    });
    t.same(await ended(), { status: 200, requestBytes: 14, responseBytes: 8, delivery: 'complete' });
  },
);

t.test('D43 of the answer the client gets what describes it, and our own headers', async (t) => {
  const { port } = await stage(
    t,
    jsonAnswer(
      200,
      { ok: 1 },
      {
        'set-cookie': 'a=b',
        'x-request-id': 'theirs',
        'openai-organization': 'org',
        'x-ratelimit-limit': '1',
      },
    ),
  );
  const asked = ask(port);
  asked.end();
  const answer = await answerTo(asked);
  await textOf(answer);
  const { headers } = answer;
  delete headers.date;
  delete headers.connection;
  t.same(headers, {
    'content-type': 'application/json',
    'content-length': '8',
    'x-request-id': 'ours',
    'x-upstream-request-id': 'theirs',
  });
});

t.test('D43 a length the client declared is kept, and an error of the provider is passed on', async (t) => {
  const { fake, port, ended } = await stage(t, jsonAnswer(429, { error: 'slow' }, { 'retry-after': '7' }));
  const asked = ask(port, { headers: { 'content-length': '2' } });
  asked.end('{}');
  const answer = await answerTo(asked);
  t.equal(answer.statusCode, 429);
  t.equal(answer.headers['retry-after'], '7');
  t.equal(await textOf(answer), '{"error":"slow"}');
  t.equal(fake.requests[0]?.headers['content-length'], '2');
  t.match(await ended(), { status: 429, requestBytes: 2, delivery: 'complete' });
});

t.test('2.1 a GET carries no body on, so none can pose as a second request', async (t) => {
  const { fake, port } = await stage(t, OK);
  const socket = connect(port, '127.0.0.1');
  const smuggled = 'POST /v1/stolen HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n';
  socket.write(
    `GET /v1/embeddings HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`,
  );
  await new Promise((resolve) => socket.once('data', resolve));
  socket.destroy();
  t.same(
    fake.requests.map(({ method, body, headers }) => [method, body, headers['transfer-encoding']]),
    [['GET', '', undefined]],
  );
});

t.test('D43 an upload streams through whole, and so does its answer', async (t) => {
  const { fake, port, ended } = await stage(t, [{ head: 200 }, ...megabytes(3), 'end']);
  const asked = ask(port);
  for (let i = 0; i < 4; i++) asked.write(MEGABYTE);
  asked.end();
  t.equal((await textOf(await answerTo(asked))).length, 3 << 20);
  t.equal(fake.requests[0]?.body.length, 4 << 20);
  t.equal(fake.requests[0]?.headers['transfer-encoding'], 'chunked');
  t.match(await ended(), { requestBytes: 4 << 20, responseBytes: 3 << 20 });
});

t.test('D11 a body declared too large is refused before the provider hears of it', async (t) => {
  const { fake, port, ended } = await stage(t, OK, { bodyBytes: 10 });
  ask(port, { headers: { 'content-length': '11' } }).end('12345678901');
  const end = await ended();
  t.ok(end instanceof GatewayError);
  t.match(end, { code: 'request_too_large', status: 413 });
  t.equal(fake.requests.length, 0);
});

t.test('D11 a body that grows too large on its way is refused, and the provider is left', async (t) => {
  const { fake, port, ended } = await stage(t, OK, { bodyBytes: 1 << 20 });
  const asked = ask(port);
  asked.write(MEGABYTE);
  await until(() => fake.requests.length === 1, 'the request arrives');
  asked.write('x');
  t.match(await ended(), { code: 'request_too_large' });
  await fake.requests[0]?.gone;
  asked.destroy();
});

t.test('6.1 a refused connection is a connect fault', async (t) => {
  checkLeaks(t);
  const fake = await startFakeProvider();
  await fake.close();
  const { port, ended } = await openDoor(t, fake.url);
  ask(port).end('{}');
  const end = await ended();
  t.ok(end instanceof UpstreamFault);
  t.match(end, { kind: 'connect' });
});

const failures: readonly (readonly [string, Script, Overrides, string])[] = [
  ['never answers', ['stall'], { timeouts: { firstByteMs: 100 } }, 'timeout'],
  ['takes longer than total', ['stall'], { timeouts: { totalMs: 100 } }, 'timeout'],
  ['resets the connection', ['reset'], {}, 'reset'],
  ['speaks no HTTP', [{ raw: '<html>\r\n\r\n' }], {}, 'unreadable'],
  [
    'sends a header of 1 MB',
    [{ raw: `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(1 << 20)}\r\n\r\n` }],
    {},
    'unreadable',
  ],
  [
    'floods with hints',
    [{ raw: 'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n'.repeat(11) }],
    {},
    'unreadable',
  ],
];
for (const [what, script, overrides, kind] of failures)
  t.test(`6.1 a provider that ${what} before its answer: ${kind}`, async (t) => {
    const { fake, port, ended } = await stage(t, script, overrides);
    ask(port).end('{}');
    t.match(await ended(), { name: 'UpstreamFault', kind });
    await fake.requests[0]?.gone;
  });

for (const status of [302, 401, 403])
  t.test(`D42 ${status} concerns us, not the client: it is a rejection`, async (t) => {
    const { port, ended } = await stage(
      t,
      jsonAnswer(status, { error: SECRET }, { location: 'http://169.254.169.254' }),
    );
    ask(port).end('{}');
    const end = await ended();
    t.ok(end instanceof UpstreamRejection);
    t.match(end, { status });
  });

const breaks: readonly (readonly [string, Script, Overrides])[] = [
  ['resets the connection', [{ head: 200 }, { write: 'a' }, { waitMs: 20 }, 'reset'], {}],
  [
    'closes too early',
    [{ raw: 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\na' }, { waitMs: 20 }, 'close'],
    {},
  ],
  ['falls silent', [{ head: 200 }, { write: 'a' }, 'stall'], { timeouts: { idleMs: 100 } }],
];
for (const [what, script, overrides] of breaks)
  t.test(`6.1 a provider that ${what} in its answer: the client's connection breaks too`, async (t) => {
    const { port, ended } = await stage(t, script, overrides);
    const asked = ask(port);
    asked.end('{}');
    const answer = await answerTo(asked);
    await t.rejects(textOf(answer));
    t.match(await ended(), { status: 200, responseBytes: 1, delivery: 'upstream_failed' });
  });

t.test('6.2 a client that leaves before the answer stops the provider', async (t) => {
  const { fake, port, ended } = await stage(t, ['stall']);
  const asked = ask(port);
  asked.end('{}');
  await until(() => fake.requests.length === 1, 'the request arrives');
  asked.destroy();
  t.match(await ended(), { status: 499, requestBytes: 2, delivery: 'client_left' });
  await fake.requests[0]?.gone;
  t.ok(fake.requests[0]?.left);
});

t.test('6.2 a client that leaves in its upload stops the provider', async (t) => {
  const { fake, port, ended } = await stage(t, OK);
  const asked = ask(port, { headers: { 'content-length': '100' } });
  asked.write('x');
  await until(() => fake.requests.length === 1, 'the request arrives');
  asked.destroy();
  t.match(await ended(), { status: 499, requestBytes: 1, delivery: 'client_left' });
  await fake.requests[0]?.gone;
});

t.test('6.2 a client that leaves in the answer stops the provider', async (t) => {
  const { fake, port, ended } = await stage(t, [{ head: 200 }, { write: 'a' }, 'stall']);
  const asked = ask(port);
  asked.end('{}');
  await answerTo(asked);
  asked.destroy();
  t.match(await ended(), { status: 200, delivery: 'client_left' });
  await fake.requests[0]?.gone;
});

t.test(
  '6.2 a client that stops reading is let go after the idle time, and costs no memory before',
  async (t) => {
    const { fake, port, ended } = await stage(t, [{ head: 200 }, ...megabytes(64), 'end'], {
      timeouts: { idleMs: 200 },
    });
    const asked = ask(port);
    asked.end('{}');
    const answer = await answerTo(asked);
    answer.pause();
    const end = await ended();
    t.match(end, { status: 200, delivery: 'client_left' });
    t.ok((end as Tunnelled).responseBytes < 32 << 20);
    await fake.requests[0]?.gone;
    asked.destroy();
  },
);

t.test('6.1 an extra response is never given to the next request', async (t) => {
  const { fake, port } = await stage(t, [...OK, { raw: 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nbad' }]);
  for (let i = 1; i <= 2; i++) {
    const asked = ask(port);
    asked.end('{}');
    t.equal(await textOf(await answerTo(asked)), '{"ok":1}');
  }
  t.same(
    fake.requests.map(({ connection }) => connection),
    [1, 2],
  );
});

t.test('D46 the tunnel goes through the outbound proxy and trusts the authority of ca_file', async (t) => {
  checkLeaks(t);
  const authority = createAuthority();
  const fake = await startFakeProvider(OK, { tls: authority.issue({ ip: '127.0.0.1' }) });
  t.teardown(() => fake.close());
  const proxy = await startConnectProxy(t, fake.port);
  const { port } = await openDoor(t, fake.url, { proxyUrl: proxy.url, caPem: authority.pem });
  const asked = ask(port);
  asked.end('{}');
  t.equal(await textOf(await answerTo(asked)), '{"ok":1}');
  t.match(proxy.asked[0], `CONNECT 127.0.0.1:${fake.port}`);
  const stranger = await openDoor(t, fake.url);
  ask(stranger.port).end('{}');
  t.match(await stranger.ended(), { kind: 'connect' });
});
