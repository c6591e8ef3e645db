import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import type { Json } from '../../../src/dialects/dialect.js';
import { seedRandom } from '../../../src/dialects/simulator/random.js';
import { valueFor } from '../../../src/dialects/simulator/schema-values.js';

const make = (schema: unknown, seed = 1): unknown => valueFor(schema, seedRandom(seed));

/** A schema of every kind the generator knows, drawn small. */
const { schema } = fc.letrec<{ schema: Json; object: Json; leaf: Json }>((tie) => ({
  leaf: fc.oneof(
    fc.record({ type: fc.constant('string'), minLength: fc.nat(20) }),
    fc
      .tuple(fc.integer({ min: -50, max: 50 }), fc.nat(30))
      .map(([minimum, span]) => ({ type: 'integer', minimum, maximum: minimum + span })),
    fc.record({ type: fc.constantFrom('number', 'boolean', 'null') }),
    fc.record({ enum: fc.array(fc.jsonValue({ maxDepth: 1 }), { minLength: 1, maxLength: 3 }) }),
    fc.record({ const: fc.jsonValue({ maxDepth: 1 }) }),
  ),
  object: fc
    .uniqueArray(fc.tuple(fc.string({ minLength: 1, maxLength: 4 }), tie('schema')), {
      maxLength: 3,
      selector: ([name]) => name,
    })
    .map((entries) => ({
      type: 'object',
      properties: Object.fromEntries(entries),
      required: entries.map(([name]) => name),
    })),
  schema: fc.oneof(
    { maxDepth: 3 },
    tie('leaf'),
    tie('object'),
    tie('schema').map((items) => ({ type: 'array', items, minItems: 1, maxItems: 3 })),
    fc.tuple(tie('schema'), tie('schema')).map((anyOf) => ({ anyOf })),
  ),
}));

const fits = (schema: Json, value: unknown): boolean => {
  if ('const' in schema) return isEqual(schema.const, value);
  if (Array.isArray(schema.enum)) return schema.enum.some((one) => isEqual(one, value));
  if (Array.isArray(schema.anyOf)) return schema.anyOf.some((one) => fits(one as Json, value));
  switch (schema.type) {
    case 'string':
      return typeof value === 'string' && value.length >= ((schema.minLength as number | undefined) ?? 0);
    case 'integer':
      return (
        Number.isInteger(value) &&
        (value as number) >= (schema.minimum as number) &&
        (value as number) <= (schema.maximum as number)
      );
    case 'number':
    case 'boolean':
      return typeof value === schema.type;
    case 'null':
      return value === null;
    case 'array':
      return (
        Array.isArray(value) && value.length > 0 && value.every((one) => fits(schema.items as Json, one))
      );
    default:
      return (schema.required as string[]).every(
        (name) =>
          Object.hasOwn(value as Json, name) &&
          fits((schema.properties as Json)[name] as Json, (value as Json)[name]),
      );
  }
};

const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

t.test('D49 any value fits its schema and follows from the seed', async (t) => {
  fc.assert(
    fc.property(schema, fc.nat(), (schema, seed) => {
      const value = make(schema, seed);
      assert.ok(fits(schema, value), JSON.stringify(value));
      assert.deepEqual(make(schema, seed), value);
    }),
    { numRuns: 300 },
  );
  t.pass();
});

t.test('D49 formats, bounds, references and joined schemas are respected', async (t) => {
  t.match(make({ type: 'string', format: 'date-time' }), /^\d{4}-\d\d-\d\dT/);
  t.equal((make({ type: 'string', maxLength: 2 }) as string).length, 2);
  t.equal((make({ type: 'number', exclusiveMinimum: 3, maximum: 4 }) as number) > 3, true);
  t.equal((make({ type: 'integer', multipleOf: 7, minimum: 8 }) as number) % 7, 0);
  t.type(make({ type: ['null', 'boolean'] }), 'boolean');
  t.match(make({ $ref: '#/$defs/a', $defs: { a: { const: 'here' } } }), 'here');
  t.match(
    make({
      allOf: [{ properties: { a: { const: 1 } }, required: ['a'] }, { $ref: '#/$defs/b' }],
      $defs: { b: { properties: { b: { const: 2 } }, required: ['b'] } },
    }),
    { a: 1, b: 2 },
  );
  t.strictSame(make({ type: 'array', prefixItems: [{ const: 1 }, { const: 2 }] }), [1, 2]);
  t.type(make(true), 'string');
});

t.test('D49 a schema that refers to itself, or asks for the moon, ends', async (t) => {
  const self = { type: 'object', properties: { a: { $ref: '#' }, b: { $ref: '#' } }, required: ['a', 'b'] };
  t.ok(JSON.stringify(make(self)).length < 100_000);
  t.ok((make({ type: 'array', items: { type: 'string' }, minItems: 1e9 }) as unknown[]).length <= 20);
  t.ok((make({ type: 'string', minLength: 1e9 }) as string).length <= 1_100);
  t.equal(make({ $ref: '#' }), null);
  const odd = make(JSON.parse('{"type":"object","required":["__proto__"]}')) as object;
  t.ok(Object.hasOwn(odd, '__proto__'));
});
