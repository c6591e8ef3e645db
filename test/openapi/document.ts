import type { AuthRule, DocSchema, OperationDoc, QueryDoc, Route } from '../../src/core/exchange.js';
import { apiRoutes, operationRoutes, type Doors } from '../../src/routes.js';
import { errorSchemas } from './errors.js';
import { ErrorResponses, headers, statusesOf, success } from './responses.js';
import { collectComponents, type Components, type JsonNode } from './schemas.js';

type Documented = Route & { readonly doc: OperationDoc };

/** Stands for every door: the document is made from the table alone. */
const anyDoor: unknown = new Proxy(() => undefined, { get: () => anyDoor });

const isDocumented = (route: Route): route is Documented => route.doc !== undefined;

/** The rows of the table that the document tells of. */
export const documentedRoutes = (): readonly Documented[] => {
  const doors = new Proxy({}, { get: () => anyDoor }) as Doors;
  const bounds = { inferenceBytes: 33_554_432, metricsPath: '/metrics' };
  return [...apiRoutes(doors, bounds, []), ...operationRoutes(doors, bounds)].filter(isDocumented);
};

const bearer = (about: string, format?: string): JsonNode => ({
  type: 'http',
  scheme: 'bearer',
  ...(format !== undefined && { bearerFormat: format }),
  description: about,
});

const securitySchemes: Readonly<Record<string, JsonNode>> = {
  administrator_key: bearer('An administrator key. For servers only, never for browsers.'),
  project_key: bearer('The key of an application.'),
  jwt: bearer('A JSON Web Token of the configured issuer.', 'JWT'),
  x_api_key: {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description: 'A project key; `Authorization` wins over it.',
  },
};

const schemes: Readonly<Record<AuthRule, readonly string[]>> = {
  public: [],
  admin: ['administrator_key'],
  gateway: ['administrator_key', 'project_key', 'jwt'],
  inference: ['project_key', 'jwt'],
  inference_or_free: ['project_key', 'jwt'],
  project_key: ['project_key'],
};

const securityOf = ({ auth, family, doc }: Documented): readonly JsonNode[] => {
  const takesApiKeyHeader = family === 'messages' || family === 'count_tokens';
  const names = [...schemes[auth], ...(takesApiKeyHeader ? ['x_api_key'] : [])];
  const asked = names.map((name) => ({ [name]: [] }));
  return doc.headers?.['X-Free-Tier'] ? [...asked, {}] : asked; // {}: anonymous
};

const parameter = (
  place: Components['place'],
  within: 'path' | 'query' | 'header',
  name: string,
  { about, schema, required = false }: QueryDoc,
): JsonNode => ({ name, in: within, description: about, required, schema: place(schema) });

const idSchema = { type: 'string', minLength: 1, maxLength: 200 };
const idempotencyKey: QueryDoc = {
  about:
    'A request sent again with the same key and the same content within 24 hours is answered, not repeated.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

const parametersOf = ({ path, doc }: Documented, { place }: Components): readonly JsonNode[] => [
  ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) =>
    parameter(place, 'path', name, {
      about: `The id of the ${name.replace(/_id$/, '')}.`,
      schema: idSchema,
      required: true,
    }),
  ),
  ...Object.entries(doc.query ?? {}).map(([name, each]) => parameter(place, 'query', name, each)),
  ...Object.entries(doc.headers ?? {}).map(([name, each]) => parameter(place, 'header', name, each)),
  ...(doc.replayable ? [parameter(place, 'header', 'Idempotency-Key', idempotencyKey)] : []),
];

const responsesOf = (route: Documented, components: Components, errors: ErrorResponses): JsonNode =>
  Object.fromEntries([
    ['200', success(route, components)],
    ...statusesOf(route).map((status) => [
      status,
      // The one 503 that is no error: a probe's answer.
      route.operation === 'readyz' && status === '503'
        ? success(route, components)
        : errors.refer(route.family, status),
    ]),
  ]) as JsonNode;

const operationOf = (route: Documented, components: Components, errors: ErrorResponses): JsonNode => {
  const { doc, operation } = route;
  const parameters = parametersOf(route, components);
  return {
    operationId: operation,
    tags: [doc.tag],
    summary: doc.summary,
    ...(doc.description !== undefined && { description: doc.description }),
    ...(doc.extension === true && { 'x-sluice-extension': true }),
    ...(route.permission && { 'x-sluice-permission': route.permission }),
    security: securityOf(route),
    ...(parameters.length > 0 && { parameters }),
    ...(doc.body && {
      requestBody: {
        required: true,
        description: `At most ${route.bodyBytes} bytes.`,
        content: { 'application/json': { schema: components.place(doc.body) } },
      },
    }),
    responses: responsesOf(route, components, errors),
  };
};

const schemasOf = ({ doc }: Documented): readonly DocSchema[] => [
  ...(doc.body ? [doc.body] : []),
  ...Object.values(doc.answer),
];

/** The OpenAPI document of the whole interface. */
export const buildDocument = (): JsonNode => {
  const routes = documentedRoutes();
  const components = collectComponents([...routes.flatMap(schemasOf), ...errorSchemas]);
  const errors = new ErrorResponses(components);
  const paths: Record<string, JsonNode> = {};
  for (const route of routes) {
    const methods = (paths[route.path] ??= {});
    methods[route.method.toLowerCase()] = operationOf(route, components, errors);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sluice',
      version: '0.1.0',
      summary: 'Policy administration and model gateway',
      description:
        'What the contract lacks and its users need is marked `x-sluice-extension`. ' +
        'Every error code is explained at `/docs/errors`.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(routes.map(({ doc }) => doc.tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: components.schemas,
      responses: errors.components,
      headers,
      securitySchemes,
    },
  };
};

export const documentText = (): string => `${JSON.stringify(buildDocument(), null, 2)}\n`;
