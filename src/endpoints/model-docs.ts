import * as v from 'valibot';
import type { OperationDoc, QueryDoc } from '../core/exchange.js';
import { countBody } from '../dialects/count/read.js';
import { integer, text } from './administration/parse.js';
import { jsonAnswer } from './administration/describe.js';

const id = text(1, 200);

const Model = v.pipe(
  v.strictObject({
    id,
    object: v.literal('model'),
    created: v.pipe(v.number(), v.integer(), v.minValue(0)),
    owned_by: v.string(),
  }),
  v.title('Model'),
);

const MessagesModel = v.pipe(
  v.strictObject({
    type: v.literal('model'),
    id,
    display_name: v.string(),
    created_at: v.string(),
    max_input_tokens: v.null(),
    max_tokens: v.pipe(v.number(), v.integer(), v.minValue(1)),
  }),
  v.title('MessagesModel'),
);

const ModelList = v.pipe(
  v.strictObject({ object: v.literal('list'), data: v.array(Model) }),
  v.title('ModelList'),
);

const MessagesModelList = v.pipe(
  v.strictObject({
    data: v.array(MessagesModel),
    has_more: v.boolean(),
    first_id: v.nullable(id),
    last_id: v.nullable(id),
  }),
  v.title('MessagesModelList'),
);

const headers: Readonly<Record<string, QueryDoc>> = {
  'anthropic-version': {
    about: 'Where it is sent, the answer has the shape of the Messages API, in pages.',
    schema: v.string(),
  },
};

const description =
  'The names the key may ask for, in the order of the configuration. Of a name that ends with `*` those are shown ' +
  'that the operator lists; others that fit it may be asked for all the same.';

/** How the OpenAPI document tells of models. */
export const modelDocs = {
  list: {
    tag: 'Models',
    summary: 'List models',
    description,
    extension: true,
    headers,
    query: {
      limit: {
        about: 'Messages shape only: how many to give at most; 20 where absent.',
        schema: integer(1, 1_000),
      },
      after_id: { about: 'Messages shape only: the last id of the page before.', schema: id },
      before_id: { about: 'Messages shape only: the first id of the page behind.', schema: id },
    },
    answer: jsonAnswer(v.union([ModelList, MessagesModelList])),
    statuses: [400],
  },
  get: {
    tag: 'Models',
    summary: 'Read a model',
    extension: true,
    headers,
    answer: jsonAnswer(v.union([Model, MessagesModel])),
  },
} as const satisfies Record<string, OperationDoc>;

const InputTokens = v.pipe(
  v.strictObject({ input_tokens: v.pipe(v.number(), v.integer(), v.minValue(0)) }),
  v.title('InputTokens'),
);

/** How it tells of counting. */
export const countDoc: OperationDoc = {
  tag: 'Inference',
  summary: 'Count the input tokens of a message',
  description:
    'Counts as a request and takes no tokens. `x-token-count` says `exact` where the model itself counted, else ' +
    '`estimate`. A body at fault is a 422 that lists every fault in `detail`.',
  body: v.pipe(countBody, v.title('CountTokensRequest')),
  answer: jsonAnswer(InputTokens),
  statuses: [404, 422],
};
