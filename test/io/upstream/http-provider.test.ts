import t from 'tap';
import { Breakers } from '../../../src/io/upstream/breaker.js';
import { createHttpProvider } from '../../../src/io/upstream/http-provider.js';
import { UpstreamFault } from '../../../src/io/upstream/provider.js';
import { readWhole } from '../../../src/io/upstream/read-whole.js';
import { send } from '../../../src/io/upstream/send.js';
import { startFaultProxy } from '../../support/fault-proxy.js';
import { jsonAnswer, streamAnswer, type Script } from '../../support/fake-provider.js';
import { faultOf, optionsFor, post, provide, SECRET, stage, textOf, until } from './provider-setup.js';

const OK = jsonAnswer(200, { ok: 1 });
const HEAD = { head: 200, headers: { 'content-type': 'text/event-stream' } } as const;

t.test('D42 anthropic gets x-api-key and a version; what the client sent beside it stays here', async (t) => {
  const { fake, provider } = await stage(t, OK);
  const answer = await post(provider, {
    headers: {
      'content-type': 'application/json',
      'anthropic-beta': 'one,two',
      authorization: 'Bearer client',
      'x-api-key': 'client',
      cookie: 'a=b',
      connection: 'x-hop',
      'x-hop': '1',
      'x-policy-mode': 'x',
      'x-free-tier': 'true',
      'idempotency-key': 'k',
    },
  });
  t.equal(await textOf(answer), '{"ok":1}');
  const { host, 'content-length': length, ...headers } = fake.requests[0]!.headers;
  t.same(headers, {
    'accept-encoding': 'identity',
    'anthropic-beta': 'one,two',
    'anthropic-version': '2023-06-01',
    connection: 'keep-alive',
    'content-type': 'application/json',
    'user-agent': 'sluice',
    'x-api-key': SECRET,
  });
  t.equal(host, `127.0.0.1:${fake.port}`);
  t.equal(length, '2');
});

t.test('D42 the version a client asked for is kept', async (t) => {
  const { fake, provider } = await stage(t, OK);
  await textOf(await post(provider, { headers: { 'anthropic-version': '2026-10-21' } }));
  t.equal(fake.requests[0]?.headers['anthropic-version'], '2026-10-21');
});

for (const kind of ['openai_chat', 'openai_responses'] as const)
  t.test(`D42 ${kind} gets its key as a bearer, below its base path`, async (t) => {
    const { fake, provider } = await stage(t, OK);
    const openai = provide(t, `${fake.url}/v1/`, { kind });
    await textOf(await post(openai, { path: '/chat/completions', body: '{"model":"ü"}' }));
    await textOf(await post(provider));
    const [seen] = fake.requests;
    t.equal(seen?.url, '/v1/chat/completions');
    t.equal(seen?.headers.authorization, `Bearer ${SECRET}`);
    t.equal(seen?.body, '{"model":"ü"}');
    t.notOk(seen?.headers['anthropic-version']);
  });

t.test('D46 an Azure-style provider: api-key header, deployment path, api-version', async (t) => {
  const { fake } = await stage(t, OK);
  const azure = provide(t, `${fake.url}/openai/deployments/d`, {
    kind: 'openai_chat',
    apiKey: '',
    headers: { 'Api-Key': 'azure-key' },
    query: { 'api-version': '2024-10-21' },
  });
  await textOf(await post(azure, { path: '/chat/completions' }));
  await textOf(await post(azure, { path: '/chat/completions?api-version=1&x=2' }));
  const [first, second] = fake.requests;
  t.equal(first?.url, '/openai/deployments/d/chat/completions?api-version=2024-10-21');
  t.equal(first?.headers['api-key'], 'azure-key');
  t.notOk(first?.headers.authorization);
  t.equal(second?.url, '/openai/deployments/d/chat/completions?api-version=2024-10-21&x=2');
});

t.test('D46 an operator cannot set what frames the message', async (t) => {
  for (const name of ['Connection', 'transfer-encoding', 'Content-Length', 'accept-encoding'])
    t.throws(() => createHttpProvider(optionsFor('http://127.0.0.1:1', { headers: { [name]: 'x' } })), {
      message: new RegExp(name, 'i'),
    });
});

