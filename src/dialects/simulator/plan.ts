import type { Clock } from '../../core/clock.js';
import type { InferenceEvent } from '../../core/events.js';
import { collectChat } from '../chat/collect.js';
import { encodeChat } from '../chat/encode.js';
import type { DialectName, Json } from '../dialect.js';
import type { EncodeOptions, Encoder } from '../encoding.js';
import { collectMessages } from '../messages/collect.js';
import { encodeMessages } from '../messages/encode.js';
import { collectResponses } from '../responses/collect.js';
import { encodeResponses } from '../responses/encode.js';
import { readDirectives, type Directives } from './directives.js';
import { errorBody, retryHeaders } from './error-answers.js';
import { MalformedRequest } from './malformed-request.js';
import { cutAfter, cutInHalf, type Step } from './pace.js';
import { countInputTokens, readRequest, type Prompt } from './read-request.js';
import { playScript } from './script.js';

/** What will be answered, and how long it takes until its first byte. */
export interface Plan {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly waitMs: number;
  /** Null: the connection breaks before any answer. */
  readonly steps: Iterator<Step> | null;
}

export interface PlanOptions {
  readonly ttftMs: number;
  readonly tokensPerSecond: number;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
}

interface Wire {
  encode(prompt: Prompt, options: EncodeOptions): Encoder;
  collect(events: Iterable<InferenceEvent>, prompt: Prompt, options: EncodeOptions): Json;
}

const WIRES: Readonly<Record<DialectName, Wire>> = {
  messages: {
    encode: (_, options) => encodeMessages(options),
    collect: (events, _, options) => collectMessages(events, options),
  },
  chat: {
    encode: ({ includeUsage }, options) => encodeChat({ ...options, includeUsage }),
    collect: (events, _, options) => collectChat(events, options),
  },
  responses: {
    encode: ({ body }, options) => encodeResponses({ ...options, request: body }),
    collect: (events, { body }, options) => collectResponses(events, { ...options, request: body }),
  },
};

interface Door {
  readonly format: DialectName;
  readonly counts: boolean;
}

const DOORS: Readonly<Record<string, Door>> = {
  'messages/count_tokens': { format: 'messages', counts: true },
  messages: { format: 'messages', counts: false },
  'chat/completions': { format: 'chat', counts: false },
  responses: { format: 'responses', counts: false },
};

/** `/v1` in front and a query behind make no difference. */
const findDoor = (path: string): Door | null => {
  const name = path.replace(/\?.*$/s, '').replace(/^\/?(?:v1\/)?/, '');
  return Object.hasOwn(DOORS, name) ? DOORS[name]! : null;
};

export const planAnswer = (path: string, bytes: string | Buffer, options: PlanOptions): Plan => {
  const { clock, newId } = options;
  const requestId = newId('req');
  const ids = { 'request-id': requestId, 'x-request-id': requestId };
  const intervalMs = options.tokensPerSecond > 0 ? 1_000 / options.tokensPerSecond : 0;

  const answerJson = (status: number, body: Json, waitMs: number, cut: number | null = null): Plan => {
    const text = JSON.stringify(body);
    const steps = cut === null ? [{ text, waitMs: 0 }].values() : cutInHalf(text);
    return {
      status,
      headers: {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(text)),
        ...retryHeaders(status),
        ...ids,
      },
      waitMs,
      steps: cut === 0 ? null : steps,
    };
  };

  const answerError = (
    format: DialectName,
    fault: { readonly status: number; readonly message: string; readonly param: string | null },
    waitMs: number,
  ): Plan => answerJson(fault.status, errorBody(format, fault, requestId), waitMs);

  const answerWhole = (prompt: Prompt, directives: Directives, ttftMs: number): Plan => {
    let tokens = 0;
    const counted = function* (): Generator<InferenceEvent> {
      for (const event of playScript(prompt, directives, newId)) {
        if (event.type === 'delta') tokens++;
        yield event;
      }
    };
    const body = WIRES[prompt.format].collect(counted(), prompt, { newId, nowMs: () => clock.nowMs() });
    // Nothing is sent before the last token is there.
    const waitMs = ttftMs + Math.max(0, tokens - 1) * intervalMs + directives.stallMs;
    return answerJson(200, body, waitMs, directives.cut);
  };

  function* paceSteps(prompt: Prompt, directives: Directives): Generator<Step> {
    const encoder = WIRES[prompt.format].encode(prompt, { newId, nowMs: () => clock.nowMs() });
    let tokens = 0;
    let stallMs = 0;
    for (const event of playScript(prompt, directives, newId)) {
      const token = event.type === 'delta';
      yield { text: encoder.push(event), waitMs: (token && tokens > 0 ? intervalMs : 0) + stallMs };
      if (token) tokens++;
      stallMs = token && tokens === 1 ? directives.stallMs : 0;
    }
  }

  const answerStream = (prompt: Prompt, directives: Directives, ttftMs: number): Plan => {
    const steps = paceSteps(prompt, directives);
    const { cut } = directives;
    return {
      status: 200,
      headers: {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-cache',
        'x-accel-buffering': 'no',
        ...ids,
      },
      waitMs: ttftMs,
      steps: cut === 0 ? null : cut === null ? steps : cutAfter(steps, cut),
    };
  };

  const door = findDoor(path);
  if (!door) return answerError('chat', { status: 404, message: 'No such path.', param: null }, 0);
  let prompt: Prompt;
  try {
    prompt = readRequest(door.format, bytes);
  } catch (error) {
    if (!(error instanceof MalformedRequest)) throw error;
    return answerError(door.format, { status: 400, message: error.message, param: error.param }, 0);
  }

  const directives = readDirectives(prompt.lastUserText);
  const { status } = directives;
  if (status !== null) {
    const message = `The simulator was asked for the status ${status}.`;
    return answerError(door.format, { status, message, param: null }, directives.ttftMs ?? 0);
  }
  if (door.counts) return answerJson(200, { input_tokens: countInputTokens(prompt) }, directives.ttftMs ?? 0);
  const ttftMs = directives.ttftMs ?? options.ttftMs;
  return prompt.stream ? answerStream(prompt, directives, ttftMs) : answerWhole(prompt, directives, ttftMs);
};
