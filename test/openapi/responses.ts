import type { Family, Route } from '../../src/core/exchange.js';
import { errorSchema, meanings } from './errors.js';
import type { Components, JsonNode } from './schemas.js';

const header = (about: string, schema: JsonNode, required = true): JsonNode => ({
  description: about,
  required,
  schema,
});
const integer: JsonNode = { type: 'integer', minimum: 0 };
const text: JsonNode = { type: 'string' };

/** Headers by the name they have on the wire. */
export const headers: Readonly<Record<string, JsonNode>> = {
  'x-request-id': header('The id of the request, given by the gateway.', text),
  'x-error-code': header('The stable code of the error.', text),
  'Idempotent-Replayed': header('The answer was kept from an earlier request.', { const: 'true' }, false),
  'WWW-Authenticate': header('The scheme that is wanted.', text),
  'Retry-After': header('Seconds to wait before trying again.', { type: 'integer', minimum: 1 }),
  'X-RateLimit-Limit': header('The limit of the blocking policy.', integer),
  'X-RateLimit-Remaining': header('What is left of it.', integer),
  'X-RateLimit-Reset': header('When it is whole again, Unix seconds.', integer),
  'X-RateLimit-Scope': header('Whose limit it is.', { type: 'string', enum: ['credential', 'organization'] }),
  'X-RateLimit-Metric': header('What it counts.', {
    type: 'string',
    enum: ['requests', 'concurrent_requests'],
  }),
  ...Object.fromEntries(
    ['requests', 'tokens', 'project-tokens'].flatMap((unit) => [
      [`x-ratelimit-limit-${unit}`, header('The limit of the scope closest to it.', text, false)],
      [`x-ratelimit-remaining-${unit}`, header('What is left of it.', text, false)],
      [`x-ratelimit-reset-${unit}`, header('How long until it is whole again: `59.4s`.', text, false)],
    ]),
  ),
};

const administrationLimits = Object.keys(headers).filter((name) => name.startsWith('X-RateLimit-'));
const inferenceLimits = Object.keys(headers).filter((name) => name.startsWith('x-ratelimit-'));

const refer = (names: readonly string[]): JsonNode =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** The statuses an operation may answer with: what follows from its row, and what its description adds. */
export const statusesOf = ({ doc, path, auth, permission, body, family, limits }: Route): string[] => {
  const takesJson = body === 'json';
  const named = path.includes('{');
  const given = Object.keys(doc?.query ?? {});
  const owned = family === 'administration';
  const followed: readonly (readonly [number, boolean])[] = [
    [400, takesJson || doc?.replayable === true || given.includes('after')],
    [401, auth !== 'public'],
    [403, auth === 'admin' || permission !== null],
    [404, named],
    [409, doc?.replayable === true],
    [413, takesJson],
    [422, owned && (takesJson || named || given.length > 0)],
    [429, limits !== 'none'],
    [500, true],
    [503, auth !== 'public'],
  ];
  const numbers = [...followed.flatMap(([status, on]) => (on ? [status] : [])), ...(doc?.statuses ?? [])];
  const sorted = [...new Set(numbers)].sort((a, b) => a - b).map(String);
  return [...sorted, ...(limits === 'inference' ? ['4XX'] : []), 'default'];
};

const headerNames = (family: Family, status: string): readonly string[] => [
  'x-request-id',
  'x-error-code',
  ...(status === '401' ? ['WWW-Authenticate'] : []),
  ...(status === '429' ? ['Retry-After'] : []),
  ...(status === '429' ? (family === 'administration' ? administrationLimits : inferenceLimits) : []),
];

/** Errors are told once per family and status. */
export class ErrorResponses {
  readonly components: Record<string, JsonNode> = {};
  readonly #place: Components['place'];

  constructor({ place }: Components) {
    this.#place = place;
  }

  refer(family: Family, status: string): JsonNode {
    const name = `${family}_${status}`;
    this.components[name] ??= {
      description: meanings[status],
      headers: refer(headerNames(family, status)),
      content: { 'application/json': { schema: this.#place(errorSchema(family, status)) } },
    };
    return { $ref: `#/components/responses/${name}` };
  }
}

export const success = ({ doc, limits }: Route, { place }: Components): JsonNode => ({
  description: 'Done.',
  headers: refer([
    'x-request-id',
    ...(doc?.replayable ? ['Idempotent-Replayed'] : []),
    ...(limits === 'inference' ? inferenceLimits : []),
  ]),
  content: Object.fromEntries(
    Object.entries(doc?.answer ?? {}).map(([type, schema]) => [type, { schema: place(schema) }]),
  ),
});