t.test('6.1 a slow first byte is waited for', async (t) => {
  const { provider } = await stage(t, [HEAD, { waitMs: 150 }, { write: 'a' }, { waitMs: 150 }, 'end'], {
    timeouts: { idleMs: 5_000 },
  });
  const answer = await post(provider);
  t.equal(answer.status, 200);
  t.equal(await textOf(answer), 'a');
});

t.test('6.1 an answer without a body is an answer', async (t) => {
  const { provider } = await stage(t, [{ head: 200, headers: { 'content-length': '0' } }, 'end']);
  t.equal(await textOf(await post(provider)), '');
});

const silences: readonly (readonly [string, Script])[] = [
  ['never answers', ['stall']],
  ['sends its headers and no byte more', [HEAD, 'stall']],
];
for (const [what, script] of silences)
  t.test(`6.1 a provider that ${what} is a timeout, and is left at that moment`, async (t) => {
    const { fake, provider } = await stage(t, script, { timeouts: { firstByteMs: 100 } });
    t.equal((await faultOf(post(provider))).kind, 'timeout');
    await fake.requests[0]?.gone;
    t.equal(fake.open, 0);
  });

t.test('6.1 a silence longer than idle ends the body with a timeout', async (t) => {
  const { fake, provider } = await stage(t, [HEAD, { write: 'a' }, 'stall'], { timeouts: { idleMs: 100 } });
  const answer = await post(provider);
  t.equal((await faultOf(textOf(answer))).kind, 'timeout');
  await fake.requests[0]?.gone;
});

t.test('6.1 an answer longer than total ends with a timeout though it never falls silent', async (t) => {
  const drip = Array.from({ length: 200 }, () => [{ write: 'a' }, { waitMs: 10 }]).flat();
  const { fake, provider } = await stage(t, [HEAD, ...drip], { timeouts: { totalMs: 150, idleMs: 5_000 } });
  t.match(await faultOf(textOf(await post(provider))), { kind: 'timeout', message: /finish/ });
  await fake.requests[0]?.gone;
});

t.test('6.1 an answer above the bound of its reader is cut off and unreadable', async (t) => {
  const megabyte = Buffer.alloc(1 << 20, 'a');
  const chunks = Array.from({ length: 100 }, () => ({ write: megabyte }));
  const { fake, provider } = await stage(t, [HEAD, ...chunks, 'end']);
  const { body } = await post(provider);
  t.equal((await faultOf(readWhole(body, 1 << 20))).kind, 'unreadable');
  await fake.requests[0]?.gone;
  t.ok(fake.requests[0]?.left, 'the connection is closed rather than drained');
});

const endings = [
  ['a reset in the body', 'reset'],
  ['a cut in the body', 'cut'],
  ['a half-close in the body', 'half_close'],
] as const;
for (const [what, kind] of endings)
  t.test(`6.1 ${what} is a reset, after the bytes that came`, async (t) => {
    const { fake } = await stage(t, [
      HEAD,
      { write: 'a' },
      { waitMs: 20 },
      { write: 'b'.repeat(9_000) },
      'end',
    ]);
    const proxy = await startFaultProxy(fake.port, { kind, afterBytes: 2_000 });
    t.teardown(() => proxy.close());
    const { body } = await post(provide(t, proxy.url));
    const chunks: Buffer[] = [];
    body.on('data', (chunk: Buffer) => chunks.push(chunk));
    const fault = await new Promise((resolve) => body.once('error', resolve));
    t.match(fault, { kind: 'reset' });
    t.equal(Buffer.concat(chunks).toString().slice(0, 2), 'ab');
  });

t.test('6.1 a reset before any answer is a reset, not a connect fault', async (t) => {
  const { provider } = await stage(t, ['reset']);
  t.equal((await faultOf(post(provider))).kind, 'reset');
});

