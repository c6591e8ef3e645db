import t from 'tap';
import { checkLeaks } from '../../support/leaks.js';
import { jsonAnswer, startFakeProvider } from '../../support/fake-provider.js';
import { createAuthority } from './certificate.js';
import { listen, startConnectProxy } from './connect-proxy.js';
import { faultOf, post, provide, SECRET, stage, textOf } from './provider-setup.js';

const authority = createAuthority();

t.test('6.1 a refused connection is a connect fault', async (t) => {
  checkLeaks(t);
  const fake = await startFakeProvider();
  await fake.close();
  const fault = await faultOf(post(provide(t, fake.url)));
  t.equal(fault.kind, 'connect');
  t.match(fault.cause, { code: 'ECONNREFUSED' });
});

t.test('6.1 a name that does not resolve is a connect fault', async (t) => {
  checkLeaks(t);
  t.equal((await faultOf(post(provide(t, 'http://nowhere.invalid')))).kind, 'connect');
});

t.test('6.1 a handshake that never ends is a connect fault after the connect timeout', async (t) => {
  checkLeaks(t);
  const port = await listen(t, () => {});
  const provider = provide(t, `https://127.0.0.1:${port}`, { timeouts: { connectMs: 100 } });
  t.equal((await faultOf(post(provider))).kind, 'connect');
});

t.test('6.1 a certificate of an unknown authority is a connect fault', async (t) => {
  const tls = authority.issue({ ip: '127.0.0.1' });
  const { fake, provider } = await stage(t, jsonAnswer(200, {}), {}, { tls });
  t.equal((await faultOf(post(provider))).kind, 'connect');
  t.equal(fake.requests.length, 0);
});

t.test(
  '6.1 a certificate for another name is a connect fault, its bytes kept out of the error',
  async (t) => {
    const tls = authority.issue({ dns: 'elsewhere.test' });
    const { provider } = await stage(t, jsonAnswer(200, {}), { caPem: authority.pem }, { tls });
    const fault = await faultOf(post(provider));
    t.equal(fault.kind, 'connect');
    t.same(Object.keys(fault.cause as object), ['code']);
  },
);

t.test('D46 the authority of ca_file is trusted', async (t) => {
  const tls = authority.issue({ ip: '127.0.0.1' });
  const { provider } = await stage(t, jsonAnswer(200, { ok: 1 }), { caPem: authority.pem }, { tls });
  t.equal(await textOf(await post(provider)), '{"ok":1}');
});

for (const secure of [false, true])
  t.test(
    `D46 an outbound proxy is asked to CONNECT to an ${secure ? 'https' : 'http'} provider`,
    async (t) => {
      checkLeaks(t);
      const fake = await startFakeProvider(
        jsonAnswer(200, { ok: 1 }),
        secure ? { tls: authority.issue({ ip: '127.0.0.1' }) } : {},
      );
      t.teardown(() => fake.close());
      const proxy = await startConnectProxy(t, fake.port);
      const provider = provide(t, fake.url, {
        proxyUrl: `http://user:p%40ss@127.0.0.1:${proxy.port}`,
        caPem: authority.pem,
      });
      t.equal(await textOf(await post(provider)), '{"ok":1}');
      t.match(proxy.asked[0], `CONNECT 127.0.0.1:${fake.port} HTTP/1.1`);
      t.match(proxy.asked[0], `proxy-authorization: Basic ${Buffer.from('user:p@ss').toString('base64')}`);
      t.notMatch(proxy.asked[0], SECRET);
      t.notOk(fake.requests[0]?.headers['proxy-authorization']);
    },
  );

t.test('D46 a proxy that refuses is a connect fault', async (t) => {
  checkLeaks(t);
  const proxy = await startConnectProxy(t, 1, 407);
  const fault = await faultOf(post(provide(t, 'http://127.0.0.1:1', { proxyUrl: proxy.url })));
  t.equal(fault.kind, 'connect');
});

t.test('D46 a proxy that hangs up is a connect fault, and is not asked again and again', async (t) => {
  checkLeaks(t);
  let connections = 0;
  const port = await listen(t, (socket) => {
    connections++;
    socket.once('data', () => socket.end());
  });
  const provider = provide(t, 'http://127.0.0.1:1', { proxyUrl: `http://127.0.0.1:${port}` });
  t.equal((await faultOf(post(provider))).kind, 'connect');
  t.equal(connections, 1);
});

t.test('D46 a proxy that never answers is a connect fault after the connect timeout', async (t) => {
  checkLeaks(t);
  const port = await listen(t, () => {});
  const provider = provide(t, 'http://127.0.0.1:1', {
    proxyUrl: `http://127.0.0.1:${port}`,
    timeouts: { connectMs: 100 },
  });
  t.equal((await faultOf(post(provider))).kind, 'connect');
});
