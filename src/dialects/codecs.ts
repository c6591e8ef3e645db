import type { InferenceEvent } from '../core/events.js';
import { collectChat } from './chat/collect.js';
import { ChatDecoder } from './chat/decode.js';
import { encodeChat } from './chat/encode.js';
import type { Decoder } from './decoding.js';
import type { DialectName, InferenceRequest, Json } from './dialect.js';
import type { EncodeOptions, Encoder } from './encoding.js';
import { objectIn } from './event.js';
import { nothingSaid, type Channel, type Said } from './guard.js';
import { collectMessages } from './messages/collect.js';
import { MessagesDecoder } from './messages/decode.js';
import { encodeMessages } from './messages/encode.js';
import { collectResponses } from './responses/collect.js';
import { ResponsesDecoder } from './responses/decode.js';
import { encodeResponses } from './responses/encode.js';
import type { TellOptions } from './teller.js';
import { tagSignature } from './translate/signature.js';

export interface TranslateOptions extends EncodeOptions {
  /** Shown, and charged, where the upstream does not tell its input tokens in time or at all. */
  readonly estimatedInputTokens?: number;
}

type Hear = (event: InferenceEvent) => void;

export const decoders: Readonly<Record<DialectName, new (hear: Hear, options: TellOptions) => Decoder>> = {
  messages: MessagesDecoder,
  chat: ChatDecoder,
  responses: ResponsesDecoder,
};

const includesUsage = ({ body }: InferenceRequest): boolean =>
  objectIn(body, 'stream_options').include_usage === true;

export const encoders: Readonly<
  Record<DialectName, (request: InferenceRequest, options: TranslateOptions) => Encoder>
> = {
  messages: (_request, options) => encodeMessages(options),
  chat: (request, options) => encodeChat({ ...options, includeUsage: includesUsage(request) }),
  responses: (request, options) => encodeResponses({ ...options, request: request.body }),
};

export const collectors: Readonly<
  Record<DialectName, (events: Iterable<InferenceEvent>, options: EncodeOptions, request: Json) => Json>
> = {
  messages: collectMessages,
  chat: collectChat,
  responses: (events, options, request) => collectResponses(events, { ...options, request }),
};

/** Proof of reasoning is worth something to its issuer only: the client is given it with the issuer's name. */
export const tagProof = (event: InferenceEvent, issuer: DialectName): InferenceEvent =>
  event.type === 'block_close' && event.signature !== undefined
    ? { ...event, signature: tagSignature(issuer, event.signature) }
    : event;

const DELTA = ['text'];
const EXPLANATION = ['explanation'];
export const explaining: Channel = { kind: 'refusal', id: 'explanation' };

/** What an event says: text of its block, the name of a tool that is to be called, or why the model refuses. */
export const saidIn = (event: InferenceEvent, channel: Channel | null): readonly Said[] => {
  if (event.type === 'finish' && event.explanation !== undefined)
    return [{ channel: explaining, text: event.explanation, path: EXPLANATION }];
  if (!channel) return nothingSaid;
  if (event.type === 'delta') return [{ channel, text: event.text, path: DELTA }];
  if (event.type === 'block_open' && event.toolName !== undefined)
    return [{ channel, text: `${event.toolName} `, path: null }];
  return nothingSaid;
};

/** The event with other text in its place. */
export const retold = (event: InferenceEvent, texts: readonly string[] | null): InferenceEvent => {
  if (texts === null) return event;
  if (event.type === 'delta') return { ...event, text: texts[0]! };
  return event.type === 'finish' ? { ...event, explanation: texts[0]! } : event;
};
