import type { Json } from '../dialect.js';
import { isObject } from '../event.js';

const SCHEMA_LISTS = ['anyOf', 'allOf', 'oneOf'];
const SCHEMA_MAPS = ['properties', '$defs', 'definitions'];

/** What Anthropic's constrained output understands; the rest goes into the description, where the model reads it. */
const UNDERSTOOD = new Set([
  ...SCHEMA_LISTS,
  ...SCHEMA_MAPS,
  'type',
  'items',
  'enum',
  'const',
  '$ref',
  '$schema',
  'required',
  'title',
  'description',
  'default',
  'format',
]);

const isObjectSchema = (schema: Json): boolean =>
  schema.type === 'object' ||
  (Array.isArray(schema.type) && schema.type.includes('object')) ||
  isObject(schema.properties);

const mapInner = (key: string, value: unknown): unknown => {
  if (key === 'items' && isObject(value)) return closeSchema(value);
  if (SCHEMA_LISTS.includes(key) && Array.isArray(value))
    return value.map((inner: unknown) => (isObject(inner) ? closeSchema(inner) : inner));
  if (SCHEMA_MAPS.includes(key) && isObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, isObject(inner) ? closeSchema(inner) : inner]),
    );
  return value;
};

/** The schema as Anthropic accepts it: every object closed, bounds told in words. */
export const closeSchema = (schema: Json): Json => {
  const kept: Record<string, unknown> = {};
  const told: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'additionalProperties' && typeof value === 'boolean') continue;
    if (UNDERSTOOD.has(key)) kept[key] = mapInner(key, value);
    else told[key] = value;
  }
  if (isObjectSchema(schema)) kept['additionalProperties'] = false;
  if (Object.keys(told).length > 0)
    kept['description'] = [schema.description, JSON.stringify(told)]
      .filter((piece) => typeof piece === 'string')
      .join('\n\n');
  return kept;
};

const innerSchemas = (schema: Json): Json[] => [
  ...(isObject(schema.items) ? [schema.items] : []),
  ...SCHEMA_LISTS.flatMap((key) => (Array.isArray(schema[key]) ? schema[key].filter(isObject) : [])),
  ...SCHEMA_MAPS.flatMap((key) => (isObject(schema[key]) ? Object.values(schema[key]).filter(isObject) : [])),
];

/** Whether OpenAI's strict mode takes the schema: every object closed, every property required. */
export const fitsStrictMode = (schema: Json): boolean => {
  if (isObjectSchema(schema)) {
    const required: unknown[] = Array.isArray(schema.required) ? schema.required : [];
    const names = Object.keys(isObject(schema.properties) ? schema.properties : {});
    if (schema.additionalProperties !== false || !names.every((name) => required.includes(name)))
      return false;
  }
  return innerSchemas(schema).every(fitsStrictMode);
};

/** A function without a schema takes nothing. */
export const objectSchema = (schema: Json | null): Json =>
  schema === null
    ? { type: 'object', properties: {} }
    : 'type' in schema
      ? schema
      : { type: 'object', ...schema };
