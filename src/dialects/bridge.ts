import type { Usage } from '../core/usage.js';
import { chatDialect } from './chat/dialect.js';
import type {
  CreditFields,
  Dialect,
  DialectName,
  Forwarded,
  ForwardOptions,
  InferenceRequest,
  MeteredStage,
  RelayHooks,
} from './dialect.js';
import { messagesDialect } from './messages/dialect.js';
import { responsesDialect } from './responses/dialect.js';
import { translateStream, translateWhole } from './translate-answer.js';
import { withoutForeignReasoning } from './translate/foreign-reasoning.js';
import { translateRequest } from './translate/translate.js';

export interface Crossed extends Forwarded {
  /** Hints the upstream's format cannot carry, by name (D42). */
  readonly dropped: readonly string[];
}

export interface AnswerOptions {
  /** The model name the client asked for, where it differs from the upstream's. */
  readonly shownModel: string | null;
  /** Charged where the upstream does not tell its input tokens. */
  readonly estimatedInputTokens: number;
}

export interface WholeAnswer {
  readonly usage: Usage;
  /** The answer in the client's format, with the credit fields. */
  seal(fields: CreditFields): Buffer;
}

/** How a client of one format reaches an upstream of another, or of its own. */
export interface Bridge {
  readonly upstreamPath: string;
  /** Throws the 400 that names what cannot be carried over. */
  forward(request: InferenceRequest, options: ForwardOptions): Crossed;
  /** Throws when the bytes are no answer of the upstream's format. */
  whole(answer: Buffer, request: InferenceRequest, options: AnswerOptions): WholeAnswer;
  stream(request: InferenceRequest, hooks: RelayHooks, estimatedInputTokens: number): MeteredStage;
}

export const dialects: Readonly<Record<DialectName, Dialect>> = {
  messages: messagesDialect,
  chat: chatDialect,
  responses: responsesDialect,
};

const nothing: readonly string[] = [];

/** Original bytes, but for what must change. */
const within = (dialect: Dialect): Bridge => ({
  upstreamPath: dialect.upstreamPath,
  forward: (request, options) => ({
    ...dialect.forward({ ...request, body: withoutForeignReasoning(dialect.name, request.body) }, options),
    dropped: nothing,
  }),
  whole: (answer, _request, { shownModel }) => ({
    usage: dialect.inspect(answer).usage,
    seal: (fields) => dialect.seal(answer, fields, shownModel),
  }),
  stream: (request, hooks) => dialect.relay(request, hooks),
});

/** Through the neutral request and the neutral events. */
const across = (client: DialectName, upstream: DialectName): Bridge => ({
  upstreamPath: dialects[upstream].upstreamPath,
  forward: (request, options) => translateRequest(client, upstream, request, options),
  whole: (answer, request, options) => {
    const { usage, body } = translateWhole(upstream, client, answer, request, options);
    return { usage, seal: (fields) => Buffer.from(JSON.stringify({ ...body, ...fields })) };
  },
  stream: (request, hooks, estimatedInputTokens) =>
    translateStream(upstream, client, request, hooks, { estimatedInputTokens }),
});

export const bridge = (client: DialectName, upstream: DialectName): Bridge =>
  client === upstream ? within(dialects[client]) : across(client, upstream);
