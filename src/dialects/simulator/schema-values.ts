import type { Json } from '../dialect.js';
import { isObject } from '../event.js';
import type { Random } from './random.js';

type Schema = Json;

const DEEPEST = 12;
const MOST_VALUES = 1_000;
const MOST_ITEMS = 20;
const LONGEST_TEXT = 1_000;

const WORDS = ['amber', 'birch', 'copper', 'delta', 'ember', 'fern', 'granite', 'harbour', 'iris', 'juniper'];
const FORMATS: Readonly<Record<string, string>> = {
  'date-time': '2026-03-14T09:26:53Z',
  date: '2026-03-14',
  time: '09:26:53Z',
  duration: 'PT15M',
  email: 'someone@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  uuid: '6f1c2f0e-3b5d-4a58-9a57-0f5f6c1d2e3a',
};

const numberOr = (value: unknown, otherwise: number): number =>
  typeof value === 'number' ? value : otherwise;

/** Follows `#/a/b` inside the root schema. */
const resolve = (root: unknown, pointer: string): unknown => {
  let place = root;
  for (const step of pointer.split('/').slice(1)) {
    const key = decodePointer(step);
    if (typeof place !== 'object' || place === null || !Object.hasOwn(place, key)) return {};
    place = (place as Schema)[key];
  }
  return place;
};

const decodePointer = (step: string): string => {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return step;
  }
};

const stringFor = (schema: Schema, random: Random): string => {
  const formatted = typeof schema.format === 'string' ? FORMATS[schema.format] : undefined;
  if (formatted !== undefined) return formatted;
  const least = Math.min(numberOr(schema.minLength, 0), LONGEST_TEXT);
  let text = random.pick(WORDS);
  while (text.length < least) text += ` ${random.pick(WORDS)}`;
  return text.slice(0, Math.max(0, numberOr(schema.maxLength, text.length)));
};

const numberFor = (schema: Schema, random: Random, whole: boolean): number => {
  const unit = numberOr(schema.multipleOf, whole ? 1 : 0.5);
  const step = unit > 0 ? unit : 1;
  const above = Math.max(
    numberOr(schema.minimum, -Infinity),
    numberOr(schema.exclusiveMinimum, -Infinity) + step,
  );
  const below = Math.min(
    numberOr(schema.maximum, Infinity),
    numberOr(schema.exclusiveMaximum, Infinity) - step,
  );
  const low = Number.isFinite(above) ? above : Math.min(1, below);
  const value = Math.ceil(low / step) * step;
  const room = Math.floor((Math.min(below, value + 100 * step) - value) / step);
  return value + (room > 0 ? random.below(room + 1) * step : 0);
};

const typeOf = (schema: Schema): unknown => {
  const { type } = schema;
  if (Array.isArray(type)) return type.find((one) => one !== 'null') ?? 'null';
  if (type !== undefined) return type;
  if ('properties' in schema || 'required' in schema) return 'object';
  if ('items' in schema || 'prefixItems' in schema) return 'array';
  return 'string';
};

/** Where a schema offers a choice, the first that is not null. */
const chosenFrom = (schema: Schema): unknown => {
  for (const key of ['anyOf', 'oneOf']) {
    const options = schema[key];
    if (!Array.isArray(options) || options.length === 0) continue;
    return options.find((option) => isObject(option) && option.type !== 'null') ?? options[0];
  }
  return undefined;
};

const joinAll = (schema: Schema, parts: readonly unknown[]): Schema => {
  const schemas: Schema[] = [{ ...schema, allOf: undefined }, ...parts.filter(isObject)];
  const properties = schemas.flatMap((part) =>
    isObject(part.properties) ? Object.entries(part.properties) : [],
  );
  return {
    ...Object.fromEntries(schemas.flatMap((part) => Object.entries(part))),
    properties: Object.fromEntries(properties),
    required: schemas.flatMap((part) => (Array.isArray(part.required) ? (part.required as unknown[]) : [])),
  };
};

/** A value the schema accepts, as well as can be told without `pattern`; the same for the same seed. */
export const valueFor = (root: unknown, random: Random): unknown => {
  let left = MOST_VALUES;

  const objectFor = (schema: Schema, depth: number): object => {
    const properties = isObject(schema.properties) ? schema.properties : {};
    const names = Array.isArray(schema.required)
      ? schema.required.filter((name) => typeof name === 'string')
      : Object.keys(properties);
    const own = (name: string): unknown => (Object.hasOwn(properties, name) ? properties[name] : {});
    return Object.fromEntries(names.map((name) => [name, make(own(name), depth + 1)]));
  };

  const arrayFor = (schema: Schema, depth: number): unknown[] => {
    const fixed = Array.isArray(schema.prefixItems) ? (schema.prefixItems as unknown[]) : [];
    const wanted = Math.max(numberOr(schema.minItems, 0), fixed.length, depth < DEEPEST ? 1 : 0);
    const length = Math.min(wanted, numberOr(schema.maxItems, MOST_ITEMS), MOST_ITEMS);
    return Array.from({ length }, (_, index) => make(fixed[index] ?? schema.items, depth + 1));
  };

  const make = (given: unknown, depth: number): unknown => {
    if (!isObject(given)) return random.pick(WORDS);
    if (left-- <= 0 || depth > DEEPEST) return null; // a schema that refers to itself has to end somewhere
    if ('const' in given) return given.const;
    if (Array.isArray(given.enum) && given.enum.length > 0) return random.pick(given.enum as unknown[]);
    if (typeof given.$ref === 'string') return make(resolve(root, given.$ref), depth + 1);
    const chosen = chosenFrom(given);
    if (chosen !== undefined) return make(chosen, depth + 1);
    if (Array.isArray(given.allOf))
      return make(
        joinAll(
          given,
          given.allOf.map((part: unknown) =>
            isObject(part) && typeof part.$ref === 'string' ? resolve(root, part.$ref) : part,
          ),
        ),
        depth + 1,
      );
    switch (typeOf(given)) {
      case 'object':
        return objectFor(given, depth);
      case 'array':
        return arrayFor(given, depth);
      case 'integer':
        return numberFor(given, random, true);
      case 'number':
        return numberFor(given, random, false);
      case 'boolean':
        return random.below(2) === 0;
      case 'null':
        return null;
      default:
        return stringFor(given, random);
    }
  };

  return make(root, 0);
};
