import type { GatewayError } from '../core/errors.js';
import type { InferenceEvent } from '../core/events.js';
import type { Usage } from '../core/usage.js';
import type { Frame } from '../io/sse/frame.js';
import type { Splice } from '../io/sse/splice.js';
import { collectChat } from './chat/collect.js';
import { ChatDecoder } from './chat/decode.js';
import { encodeChat } from './chat/encode.js';
import type { Decoder } from './decoding.js';
import type {
  CreditFields,
  DialectName,
  InferenceRequest,
  Json,
  MeteredStage,
  RelayHooks,
} from './dialect.js';
import type { EncodeOptions, Encoder } from './encoding.js';
import { objectIn } from './event.js';
import { collectMessages } from './messages/collect.js';
import { MessagesDecoder } from './messages/decode.js';
import { encodeMessages } from './messages/encode.js';
import { RelayStage, type Standing, type Track } from './relay-stage.js';
import { collectResponses } from './responses/collect.js';
import { ResponsesDecoder } from './responses/decode.js';
import { encodeResponses } from './responses/encode.js';
import type { TellOptions } from './teller.js';
import { tagSignature } from './translate/signature.js';
import { readWhole } from './whole.js';

export interface TranslateOptions extends EncodeOptions {
  /** Shown, and charged, where the upstream does not tell its input tokens in time or at all. */
  readonly estimatedInputTokens?: number;
}

type Hear = (event: InferenceEvent) => void;

const decoders: Readonly<Record<DialectName, new (hear: Hear, options: TellOptions) => Decoder>> = {
  messages: MessagesDecoder,
  chat: ChatDecoder,
  responses: ResponsesDecoder,
};

const includesUsage = ({ body }: InferenceRequest): boolean =>
  objectIn(body, 'stream_options').include_usage === true;

const encoders: Readonly<
  Record<DialectName, (request: InferenceRequest, options: TranslateOptions) => Encoder>
> = {
  messages: (_request, options) => encodeMessages(options),
  chat: (request, options) => encodeChat({ ...options, includeUsage: includesUsage(request) }),
  responses: (request, options) => encodeResponses({ ...options, request: request.body }),
};

const collectors: Readonly<
  Record<DialectName, (events: Iterable<InferenceEvent>, options: EncodeOptions, request: Json) => Json>
> = {
  messages: collectMessages,
  chat: collectChat,
  responses: (events, options, request) => collectResponses(events, { ...options, request }),
};

/** Proof of reasoning is worth something to its issuer only: the client is given it with the issuer's name. */
const tagProof = (event: InferenceEvent, issuer: DialectName): InferenceEvent =>
  event.type === 'block_close' && event.signature !== undefined
    ? { ...event, signature: tagSignature(issuer, event.signature) }
    : event;

/** An answer of one format on its way to a client of another. */
class TranslateTrack implements Track {
  readonly #from: DialectName;
  readonly #decoder: Decoder;
  readonly #encoder: Encoder;
  readonly #hooks: RelayHooks;
  #fields: CreditFields | undefined;
  #firstTold = false;
  #text = '';

  constructor(from: DialectName, decode: TellOptions, encoder: Encoder, hooks: RelayHooks) {
    this.#from = from;
    this.#decoder = new decoders[from]((event) => {
      this.#pass(event);
    }, decode);
    this.#encoder = encoder;
    this.#hooks = hooks;
  }

  get usage(): Usage {
    return this.#decoder.usage;
  }

  get closable(): boolean {
    return this.#decoder.closable;
  }

  take(frame: Frame, out: Splice): Standing {
    const standing = this.#decoder.take(frame);
    this.#flush(out);
    return standing;
  }

  close(fields: CreditFields, out: Splice): void {
    this.#fields = fields;
    this.#decoder.finish();
    this.#flush(out);
  }

  breakOff(error: GatewayError, out: Splice): void {
    this.#pass({ type: 'error', code: error.code, message: error.message });
    this.#flush(out);
  }

  /** Between decoder and encoder: every event of every translated answer goes through here, in its order. */
  #pass(event: InferenceEvent): void {
    if (!this.#firstTold && event.type === 'delta') {
      this.#firstTold = true;
      this.#hooks.firstToken();
    }
    this.#text += this.#encoder.push(tagProof(event, this.#from), this.#fields);
  }

  #flush(out: Splice): void {
    if (this.#text === '') return;
    out.put(this.#text);
    this.#text = '';
  }
}

/** A stream of one format towards a client of another. */
export const translateStream = (
  from: DialectName,
  to: DialectName,
  request: InferenceRequest,
  hooks: RelayHooks,
  options: TranslateOptions = {},
): MeteredStage => {
  const decode: TellOptions = {
    shownModel: hooks.shownModel,
    fallbackModel: request.model,
    estimatedInputTokens: options.estimatedInputTokens ?? 0,
    learn: (usage) => {
      hooks.usage(usage);
    },
  };
  const encoder = encoders[to](request, { errorBody: (error) => hooks.errorBody(error), ...options });
  return new RelayStage(new TranslateTrack(from, decode, encoder, hooks), hooks);
};

export interface TranslateWholeOptions extends TranslateOptions {
  readonly shownModel?: string | null;
}

/** A whole answer of one format as the body of another, less the credit fields. Throws the error it says or is. */
export const translateWhole = (
  from: DialectName,
  to: DialectName,
  answer: Buffer,
  request: InferenceRequest,
  options: TranslateWholeOptions = {},
): { readonly usage: Usage; readonly body: Json } => {
  const events: InferenceEvent[] = [];
  const decoder = new decoders[from]((event) => events.push(tagProof(event, from)), {
    shownModel: options.shownModel ?? null,
    fallbackModel: request.model,
    estimatedInputTokens: options.estimatedInputTokens ?? 0,
  });
  if (decoder.takeWhole(readWhole(answer)) === 'complete') decoder.finish();
  return { usage: decoder.usage, body: collectors[to](events, options, request.body) };
};
