import { request } from 'node:https';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { createAuthority } from '../io/upstream/certificate.js';
import { jsonAnswer } from '../support/fake-provider.js';
import { APP_KEY, frontProvider, runGateway, until, UPSTREAM_KEY } from '../support/gateway.js';

const passthrough = [{ path: '/v1/embeddings', unmoderated: true }];
const embedding = { object: 'list', data: [{ embedding: [0.5, 0.25] }] };

t.test(
  "D43 a listed path goes through with our key in place of the client's, metered by an estimate",
  async (t) => {
    const { post, upstream, url } = await frontProvider(t, 'openai_chat', jsonAnswer(200, embedding), {
      provider: { passthrough },
    });
    const response = await post('/v1/embeddings', { model: 'e', input: 'text' }, { cookie: 'a=b' });
    t.equal(response.status, 200);
    t.strictSame(await response.json(), embedding);
    t.match(response.headers.get('x-request-id'), /^req_/);
    const seen = upstream.requests[0]!;
    t.equal(seen.headers.authorization, `Bearer ${UPSTREAM_KEY}`);
    t.equal(seen.headers['cookie'], undefined);
    t.strictSame(JSON.parse(seen.body), { model: 'e', input: 'text' });
    t.match(
      await (await fetch(`${url}/metrics`)).text(),
      /sluice_tokens_total\{model="other",kind="input"\} [1-9]/,
    );
  },
);

t.test(
  'D43 what goes through counts in the limits of its key, by its bytes in both directions',
  async (t) => {
    const { post, call } = await frontProvider(t, 'openai_chat', jsonAnswer(200, embedding), {
      provider: { passthrough },
    });
    const sent = JSON.stringify({ model: 'e', input: 'text' });
    t.equal((await post('/v1/embeddings', sent)).status, 200);
    const tokens = Math.ceil(sent.length / 3) + Math.ceil(JSON.stringify(embedding).length / 3);
    const used = async (metric: string): Promise<number | undefined> => {
      const { limits } = (await (await call('GET', '/v1/limits', { key: APP_KEY })).json()) as {
        limits: { scope: string; metric: string; used: number }[];
      };
      return limits.find((limit) => limit.scope === 'key' && limit.metric === metric)?.used;
    };
    await until(async () => (await used('tokens_per_minute')) === tokens, `${tokens} tokens to be counted`);
    t.equal(await used('requests_per_minute'), 1);
    t.equal(await used('concurrent_requests'), 0);
  },
);

t.test(
  'D43 what goes through costs credits where it has a price, and nothing goes through without them',
  async (t) => {
    const price = { input_per_mtok: 1_000, output_per_mtok: 2_000 };
    const { post, call } = await frontProvider(t, 'openai_chat', jsonAnswer(200, embedding), {
      provider: { passthrough: [{ ...passthrough[0], price }] },
    });
    const left = async (): Promise<unknown> =>
      ((await (await call('GET', '/v1/credits', { key: APP_KEY })).json()) as { remaining_credits: unknown })
        .remaining_credits;
    const before = (await left()) as number;
    const sent = JSON.stringify({ model: 'e', input: 'text' });
    const usd =
      (Math.ceil(sent.length / 3) * 1_000 + Math.ceil(JSON.stringify(embedding).length / 3) * 2_000) / 1e6;
    await (await post('/v1/embeddings', sent)).arrayBuffer();
    await until(async () => (await left()) === before - Math.ceil(usd * 10_000), 'the credits to be taken');

    const poor = await post('/v1/embeddings', { model: 'e', input: 'x'.repeat(100_000) });
    t.equal(poor.status, 402, 'what it would cost is not there');
    t.match(await poor.json(), { error: { code: 'insufficient_credits' } });
  },
);

t.test('D43 no unlisted path, no stranger and no other method comes through', async (t) => {
  const { post, upstream, url } = await frontProvider(t, 'openai_chat', jsonAnswer(200, embedding), {
    provider: { passthrough },
  });
  t.equal((await post('/v1/rerank', {})).status, 404);
  t.equal((await fetch(`${url}/v1/embeddings`, { method: 'POST', body: '{}' })).status, 401);
  t.equal((await fetch(`${url}/v1/embeddings`)).status, 405);
  t.equal(upstream.requests.length, 0);
});

t.test('D43 a provider that refuses our key there is our failure too', async (t) => {
  const { post } = await frontProvider(t, 'openai_chat', jsonAnswer(401, {}), { provider: { passthrough } });
  const response = await post('/v1/embeddings', {});
  t.equal(response.status, 502);
  t.match(await response.json(), { error: { code: 'provider_error' } });
});

t.test('D46 with tls configured the listener speaks https', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-tls-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const authority = createAuthority();
  const { cert, key } = authority.issue({ dns: 'localhost' });
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key);
  const { gateway } = await runGateway(t, { server: { port: 0, tls: { cert: certFile, key: keyFile } } });
  const status = await new Promise((resolve, reject) => {
    request(
      {
        port: gateway.address.port,
        host: '127.0.0.1',
        servername: 'localhost',
        path: '/healthz',
        ca: authority.pem,
        agent: false,
      },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      },
    )
      .on('error', reject)
      .end();
  });
  t.equal(status, 200);
});
