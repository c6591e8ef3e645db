import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { formatFault } from '../../src/config/faults.js';
import { loadConfig } from '../../src/config/load.js';
import { resolveReferences } from '../../src/config/references.js';
import { configOf, faultsOf } from './read.js';

t.test('D46 references are replaced inside text values', async (t) => {
  const environment = { KEY: '123', EMPTY: '', PORT: '9191', FLAG: 'false', TRICK: '${KEY}' };
  const config = await configOf(
    `version: 1
server: { host: "\${HOST:-0.0.0.0}", port: "\${PORT:-1}" }
console: { enabled: "\${FLAG}" }
providers:
  p:
    kind: anthropic
    base_url: "https://\${NAME:-a}.example"
    api_key: "\${KEY}"
    headers: { a: "\${EMPTY:-fallback}", b: "x\${EMPTY}y", c: "$\${KEY}", d: "\${TRICK}", e: "\${KEY}-\${KEY}" }
models: [{ name: m, provider: p }]
`,
    environment,
  );
  t.equal(config.server.host, '0.0.0.0');
  t.equal(config.server.port, 9191, 'a number where a number is wanted');
  t.equal(config.console.enabled, false);
  t.match(config.providers['p'], {
    base_url: 'https://a.example',
    api_key: '123',
    headers: { a: 'fallback', b: 'xy', c: '${KEY}', d: '${KEY}', e: '123-123' },
  });
});

t.test('D46 keys are not replaced, nor are parts of plain text', async (t) => {
  const { value } = await resolveReferences({ '${A}': ['$A', '{A}', '$', 1, null, true] }, '/', { A: 'x' });
  t.strictSame(value, { '${A}': ['$A', '{A}', '$', 1, null, true] });
});

t.test('D46 a missing variable or file, or a broken reference, is one fault at its place', async (t) => {
  const faults = await faultsOf(
    'version: 1\nauth:\n  pepper: ${PEPER}\nserver: { host: "${file:./nowhere}", port: "${PORT", max_body_bytes: "${A B}" }\n',
  );
  const broken = 'is not a reference; write ${NAME}, ${NAME:-default} or ${file:PATH}, or $${ for a plain ${';
  t.strictSame(faults, [
    'gateway.yaml:3:11 auth.pepper: the environment variable PEPER is not set and has no default',
    'gateway.yaml:4:17 server.host: the file it names cannot be read (ENOENT)',
    `gateway.yaml:4:44 server.port: ${broken}`,
    `gateway.yaml:4:70 server.max_body_bytes: ${broken}`,
  ]);
});

t.test(
  'D46 a file gives its content without its last newline, from the folder of the configuration',
  async (t) => {
    const folder = t.testdir({
      'gateway.yaml': 'version: 1\nauth: { pepper: "${file:secrets/pepper}" }\n',
      secrets: { pepper: `${'p'.repeat(31)}\n\n` },
    });
    const result = await loadConfig(join(folder, 'gateway.yaml'), {});
    if ('faults' in result) throw new Error(result.faults.map(formatFault).join('\n'));
    t.equal(result.config.auth.pepper, `${'p'.repeat(31)}\n`);
    t.strictSame(result.files, [join(folder, 'gateway.yaml'), join(folder, 'secrets/pepper')]);
    t.equal(result.config.store.path, join(folder, '.sluice'), 'relative paths start there too');
  },
);

t.test('D46 no value from outside is ever shown in a fault', async (t) => {
  const secret = 'hunter2';
  const folder = t.testdir({ secret, 'gateway.yaml': '' });
  const places = ['', '[', 'x: ', '\n  deeper: '];
  const keys = [
    'server',
    'store',
    'providers',
    'models',
    'auth',
    'bootstrap',
    'limits',
    'console',
    'unknown',
  ];
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...keys),
      fc.constantFrom(
        'kind',
        'port',
        'host',
        'path',
        'enabled',
        'pepper',
        'url',
        'organizations',
        'jwt',
        'x',
      ),
      fc.constantFrom('${SECRET}', '${file:secret}', 'a ${SECRET} b'),
      fc.constantFrom(...places),
      async (section, key, reference, shape) => {
        const value =
          shape === '[' ? `["${reference}"]` : shape === '' ? `"${reference}"` : `{ y: "${reference}" }`;
        writeFileSync(join(folder, 'gateway.yaml'), `version: 1\n${section}:\n  ${key}: ${value}\n`);
        const result = await loadConfig(join(folder, 'gateway.yaml'), { SECRET: secret });
        if ('faults' in result) return !result.faults.some((fault) => formatFault(fault).includes(secret));
        return true;
      },
    ),
    { numRuns: 300 },
  );
  const faults = await faultsOf(
    `version: 1
store: { kind: "\${SECRET}" }
models: [{ name: "\${SECRET} x", provider: "\${SECRET}" }]
policies: { judge: { kind: "\${SECRET}" } }
`,
    { SECRET: 'redis2' },
  );
  t.ok(faults.length >= 3);
  t.notMatch(faults.join('\n'), /redis2|did you mean/, 'nor told by way of a suggestion');
});
