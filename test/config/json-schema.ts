import { toJsonSchema } from '@valibot/to-json-schema';
import { configSchema } from '../../src/config/schema.js';

export type JsonNode = Record<string, unknown>;

const REFERENCE = '^\\$\\{.+\\}$';

/** Where a number, a boolean, a word of a list or a pattern is wanted, `${NAME}` may stand too. */
function allowReferences(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(allowReferences);
  if (typeof node !== 'object' || node === null) return node;
  const { enum: words, ...rest } = Object.fromEntries<unknown>(
    Object.entries(node).map(([key, value]) => [
      key,
      // Defaults, examples and names of keys are plain data.
      ['default', 'examples', 'propertyNames', 'required'].includes(key) ? value : allowReferences(value),
    ]),
  );
  if (words !== undefined) {
    const { type, ...described } = rest;
    return {
      ...described,
      anyOf: [
        { type, enum: words },
        { type: 'string', pattern: REFERENCE },
      ],
    };
  }
  if (rest['type'] === 'number' || rest['type'] === 'integer' || rest['type'] === 'boolean')
    return { ...rest, type: [rest['type'], 'string'], pattern: REFERENCE };
  if (rest['type'] === 'string' && typeof rest['pattern'] === 'string')
    return { ...rest, pattern: `(?:${rest['pattern']})|\\$\\{` };
  return rest;
}

/** The JSON Schema of the configuration file, for editors. */
export function generateJsonSchema(): JsonNode {
  const schema = toJsonSchema(configSchema, { typeMode: 'input', errorMode: 'ignore' });
  const { $schema, ...rest } = allowReferences(schema) as JsonNode;
  return { $schema, title: 'Sluice configuration', ...rest };
}

export const schemaText = (): string => `${JSON.stringify(generateJsonSchema(), null, 2)}\n`;
