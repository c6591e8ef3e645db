import { once } from 'node:events';
import * as net from 'node:net';
import * as tls from 'node:tls';
import { inspect } from 'node:util';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { OutboundClient, REPLY_BYTES, type OutboundOptions } from '../../../src/io/outbound/client.js';
import type { OutboundFault } from '../../../src/io/outbound/fault.js';
import { checkLeaks } from '../../support/leaks.js';
import { freePort } from '../../support/ports.js';
import { loopback, never } from '../../support/sinks/batches.js';
import { startFakeServer, type FakeOptions, type Handle } from '../../support/sinks/fake-server.js';
import { createAuthority } from '../upstream/certificate.js';

const timeouts = { connectMs: 1_000, headersMs: 200, totalMs: 400 };
const request = {
  method: 'POST',
  path: '/x',
  headers: { 'content-type': 'text/plain' },
  body: 'hello',
} as const;

const serverOf = async (
  t: Test,
  handle: Handle = () => ({ status: 200, body: 'ok' }),
  options?: FakeOptions,
) => {
  checkLeaks(t);
  const server = await startFakeServer(handle, options);
  t.teardown(() => server.close());
  return server;
};

const clientOf = (t: Test, address: string, options: Partial<OutboundOptions> = {}): OutboundClient => {
  const client = new OutboundClient({ address, rules: loopback, ...options });
  t.teardown(() => client.close());
  return client;
};

const faultOf = async (sending: Promise<unknown>): Promise<OutboundFault> =>
  sending.then(
    () => Promise.reject(new Error('it was answered')),
    (fault: unknown) => fault as OutboundFault,
  );

t.test('4.1 a reply comes whole, below the base path, on a connection that is kept', async (t) => {
  const server = await serverOf(t, () => ({ status: 207, headers: { 'X-Told': 'yes' }, body: 'reply' }));
  const client = clientOf(t, `${server.url}/base`);
  for (let i = 0; i < 3; i++) {
    const reply = await client.send(request, never);
    t.equal(reply.status, 207);
    t.equal(reply.headers.get('x-told'), 'yes');
    t.equal(reply.body.toString(), 'reply');
  }
  t.equal(server.requests[0]?.path, '/base/x');
  t.equal(server.requests[0]?.headers['accept-encoding'], 'identity');
  t.equal(server.connections(), 1);
});

t.test('2.1 a redirect is a reply, not followed', async (t) => {
  const server = await serverOf(t, () => ({ status: 307, headers: { location: 'http://127.0.0.1:1/' } }));
  const reply = await clientOf(t, server.url).send(request, never);
  t.equal(reply.status, 307);
  t.equal(server.requests.length, 1);
});

t.test('2.1 a name is refused when any of its addresses is private, and nothing is sent', async (t) => {
  const server = await serverOf(t);
  for (const addresses of [['127.0.0.1'], ['8.8.8.8', '127.0.0.1'], ['::1'], ['::ffff:10.0.0.1'], []]) {
    const client = clientOf(t, 'https://logs.example.com', {
      rules: { allowInsecure: false, allowPrivateHosts: [] },
      lookup: async () => addresses.map((address) => ({ address, family: net.isIP(address) })),
      dial: (options) => net.connect({ ...options, port: server.port }),
    });
    t.equal((await faultOf(client.send(request, never))).kind, 'forbidden', addresses.join(' '));
  }
  t.equal(server.connections(), 0);
});

