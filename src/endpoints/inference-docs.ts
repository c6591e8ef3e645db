import * as v from 'valibot';
import type { DocSchema, OperationDoc } from '../core/exchange.js';
import { chatBody } from '../dialects/chat/read.js';
import { messagesBody } from '../dialects/messages/read.js';
import { responsesBody } from '../dialects/responses/read.js';

const tokens = v.pipe(v.number(), v.integer(), v.minValue(0));

/** The three credit fields of every answer (seed 4.10, 4.11). */
const creditFields = {
  remaining_credits: v.nullable(v.pipe(v.number(), v.integer())),
  estimated_credits_used: v.pipe(v.number(), v.integer(), v.minValue(0)),
  estimated_cost_usd: v.pipe(v.number(), v.minValue(0)),
};

const Message = v.pipe(
  v.looseObject({
    id: v.string(),
    type: v.literal('message'),
    role: v.literal('assistant'),
    model: v.string(),
    content: v.array(v.looseObject({ type: v.string() })),
    stop_reason: v.nullish(v.string()),
    stop_sequence: v.nullish(v.string()),
    usage: v.optional(v.looseObject({ input_tokens: tokens, output_tokens: tokens })),
    ...creditFields,
  }),
  v.title('Message'),
);

const Response = v.pipe(
  v.looseObject({
    id: v.string(),
    object: v.literal('response'),
    status: v.string(),
    model: v.string(),
    created_at: v.optional(v.number()),
    output: v.array(v.looseObject({ type: v.string() })),
    usage: v.nullish(v.looseObject({ input_tokens: tokens, output_tokens: tokens, total_tokens: tokens })),
    ...creditFields,
  }),
  v.title('Response'),
);

const ChatCompletion = v.pipe(
  v.looseObject({
    id: v.string(),
    object: v.literal('chat.completion'),
    model: v.string(),
    choices: v.array(v.looseObject({ index: tokens })),
    usage: v.nullish(v.looseObject({ prompt_tokens: tokens, completion_tokens: tokens })),
    ...creditFields,
  }),
  v.title('ChatCompletion'),
);

const describe = (summary: string, body: DocSchema, answer: DocSchema): OperationDoc => ({
  tag: 'Inference',
  summary,
  description:
    'Fields beyond those named here are passed on. With `stream: true` the answer is a stream of server-sent ' +
    'events in the format of this endpoint. A rejection by the provider keeps its status.',
  headers: {
    'X-Free-Tier': {
      about: 'Asks for the one anonymous free request of this address; ignored where a credential is sent.',
      schema: v.literal('true'),
    },
  },
  body,
  answer: { 'application/json': answer, 'text/event-stream': v.string() },
  statuses: [402, 404, 502, 504, 529],
});

export const inferenceDocs = {
  messages: describe('Create a message', v.pipe(messagesBody, v.title('MessageRequest')), Message),
  responses: describe('Create a response', v.pipe(responsesBody, v.title('ResponseRequest')), Response),
  chat: describe('Create a chat completion', v.pipe(chatBody, v.title('ChatRequest')), ChatCompletion),
} as const satisfies Record<string, OperationDoc>;
