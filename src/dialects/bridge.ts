import { chatDialect } from './chat/dialect.js';
import type {
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
import { translateStream } from './translate-stream.js';
import { guardWhole, translateWhole, type AnswerOptions, type WholeAnswer } from './translate-whole.js';
import { withoutForeignReasoning } from './translate/foreign-reasoning.js';
import { adaptBody } from './translate/same-format.js';
import { translateRequest } from './translate/translate.js';

export interface Crossed extends Forwarded {
  /** Hints the upstream's format cannot carry, by name (D42). */
  readonly dropped: readonly string[];
}

/** How a client of one format reaches an upstream of another, or of its own. */
export interface Bridge {
  readonly upstreamPath: string;
  /** Throws the 400 that names what cannot be carried over. */
  forward(request: InferenceRequest, options: ForwardOptions): Crossed;
  /** Throws when the bytes are no answer of the upstream's format. */
  whole(answer: Buffer, request: InferenceRequest, options: AnswerOptions): Promise<WholeAnswer>;
  stream(request: InferenceRequest, hooks: RelayHooks, estimatedInputTokens: number): MeteredStage;
}

export const dialects: Readonly<Record<DialectName, Dialect>> = {
  messages: messagesDialect,
  chat: chatDialect,
  responses: responsesDialect,
};

/** Original bytes, but for what must change. */
const within = (dialect: Dialect): Bridge => ({
  upstreamPath: dialect.upstreamPath,
  forward: (request, options) => {
    const own = withoutForeignReasoning(dialect.name, request.body);
    const { body, dropped } = adaptBody(dialect.name, own, options.flags);
    return { ...dialect.forward({ ...request, body }, options), dropped };
  },
  whole: (answer, request, options) => guardWhole(dialect, answer, request, options),
  stream: (request, hooks, estimatedInputTokens) => dialect.relay(request, hooks, estimatedInputTokens),
});

/** Through the neutral request and the neutral events. */
const across = (client: DialectName, upstream: DialectName): Bridge => ({
  upstreamPath: dialects[upstream].upstreamPath,
  forward: (request, options) => translateRequest(client, upstream, request, options),
  whole: (answer, request, options) => translateWhole(upstream, client, answer, request, options),
  stream: (request, hooks, estimatedInputTokens) =>
    translateStream(upstream, client, request, hooks, { estimatedInputTokens }),
});

export const bridge = (client: DialectName, upstream: DialectName): Bridge =>
  client === upstream ? within(dialects[client]) : across(client, upstream);
