import { join } from 'node:path';
import t from 'tap';
import { formatFault } from '../../src/config/faults.js';
import { loadConfig, parseConfig } from '../../src/config/load.js';
import { readRepositoryFile, repositoryRoot } from '../support/repository.js';
import { generateJsonSchema, schemaText, type JsonNode } from './json-schema.js';

const EXAMPLE = join(repositoryRoot, 'gateway.example.yaml');

/** Every property of the schema as a dotted path, with its node. */
function* propertiesOf(node: unknown, path = ''): Generator<[string, JsonNode]> {
  if (typeof node !== 'object' || node === null) return;
  const { properties, items, additionalProperties, anyOf, oneOf } = node as JsonNode;
  for (const [name, property] of Object.entries((properties ?? {}) as JsonNode)) {
    yield [`${path}.${name}`, property as JsonNode];
    yield* propertiesOf(property, `${path}.${name}`);
  }
  yield* propertiesOf(items, `${path}[]`);
  yield* propertiesOf(additionalProperties, `${path}.*`);
  for (const option of [...((anyOf ?? []) as unknown[]), ...((oneOf ?? []) as unknown[])])
    yield* propertiesOf(option, path);
}

t.test('D46 config/gateway.schema.json is what the schema says today', async (t) => {
  t.equal(
    readRepositoryFile('config/gateway.schema.json'),
    schemaText(),
    'stale; write it anew with: node src/build.mjs --all && node dist/test/config/write-schema.js',
  );
});

t.test('D46 every key has a description, so that editors can explain it', async (t) => {
  const properties = [...propertiesOf(generateJsonSchema())];
  t.ok(properties.length > 120, String(properties.length));
  const silent = properties.filter(([, { description }]) => typeof description !== 'string');
  t.strictSame(
    silent.map(([path]) => path),
    [],
  );
});

t.test(
  'D46 the JSON Schema speaks of the file: durations are text, references may stand for numbers',
  async (t) => {
    const properties = new Map(propertiesOf(generateJsonSchema()));
    t.match(properties.get('.server.drain.grace'), { type: 'string', default: '60s' });
    t.match(properties.get('.server.port'), { type: ['integer', 'string'], minimum: 0, default: 8080 });
    t.equal(generateJsonSchema()['additionalProperties'], false);
  },
);

t.test('D46 gateway.example.yaml loads, with nothing set in the environment', async (t) => {
  const result = await loadConfig(EXAMPLE, {});
  t.strictSame('faults' in result ? result.faults.map(formatFault) : [], []);
});

t.test('D46 every key of the schema appears in gateway.example.yaml', async (t) => {
  const text = readRepositoryFile('gateway.example.yaml');
  t.match(text, /^# yaml-language-server: \$schema=\.\/config\/gateway\.schema\.json\n/);
  const words = new Set([...text.matchAll(/([a-z_]+):/g)].map((match) => match[1]));
  const missing = [...propertiesOf(generateJsonSchema())].filter(
    ([path]) => !words.has(path.split('.').at(-1)),
  );
  t.strictSame(
    missing.map(([path]) => path),
    [],
  );
});

t.test('D46 the example shows the defaults: what it says and what silence means agree', async (t) => {
  const [example, silence] = await Promise.all([
    loadConfig(EXAMPLE, {}),
    parseConfig('version: 1', EXAMPLE, {}),
  ]);
  if ('faults' in example || 'faults' in silence) throw new Error('faults');
  for (const section of [
    'server',
    'store',
    'credits',
    'auth',
    'moderation',
    'policies',
    'sinks',
    'telemetry',
    'console',
  ] as const)
    t.strictSame(example.config[section], silence.config[section], section);
  t.strictSame(example.config.limits.admin, silence.config.limits.admin);
  t.strictSame(example.config.providers['sim'], silence.config.providers['sim']);
});