t.test('2.1 the far end of the socket is checked before the first byte', async (t) => {
  checkLeaks(t);
  let bytes = 0;
  let connections = 0;
  const listener = net.createServer((socket) => {
    connections++;
    socket.on('data', (chunk) => (bytes += chunk.length)).on('error', () => {});
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  t.teardown(() => void listener.close());
  const { port } = listener.address() as net.AddressInfo;
  for (const address of ['https://8.8.8.8', 'http://logs.example.com']) {
    const client = clientOf(t, address, {
      rules: { allowInsecure: true, allowPrivateHosts: [] },
      lookup: async () => [{ address: '8.8.8.8', family: 4 }],
      dial: () => net.connect(port, '127.0.0.1'), // a route that leads home
    });
    t.equal((await faultOf(client.send(request, never))).kind, 'forbidden');
  }
  t.equal(connections, 2);
  t.equal(bytes, 0);
});

t.test('4.1 a private authority is trusted only when its certificate is given', async (t) => {
  const authority = createAuthority();
  const server = await serverOf(t, undefined, { tls: authority.issue({ ip: '127.0.0.1' }) });
  const trusting = clientOf(t, server.url, { caPem: authority.pem });
  t.equal((await trusting.send(request, never)).status, 200);
  const fault = await faultOf(clientOf(t, server.url).send(request, never));
  t.equal(fault.kind, 'certificate');
  t.match(fault.message, /not trusted/);
});

t.test('4.1 a certificate for another name is not trusted', async (t) => {
  const authority = createAuthority();
  const server = await serverOf(t, undefined, { tls: authority.issue({ dns: 'other.example.com' }) });
  const fault = await faultOf(clientOf(t, server.url, { caPem: authority.pem }).send(request, never));
  t.equal(fault.kind, 'certificate');
});

t.test('4.1 TLS older than 1.2 is not spoken', async (t) => {
  checkLeaks(t);
  const authority = createAuthority();
  const listener = tls.createServer({
    ...authority.issue({ ip: '127.0.0.1' }),
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    ciphers: 'ALL@SECLEVEL=0',
  });
  listener.on('tlsClientError', () => {}).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  t.teardown(() => void listener.close());
  const { port } = listener.address() as net.AddressInfo;
  const client = clientOf(t, `https://127.0.0.1:${port}`, { caPem: authority.pem });
  t.equal((await faultOf(client.send(request, never))).kind, 'connect');
});

t.test('4.1 a reply above a megabyte is not read, compressed or not', async (t) => {
  const bomb = Buffer.alloc(2 * REPLY_BYTES);
  const replies = [
    { status: 200, body: Buffer.alloc(REPLY_BYTES + 1) },
    { status: 200, headers: { 'content-encoding': 'gzip' }, body: gzipSync(bomb) },
    { status: 200, headers: { 'content-encoding': 'br' }, body: brotliCompressSync(bomb) },
  ];
  const server = await serverOf(t, () => replies.shift()!);
  const client = clientOf(t, server.url);
  while (replies.length > 0) t.equal((await faultOf(client.send(request, never))).kind, 'oversized');
});

t.test('4.1 a reply that is compressed all the same is read, one that cannot be is not', async (t) => {
  const replies = [
    { status: 200, headers: { 'content-encoding': 'gzip' }, body: gzipSync('plain') },
    { status: 200, headers: { 'content-encoding': 'gzip' }, body: 'no gzip' },
    { status: 200, headers: { 'content-encoding': 'gzip, gzip' }, body: gzipSync('x') },
    { status: 204, headers: { 'content-encoding': 'gzip' } },
  ];
  const server = await serverOf(t, () => replies.shift()!);
  const client = clientOf(t, server.url);
  t.equal((await client.send(request, never)).body.toString(), 'plain');
  t.equal((await faultOf(client.send(request, never))).kind, 'unreadable');
  t.equal((await faultOf(client.send(request, never))).kind, 'unreadable');
  t.equal((await client.send(request, never)).status, 204);
});

t.test('4.1 what goes wrong on the way has a kind, and the next request is fresh', async (t) => {
  const server = await serverOf(t, () => ({ status: 200, body: 'a reply of some length' }));
  const client = clientOf(t, server.url);
  const big = { ...request, body: Buffer.alloc(2_000_000) };
  server.fail({ kind: 'stall' }, { kind: 'vanish' }, { kind: 'truncate' });
  t.equal((await faultOf(clientOf(t, server.url, { timeouts }).send(request, never))).kind, 'timeout');
  t.equal((await faultOf(client.send(request, never))).kind, 'cut');
  t.equal((await faultOf(client.send(request, never))).kind, 'cut');
  server.fail({ kind: 'reset', afterBytes: 1_000 });
  t.equal((await faultOf(client.send(big, never))).kind, 'cut');
  t.equal((await client.send(request, never)).status, 200);
});

t.test('4.1 a reply that trickles for ever ends at the total time', async (t) => {
  checkLeaks(t);
  const listener = net.createServer((socket) => {
    socket.on('error', () => {}).write('HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n');
    const timer = setInterval(() => socket.write('x'), 20);
    socket.on('close', () => clearInterval(timer));
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  t.teardown(() => void listener.close());
  const { port } = listener.address() as net.AddressInfo;
  const fault = await faultOf(clientOf(t, `http://127.0.0.1:${port}`, { timeouts }).send(request, never));
  t.equal(fault.kind, 'timeout');
});

t.test('4.1 nobody there, no such name, and a caller who does not wait', async (t) => {
  checkLeaks(t);
  const refused = await faultOf(clientOf(t, `http://127.0.0.1:${await freePort()}`).send(request, never));
  t.equal(refused.kind, 'connect');
  t.match(refused.message, /ECONNREFUSED/);
  const unknown = clientOf(t, 'https://logs.example.com', {
    lookup: () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' })),
  });
  t.match((await faultOf(unknown.send(request, never))).message, /does not resolve/);
  const server = await startFakeServer(() => ({ status: 200 }));
  t.teardown(() => server.close());
  server.fail({ kind: 'stall' });
  const stop = new AbortController();
  const sending = faultOf(clientOf(t, server.url).send(request, stop.signal));
  stop.abort();
  t.equal((await sending).kind, 'stopped');
  t.equal((await faultOf(clientOf(t, server.url).send(request, stop.signal))).kind, 'stopped');
});

t.test('issue 7: no fault carries what was sent, however deep one looks', async (t) => {
  const server = await serverOf(t);
  const secretive = { ...request, headers: { authorization: 'Bearer canary' }, body: 'canary' };
  const client = clientOf(t, server.url);
  server.fail({ kind: 'stall' }, { kind: 'vanish' }, { kind: 'truncate' });
  const faults = [
    await faultOf(clientOf(t, server.url, { timeouts }).send(secretive, never)),
    await faultOf(client.send(secretive, never)),
    await faultOf(client.send(secretive, never)),
    await faultOf(clientOf(t, `http://127.0.0.1:${await freePort()}`).send(secretive, never)),
  ];
  for (const fault of faults)
    t.notMatch(inspect(fault, { depth: 10, showHidden: true }), /canary/, fault.kind);
});