t.test('6.1 a body shorter than its content-length is a reset', async (t) => {
  const { provider } = await stage(t, [{ raw: 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc' }, 'close']);
  t.equal((await faultOf(textOf(await post(provider)))).kind, 'reset');
});

t.test('6.1 bytes beyond the content-length reach nobody', async (t) => {
  const { fake, provider } = await stage(t, [{ raw: 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabcdef' }]);
  t.equal(await textOf(await post(provider)), 'abc');
  fake.play(OK);
  t.equal(await textOf(await post(provider)), '{"ok":1}');
  t.equal(fake.requests[1]?.connection, 2);
});

t.test('6.1 an extra response on a kept connection is never given to the next request', async (t) => {
  const poison = 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\npoison';
  const { fake, provider } = await stage(t, [...OK, { raw: poison }]);
  t.equal(await textOf(await post(provider)), '{"ok":1}');
  await until(() => fake.open === 0, 'the poisoned connection is closed');
  fake.play(OK);
  t.equal(await textOf(await post(provider)), '{"ok":1}');
  t.same(
    fake.requests.map(({ connection }) => connection),
    [1, 2],
  );
});

t.test('6.1 an extra response in the same packet is never given to the next request', async (t) => {
  const one = 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\none';
  const { fake, provider } = await stage(t, [{ raw: one + one.replaceAll('one', 'bad') }]);
  t.equal(await textOf(await post(provider)), 'one');
  fake.play(OK);
  t.equal(await textOf(await post(provider)), '{"ok":1}');
  t.equal(fake.requests[1]?.connection, 2);
});

t.test('6.1 a connection is kept for the next request', async (t) => {
  const { fake, provider } = await stage(t, OK, { maxConnections: 1 });
  await textOf(await post(provider));
  await textOf(await post(provider));
  t.same(
    fake.requests.map(({ connection }) => connection),
    [1, 1],
  );
});

t.test('6.1 a redirect is an answer like any other: nobody goes there', async (t) => {
  const elsewhere = await stage(t, OK);
  const { fake, provider } = await stage(t, jsonAnswer(302, {}, { location: elsewhere.fake.url }));
  const answer = await post(provider);
  t.equal(answer.status, 302);
  await textOf(answer);
  t.equal(fake.requests.length, 1);
  t.equal(elsewhere.fake.requests.length, 0);
});

const unreadables: readonly (readonly [string, Script])[] = [
  ['1 MB of headers', [{ raw: `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(1 << 20)}\r\n\r\n` }]],
  ['10,000 headers', [{ raw: `HTTP/1.1 200 OK\r\n${'a: bbbb\r\n'.repeat(10_000)}\r\n` }]],
  ['no HTTP', [{ raw: '<html>no</html>\r\n\r\n' }]],
  ['compression nobody asked for', jsonAnswer(200, {}, { 'content-encoding': 'gzip' })],
  ['eleven informational replies', [{ raw: 'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n'.repeat(11) }]],
];
for (const [what, script] of unreadables)
  t.test(`6.1 ${what} is unreadable`, async (t) => {
    const { fake, provider } = await stage(t, script);
    t.equal((await faultOf(post(provider))).kind, 'unreadable');
    await fake.requests[0]?.gone;
  });

t.test('6.1 ten informational replies are borne', async (t) => {
  const { provider } = await stage(t, [
    { raw: 'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n'.repeat(10) },
    ...OK,
  ]);
  t.equal(await textOf(await post(provider)), '{"ok":1}');
});

t.test('6.2 a caller who leaves before the answer is gone from the provider at once', async (t) => {
  const { fake, provider } = await stage(t, ['stall']);
  const leaving = new AbortController();
  const answer = post(provider, { signal: leaving.signal });
  await until(() => fake.requests.length === 1, 'the request arrives');
  leaving.abort();
  t.equal((await faultOf(answer)).kind, 'aborted');
  await fake.requests[0]?.gone;
  t.ok(fake.requests[0]?.left);
});

t.test('6.2 a caller who leaves in the middle of the answer is gone from the provider at once', async (t) => {
  const { fake, provider } = await stage(t, [HEAD, { write: 'a' }, 'stall']);
  const leaving = new AbortController();
  const { body } = await post(provider, { signal: leaving.signal });
  leaving.abort();
  t.match(body.errored, { kind: 'aborted' });
  await fake.requests[0]?.gone;
  t.ok(fake.requests[0]?.left);
});

t.test('6.2 a caller who left already sends nothing', async (t) => {
  const { fake, provider } = await stage(t, OK);
  t.equal((await faultOf(post(provider, { signal: AbortSignal.abort() }))).kind, 'aborted');
  t.equal(fake.requests.length, 0);
});

t.test('6.2 a caller who leaves while waiting for a connection sends nothing', async (t) => {
  const { fake, provider } = await stage(t, [HEAD, { write: 'a' }, 'stall'], { maxConnections: 1 });
  const first = await post(provider);
  const leaving = new AbortController();
  const second = post(provider, { signal: leaving.signal });
  leaving.abort();
  t.equal((await faultOf(second)).kind, 'aborted');
  first.body.destroy();
  fake.play(OK);
  t.equal(await textOf(await post(provider)), '{"ok":1}');
  t.equal(fake.requests.length, 2);
});

t.test('6.2 a body destroyed early closes the connection', async (t) => {
  const { fake, provider } = await stage(t, [HEAD, { write: 'a' }, { until: new Promise(() => {}) }]);
  const { body } = await post(provider);
  body.destroy();
  await fake.requests[0]?.gone;
  t.ok(fake.requests[0]?.left);
});

t.test('6.1 a fault before the reader has come does not end the process', async (t) => {
  const { provider } = await stage(t, [HEAD, { write: 'a' }, { waitMs: 10 }, 'reset']);
  const answer = await post(provider);
  await until(() => answer.body.destroyed, 'the body fails');
  t.match(answer.body.errored, { kind: 'reset' });
  t.equal((await faultOf(readWhole(answer.body, 10))).kind, 'reset');
});

t.test('6.1 a request that cannot be written is our mistake, not a fault of the provider', async (t) => {
  const { fake, provider } = await stage(t, OK);
  const thrown: unknown = await post(provider, { path: '/bad path' }).catch((error: unknown) => error);
  t.ok(thrown instanceof Error && !(thrown instanceof UpstreamFault));
  t.equal(fake.requests.length, 0);
});

t.test('6.4 close lets an answer finish, takes no new call, and leaves no socket', async (t) => {
  let release = (): void => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const { fake, provider } = await stage(t, [HEAD, { write: 'a' }, { until: held }, { write: 'b' }, 'end']);
  const answer = await post(provider);
  const closed = provider.close();
  t.equal((await faultOf(post(provider))).kind, 'connect');
  release();
  t.equal(await textOf(answer), 'ab');
  await closed;
  await provider.close();
  await until(() => fake.open === 0, 'every socket is closed');
});

t.test('2.2 nothing secret is in a fault', async (t) => {
  const { provider } = await stage(t, [{ raw: 'HTTP/1.1 200 OK\r\nbad header: private-answer\r\n\r\n' }]);
  const fault = await faultOf(post(provider, { body: 'private-question' }));
  const { inspect } = await import('node:util');
  t.notMatch(inspect(fault, { depth: 9, showHidden: true }), /private|sk-upstream/);
});

t.test('D42 a refused attempt is read and its connection serves the next one', async (t) => {
  const { fake, provider } = await stage(t, OK, { attempts: 2, maxConnections: 1 });
  fake.play(jsonAnswer(529, { error: 'overloaded' }), OK);
  const { answer } = await send({
    targets: [{ provider, model: 'm' }],
    build: () => ({ path: '/v1/messages', headers: {}, body: '{}' }),
    signal: new AbortController().signal,
    breakers: new Breakers(),
  });
  t.equal(await textOf(answer), '{"ok":1}');
  t.same(
    fake.requests.map(({ connection }) => connection),
    [1, 1],
  );
});

t.test('6.1 calls beyond the most connections wait their turn', async (t) => {
  const { fake, provider } = await stage(t, OK, { maxConnections: 2 });
  const texts = await Promise.all(Array.from({ length: 20 }, async () => textOf(await post(provider))));
  t.same(new Set(texts), new Set(['{"ok":1}']));
  t.same(new Set(fake.requests.map(({ connection }) => connection)), new Set([1, 2]));
});

t.test('6.1 a call that waits too long for a connection is a timeout', async (t) => {
  const { fake, provider } = await stage(t, [HEAD, { write: 'a' }, 'stall'], {
    maxConnections: 1,
    timeouts: { firstByteMs: 100 },
  });
  const first = await post(provider);
  t.equal((await faultOf(post(provider))).kind, 'timeout');
  t.equal(fake.requests.length, 1);
  first.body.destroy();
});

t.test('6.1 a stream comes through byte for byte', async (t) => {
  const events = ['event: a\ndata: {"ü":1}\n\n', 'data: [DONE]\r\n\r\n'];
  const { provider } = await stage(t, streamAnswer(...events));
  const answer = await post(provider);
  t.equal(answer.headers['content-type'], 'text/event-stream');
  t.equal(await textOf(answer), events.join(''));
});
