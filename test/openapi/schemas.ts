import { toJsonSchema, toJsonSchemaDefs, type ConversionConfig } from '@valibot/to-json-schema';
import * as v from 'valibot';
import type { DocSchema } from '../../src/core/exchange.js';

export type JsonNode = Record<string, unknown>;

const isSchema = (value: unknown): value is v.GenericSchema =>
  typeof value === 'object' && value !== null && (value as JsonNode)['kind'] === 'schema';

/** A lazy schema chooses by its input: it is shown one of each kind. */
const samples: readonly unknown[] = ['', [], {}, { type: 'text' }];
const choicesOf = (lazy: v.LazySchema<v.GenericSchema>): readonly v.GenericSchema[] => [
  ...new Set(samples.map((sample) => lazy.getter(sample))),
];

const isLazy = (schema: object): schema is v.LazySchema<v.GenericSchema> =>
  'type' in schema && schema.type === 'lazy';

const partsOf = (schema: v.GenericSchema): readonly v.GenericSchema[] => {
  if (isLazy(schema)) return choicesOf(schema);
  const { entries = {}, options = [], pipe = [], item, wrapped } = schema as unknown as JsonNode;
  return [item, wrapped, ...Object.values(entries as JsonNode), ...[options, pipe].flat()].filter(isSchema);
};

/** Every schema with a title, at any depth, by its title. */
const titledIn = (schemas: readonly DocSchema[]): Record<string, v.GenericSchema> => {
  const titled: Record<string, v.GenericSchema> = {};
  const visit = (schema: v.GenericSchema): void => {
    const title = v.getTitle(schema);
    if (title !== undefined) {
      if (titled[title] === schema) return;
      if (titled[title]) throw new Error(`Two schemas are called ${title}.`);
      titled[title] = schema;
    }
    partsOf(schema).forEach(visit);
  };
  schemas.filter(isSchema).forEach(visit);
  return titled;
};

export interface Components {
  readonly schemas: Readonly<Record<string, JsonNode>>;
  /** A schema as it stands in its place: a reference where it has a title. */
  readonly place: (schema: DocSchema) => JsonNode;
}

/** Titled schemas become components, said once and referred to. */
export const collectComponents = (given: readonly DocSchema[]): Components => {
  const definitions = titledIn(given);
  const config: ConversionConfig = {
    target: 'draft-2020-12',
    typeMode: 'input',
    errorMode: 'throw',
    ignoreActions: ['check', 'raw_check', 'partial_check'],
    overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
    overrideSchema: ({ valibotSchema }) => {
      if (isLazy(valibotSchema)) return { anyOf: choicesOf(valibotSchema).map((each) => convert(each)) };
      return valibotSchema.type === 'custom' ? { type: 'object' } : null;
    },
  };
  const convert = (schema: v.GenericSchema, known: ConversionConfig = {}): JsonNode => {
    const converted = Object.entries(toJsonSchema(schema, { ...config, ...known }));
    return Object.fromEntries(converted.filter(([name]) => name !== '$schema' && name !== '$defs'));
  };
  const place = (schema: DocSchema): JsonNode => {
    if (!isSchema(schema)) return schema as JsonNode;
    const title = v.getTitle(schema);
    if (title !== undefined && definitions[title] === schema)
      return { $ref: `#/components/schemas/${title}` };
    return convert(schema, { definitions });
  };
  const all = toJsonSchemaDefs(definitions, config);
  const schemas = Object.fromEntries(
    Object.keys(definitions)
      .sort()
      .map((title) => [title, all[title] as JsonNode]),
  );
  return { schemas, place };
};
