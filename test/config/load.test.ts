import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { formatFault } from '../../src/config/faults.js';
import { loadConfig } from '../../src/config/load.js';
import { editDistance, nearest } from '../../src/config/suggest.js';
import { configOf, faultsOf } from './read.js';

t.test(
  'D45 without a file the simulator answers on 127.0.0.1:8080 from a store in the working directory',
  async (t) => {
    const result = await loadConfig(null, {});
    if ('faults' in result) throw new Error('faults');
    const { config } = result;
    t.match(config, {
      server: { host: '127.0.0.1', port: 8080 },
      store: { kind: 'embedded', path: join(process.cwd(), '.sluice') },
      providers: { sim: { kind: 'simulator', ttft: 20, tokens_per_second: 400 } },
      models: [{ name: 'sim-small', provider: 'sim' }],
      bootstrap: {
        organizations: [
          {
            id: 'org_demo',
            admin_keys: [{ value: 'generate' }],
            projects: [{ keys: [{ value: 'generate' }] }],
          },
        ],
      },
    });
    t.equal(config.models.length, 1);
    t.strictSame(result.files, []);
  },
);

t.test('D45 the built-in keys may come from the environment, and their faults name no value', async (t) => {
  const given = await loadConfig(null, { SLUICE_APP_KEY: 'my-own-application-key' });
  t.match(given, {
    config: {
      bootstrap: { organizations: [{ projects: [{ keys: [{ value: 'my-own-application-key' }] }] }] },
    },
  });
  const short = await loadConfig(null, { SLUICE_PEPPER: 'hunter2' });
  t.strictSame('faults' in short && short.faults.map(formatFault), [
    '(built-in configuration) auth.pepper: must have at least 32 bytes',
  ]);
});

t.test('D46 one line is a whole configuration; nobody gets an organization unasked', async (t) => {
  const config = await configOf('version: 1');
  t.strictSame(config.bootstrap.organizations, []);
  t.strictSame(Object.keys(config.providers), ['sim']);
});

t.test(
  'D46 durations are milliseconds, times are milliseconds since 1970, prices have their cache parts',
  async (t) => {
    const config = await configOf(`version: 1
server: { drain: { grace: 1.5m }, heartbeat: 250ms }
audit: { retention: 365d }
models: [{ name: m, provider: sim, price: { input_per_mtok: 3, output_per_mtok: 15, cache_write_per_mtok: 6 } }]
bootstrap:
  organizations:
    - { id: org_a, name: A, projects: [{ id: proj_a, name: P, keys: [{ name: k, expires_at: 2031-01-31T00:00:00Z }] }] }
`);
    t.equal(config.server.drain.grace, 90_000);
    t.equal(config.server.heartbeat, 250);
    t.equal(config.audit.retention, 365 * 86_400_000);
    t.strictSame(config.models[0]?.price, {
      input_per_mtok: 3,
      output_per_mtok: 15,
      cache_read_per_mtok: 0.3,
      cache_write_per_mtok: 6,
    });
    t.equal(config.bootstrap.organizations[0]?.projects[0]?.keys[0]?.expires_at, Date.UTC(2031, 0, 31));
    t.match(
      await faultsOf('version: 1\nserver: { heartbeat: 26d }'),
      [/must lie between 0s and/],
      'no timer that overflows',
    );
  },
);

t.test('house: the configuration is frozen to its leaves', async (t) => {
  const config = await configOf('version: 1');
  const frozen = (value: unknown): boolean =>
    typeof value !== 'object' ||
    value === null ||
    (Object.isFrozen(value) && Object.values(value).every(frozen));
  t.ok(frozen(config));
});

t.test('D46 a file that cannot be read is a fault without a place', async (t) => {
  const missing = await loadConfig('/no/such/gateway.yaml', {});
  t.strictSame('faults' in missing && missing.faults.map(formatFault), [
    '/no/such/gateway.yaml: cannot be read (ENOENT)',
  ]);
  const big = join(t.testdir({}), 'big.yaml');
  writeFileSync(big, '#'.repeat(5 * 1_048_576));
  t.match(await loadConfig(big, {}), { faults: [{ message: 'cannot be read (larger than 4 MiB)' }] });
});

t.test('D46 Windows line ends and a byte order mark change nothing', async (t) => {
  t.equal((await configOf('\ufeffversion: 1\r\nserver:\r\n  port: 81\r\n')).server.port, 81);
  t.match(await faultsOf('version: 1\r\nserver:\r\n  prot: 81\r\n'), [/^gateway\.yaml:3:3 server\.prot/]);
});

t.test('any text gives a configuration or faults, never a throw', async () => {
  const token = fc.constantFrom(
    'version',
    ':',
    ' ',
    '1',
    '\n',
    '- ',
    '{',
    '}',
    '[',
    ']',
    '"',
    '${',
    '&a',
    '*a',
    '!!x',
    'server',
    '\t',
    '|',
    '#',
    ',',
    '<<',
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(token, fc.string({ maxLength: 3 })), { maxLength: 30 }),
      async (parts) => {
        await faultsOf(parts.join(''));
      },
    ),
    { numRuns: 300 },
  );
});

t.test('a suggestion is the nearest word, and only when it is near', async (t) => {
  t.equal(editDistance('prot', 'port'), 1, 'a swap is one edit');
  t.equal(nearest('base-url', ['base_url', 'api_key']), 'base_url');
  t.equal(nearest('zebra', ['host', 'port']), undefined);
  const word = fc.string({ maxLength: 12 });
  fc.assert(
    fc.property(word, word, (one, other) => {
      const distance = editDistance(one, other);
      const bound = Math.max(one.length, other.length);
      return (
        distance === editDistance(other, one) && distance <= bound && (distance === 0) === (one === other)
      );
    }),
  );
});
