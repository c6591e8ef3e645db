import * as v from 'valibot';
import { errorTable } from '../../src/core/error-table.js';
import type { DocSchema, Family } from '../../src/core/exchange.js';

const types = [...new Set(Object.values(errorTable).map(({ type }) => type))] as const;
const unseen = ['moderation_error', 'policy_error', 'media_error'] as const;
const code = v.pipe(v.string(), v.description('Stable; every one is listed at `/docs/errors`.'));

/** Seed 7.1. */
const ErrorBody = v.pipe(
  v.strictObject({
    error: v.strictObject({
      code,
      message: v.pipe(v.string(), v.maxLength(1_000)),
      type: v.picklist([...new Set([...types, ...unseen])].sort()),
      param: v.nullable(v.pipe(v.string(), v.description('The field of the request at fault.'))),
      request_id: v.string(),
      doc_url: v.nullable(v.string()),
    }),
  }),
  v.title('Error'),
);

/** Seed 7.3. */
const MessagesError = v.pipe(
  v.strictObject({
    type: v.literal('error'),
    error: v.strictObject({ type: v.string(), message: v.string(), code }),
    request_id: v.string(),
  }),
  v.title('MessagesError'),
);

const CountTokensError = v.pipe(
  v.union([
    MessagesError,
    v.strictObject({
      detail: v.array(
        v.looseObject({
          loc: v.array(v.union([v.string(), v.number()])),
          msg: v.string(),
          type: v.string(),
        }),
      ),
    }),
  ]),
  v.title('CountTokensError'),
);

const OpenaiError = v.pipe(
  v.strictObject({
    error: v.strictObject({ message: v.string(), type: v.string(), param: v.nullable(v.string()), code }),
  }),
  v.title('OpenaiError'),
);

const ResponsesError = v.pipe(v.strictObject({ error: v.string(), code }), v.title('ResponsesError'));

const bodies: Readonly<Record<Family, DocSchema>> = {
  administration: ErrorBody,
  messages: MessagesError,
  count_tokens: CountTokensError,
  responses: ResponsesError,
  openai: OpenaiError,
};

/** How a family spells an error of this status. */
export const errorSchema = (family: Family, status: string): DocSchema =>
  family === 'responses' && status === '429' ? OpenaiError : bodies[family];

export const errorSchemas: readonly DocSchema[] = Object.values(bodies);

/** What each status means here. */
export const meanings: Readonly<Record<string, string>> = {
  400: 'The request cannot be read: no JSON, a wrong content type, a bad cursor or header, a field at fault.',
  401: 'The credential is missing, unknown, of the wrong kind, expired or revoked.',
  402: 'The credit balance does not cover the request.',
  403: 'The credential lacks a permission, or may not be used this way.',
  404: 'Nothing of this name is there, or it belongs to another organization.',
  409: 'It conflicts with the state of the resource, or with another request of the same `Idempotency-Key`.',
  413: 'The body is larger than this operation accepts.',
  422: 'A field or parameter fails its type or bound; `param` names it.',
  429: 'A limit is reached.',
  500: 'Something unexpected went wrong inside the gateway.',
  502: 'The provider failed.',
  503: 'Something the gateway depends on is away for the moment.',
  504: 'The provider did not answer in time.',
  529: 'The provider is overloaded.',
  '4XX': 'The provider rejected the request; its status is kept.',
  default:
    'The request is not well-formed HTTP, too slow, compressed, or asks for another protocol (400, 408, 415, 426, 431).',
};
