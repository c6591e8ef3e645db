import { chmodSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { examineNode } from '../../src/commands/doctor/machine.js';
import { freePort } from '../support/ports.js';
import { startRedis } from '../support/redis.js';
import { sluice, sluiceHere } from './sluice.js';

/** Runs doctor on a configuration and gives its lines by what they speak of. */
async function examine(t: Test, text: string, env: Record<string, string> = {}) {
  const file = join(t.testdir({ 'gateway.yaml': `version: 1\n${text}` }), 'gateway.yaml');
  const { code, out, err } = await sluiceHere(['doctor', '--config', file, '--json'], { env });
  const findings = JSON.parse(out) as { what: string; state: string; detail: string; hint?: string }[];
  const line = (what: string): string =>
    findings
      .filter((one) => one.what === what)
      .map(({ state, detail }) => `${state} ${detail}`)
      .join('\n');
  return { code, err, line };
}

const onFreePort = async (): Promise<string> => `server: { port: ${await freePort()} }\n`;

t.test('D45 a fresh folder is found healthy, and left untouched', async (t) => {
  const folder = t.testdir({ 'gateway.yaml': `version: 1\n${await onFreePort()}` });
  const { code, out } = await sluice(['doctor', '--config', join(folder, 'gateway.yaml')]);
  t.equal(code, 0, out);
  t.match(out, /^ok {4}configuration: valid$/m);
  t.match(out, /^ok {4}pepper: made at the first start$/m);
  t.match(out, /^ok {4}port: 127\.0\.0\.1:\d+ is free$/m);
  t.match(out, /^ok {4}store: .* will be made at the first start$/m);
  t.match(out, /^ok {4}provider sim: simulator$/m);
  t.match(await sluiceHere(['doctor', '--config', join(folder, 'gateway.yaml')]), { out: /will be made/ });
});

t.test('D45 a port that another program holds is a failure with a hint', async (t) => {
  const server = createServer((socket) => socket.end('no http here'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const { code, line } = await examine(t, `server: { port: ${port} }\n`);
  t.equal(code, 1);
  t.equal(line('port'), `fail 127.0.0.1:${port}: EADDRINUSE`);
});

t.test('D45 providers are reached without a call; one that is away is a failure', async (t) => {
  let bytes = 0;
  const server = createServer((socket) =>
    socket.on('data', (data) => (bytes += data.length)).on('error', () => {}),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const away = await freePort();
  const { code, line } = await examine(
    t,
    `${await onFreePort()}providers:
  here: { kind: openai_chat, base_url: "http://127.0.0.1:${port}/v1" }
  away: { kind: openai_chat, base_url: "http://127.0.0.1:${away}/v1", api_key: "\${SECRET}" }
  odd: { kind: anthropic, base_url: "https://127.0.0.1:${port}", api_key: x, proxy_url: "http://user:\${SECRET}@127.0.0.1:${port}" }
models: [{ name: m, provider: here }]
`,
    { SECRET: 'hunter2' },
  );
  t.equal(code, 1);
  t.match(line('provider here'), `ok 127.0.0.1:${port} reached in`);
  t.match(line('provider away'), `fail 127.0.0.1:${away}: ECONNREFUSED`);
  t.match(line('provider odd (proxy)'), /^ok /);
  t.equal(bytes, 0, 'nothing was sent');
});

t.test('D45 an embedded store is opened, and its permissions looked at', async (t) => {
  const folder = t.testdir({ 'gateway.yaml': `version: 1\n${await onFreePort()}store: { path: store }\n` });
  const config = ['--config', join(folder, 'gateway.yaml')];
  await sluiceHere(['orgs', 'create', 'A', ...config]);
  t.match(
    (await sluiceHere(['doctor', ...config])).out,
    /^ok {4}permissions: .*\nok {4}store: embedded, answers in .*\nok {4}disk: /m,
  );
  chmodSync(join(folder, 'store'), 0o755);
  const { code, out } = await sluiceHere(['doctor', ...config]);
  t.equal(code, 0, 'a warning is no failure');
  t.match(out, /^warn {2}permissions: .*\/store is open to others \(755\); chmod go= /m);
});

t.test('D45 Redis: version, eviction, persistence and clock are looked at', async (t) => {
  const redis = await startRedis({ args: ['--maxmemory-policy', 'allkeys-lru'] });
  t.teardown(() => redis.stop());
  const text = `${await onFreePort()}auth: { pepper: "${'p'.repeat(32)}" }\nstore: { kind: redis, redis: { url: "${redis.url}" } }\n`;
  const { code, line } = await examine(t, text);
  t.equal(code, 1);
  t.match(line('store'), /^(?:ok|warn) redis, answers in/);
  t.match(line('clock'), /^ok .* apart from Redis$/);
  t.match(line('redis version'), /^ok \d/);
  t.equal(line('eviction'), 'fail allkeys-lru');
  t.match(line('persistence'), /^warn/);
  await redis.stop();
  t.match((await examine(t, text)).line('store'), /^fail redis: /);
});

t.test('D45 weak spots that still run are warnings', async (t) => {
  const { code, line } = await examine(
    t,
    `${await onFreePort()}store: { path: ":memory:" }
auth: { jwt: { enabled: true, secret: short } }
providers: { p: { kind: openai_chat, base_url: "http://127.0.0.1:${await freePort()}", api_key: x } }
models: [{ name: m, provider: p }]
bootstrap: { organizations: [{ id: org_a, name: A, credits: 5 }] }
`,
  );
  t.equal(code, 1, 'its provider is away');
  t.match(line('jwt'), /^warn auth\.jwt\.secret is shorter/);
  t.match(line('pepper'), /^warn new at every start/);
  t.match(line('store'), /^warn in memory/);
  t.match(line('prices'), /^warn m costs nothing/);
});

t.test('reliability 0.1 the Node line is judged', async (t) => {
  t.strictSame(
    ['18.20.0', '20.17.0', '20.20.2', '22.23.3', '23.1.0', '24.21.0'].map(
      (version) => examineNode(version).state,
    ),
    ['fail', 'fail', 'warn', 'ok', 'warn', 'ok'],
  );
});
