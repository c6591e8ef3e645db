import t from 'tap';
import { faultsOf } from './read.js';

t.test('D46 all faults come at once, each with its line, column, path and what to write', async (t) => {
  const faults = await faultsOf(`version: 1
sever: { port: 1 }
server:
  prot: 80
  host: 12
  admin_port: 70000
  drain: { grace: 5x }
  trusted_proxies: [10.0.0.0/33]
store:
  kind: redi
  redis: []
providers:
  a: { kind: anthropc, base_url: x }
  b:
    kind: openai_chat
    base_url: http://user:pass@host
    tiemouts: { connect: 1s }
    headers: { "bad header": x }
    passthrough: [{ path: /v1/embeddings }]
models:
  - { name: "cl*aude", provder: a }
  - name: fine
    provider: b
    max_output_tokens: 1.5
limits:
audit: { events: some, spool: { max_bytes: "many" } }
telemetry: { logs: { level: [info] } }
`);
  t.strictSame(faults, [
    'gateway.yaml:2:1 sever: is not a known key; did you mean server?',
    'gateway.yaml:4:3 server.prot: is not a known key; did you mean port?',
    'gateway.yaml:5:9 server.host: must be text; put it in quotes',
    'gateway.yaml:6:15 server.admin_port: must be at most 65535',
    'gateway.yaml:7:19 server.drain.grace: must be a duration such as 250ms, 5s, 15m, 24h or 30d',
    'gateway.yaml:8:21 server.trusted_proxies[0]: must be an IP address or a network such as 10.0.0.0/8',
    'gateway.yaml:10:9 store.kind: must be one of embedded, redis; did you mean redis?',
    'gateway.yaml:11:3 store.redis: must be a map of keys, not a list',
    'gateway.yaml:13:14 providers.a.kind: must be one of simulator, anthropic, openai_chat, openai_responses; did you mean anthropic?',
    'gateway.yaml:16:15 providers.b.base_url: must carry no user name or password; use api_key or headers',
    'gateway.yaml:17:5 providers.b.tiemouts: is not a known key; did you mean timeouts?',
    'gateway.yaml:18:16 providers.b.headers["bad header"]: is not a valid header name',
    'gateway.yaml:19:19 providers.b.passthrough[0].unmoderated: is missing',
    'gateway.yaml:21:13 models[0].name: must be a model name, or the beginning of one followed by a single "*"',
    'gateway.yaml:21:24 models[0].provder: is not a known key; did you mean provider?',
    'gateway.yaml:24:24 models[1].max_output_tokens: must be a whole number',
    'gateway.yaml:25:8 limits: has no value; give one or remove the key',
    'gateway.yaml:26:18 audit.events: must be one of all, acted',
    'gateway.yaml:26:44 audit.spool.max_bytes: must be a number',
    'gateway.yaml:27:22 telemetry.logs.level: must be one of debug, info, warn, error, silent',
  ]);
});

t.test('D46 every unknown key of one map is named', async (t) => {
  t.strictSame(await faultsOf('version: 1\nserver: { one: 1, two: 2, __proto__: 3 }\n'), [
    'gateway.yaml:2:11 server.one: is not a known key',
    'gateway.yaml:2:19 server.two: is not a known key',
    'gateway.yaml:2:27 server.__proto__: is not a known key',
  ]);
});

t.test('D46 a key given twice is a fault beside all others', async (t) => {
  t.strictSame(await faultsOf('version: 1\nserver:\n  port: 1\n  port: 2\nstore: { kind: file }\n'), [
    'gateway.yaml:4:3: this key appears twice in the same map',
    'gateway.yaml:5:16 store.kind: must be one of embedded, redis',
  ]);
});

t.test('D46 broken YAML says where, once a line, and quotes nothing of the file', async (t) => {
  const faults = await faultsOf('version: 1\nauth: { pepper: hunter2-secret: [ }\n');
  t.equal(faults.length, 1);
  t.match(faults[0], /^gateway\.yaml:2:\d+: /);
  t.notMatch(faults[0], /hunter2/);
  t.match(await faultsOf('version: 1\nserver: { port: ${PORT} }\n'), [
    /^gateway\.yaml:2:.*put \$\{\.\.\.\} in quotes$/,
  ]);
  t.match(await faultsOf('version: 1\n---\nversion: 1\n'), [/^gateway\.yaml:2:1: .*documents/]);
});

t.test('D46 files that are no configuration are refused plainly', async (t) => {
  const notAMap = 'must be a map of keys that begins with version: 1';
  t.strictSame(await faultsOf(''), [`gateway.yaml:1:1: ${notAMap}`]);
  t.strictSame(await faultsOf('- 1\n'), [`gateway.yaml:1:1: ${notAMap}`]);
  t.strictSame(await faultsOf('server: {}\n'), ['gateway.yaml:1:1 version: is missing']);
  t.strictSame(await faultsOf('version: 2\n'), ['gateway.yaml:1:10 version: must be 1']);
});

t.test('D46 aliases cannot multiply, and nesting cannot exhaust the stack', async (t) => {
  const laughs = ['version: 1', 'a: &a [x,x,x,x,x,x,x,x,x]'];
  for (const [from, to] of ['ab', 'bc', 'cd', 'de', 'ef'])
    laughs.push(`${to}: &${to} [${`*${from},`.repeat(9)}]`);
  t.match(await faultsOf(laughs.join('\n')), [/^gateway\.yaml:1:1: Excessive alias count/]);
  const deep = await faultsOf(`version: 1\nserver: ${'['.repeat(20_000)}`);
  t.ok(deep.length > 0 && deep.length < 10, String(deep.length));
});

t.test('D46 anchors and merge keys work, and a fault inside them has a place', async (t) => {
  const text = `version: 1
providers:
  one: &base { kind: anthropic, base_url: "https://a.example", api_kye: x }
  two: { <<: *base, base_url: "https://b.example" }
models: [{ name: m, provider: two }]
`;
  t.strictSame(await faultsOf(text), [
    'gateway.yaml:3:64 providers.one.api_kye: is not a known key; did you mean api_key?',
    'gateway.yaml:4:3 providers.two.api_kye: is not a known key; did you mean api_key?',
  ]);
  t.strictSame(await faultsOf(text.replace('api_kye', 'api_key')), []);
});
