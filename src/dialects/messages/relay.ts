import type { GatewayError } from '../../core/errors.js';
import { noUsage, type Usage } from '../../core/usage.js';
import { frame as encode } from '../../io/sse/encode.js';
import { Frame } from '../../io/sse/frame.js';
import type { Splice } from '../../io/sse/splice.js';
import type { CreditFields, Json, RelayHooks } from '../dialect.js';
import { eventType, isFiller, isObject, objectIn, readEvent, unreadable } from '../event.js';
import type { Standing, Track } from '../relay-stage.js';
import { orEstimated, tokensIn } from '../tokens.js';
import { mergeMessagesUsage } from './usage.js';

const [C, D, E, LF] = [0x63, 0x64, 0x65, 0x0a];

/**
 * Tells `event: content_block_delta` by the characters that set it apart from every other event: comparing the whole
 * line costs more than all else that is done to the frame.
 */
export const isContentDelta = ({ view, start }: Frame): boolean =>
  view.charCodeAt(start + 7) === C &&
  view.charCodeAt(start + 21) === D &&
  view.charCodeAt(start + 26) === LF &&
  view.charCodeAt(start) === E;

/** An answer of /v1/messages on its way: all passes as it came but message_start (the shown model) and message_delta. */
export class MessagesTrack implements Track {
  readonly #hooks: RelayHooks;
  readonly #estimatedInputTokens: number;
  #usage: Usage = noUsage;
  #started = false;
  #outputTold = false;
  #deltas = 0;
  /** Clients take the last message_delta they see for the whole ending, so all of them leave as one. */
  #ending: Json | null = null;
  #stop: Frame | null = null;

  constructor(hooks: RelayHooks, estimatedInputTokens: number) {
    this.#hooks = hooks;
    this.#estimatedInputTokens = estimatedInputTokens;
  }

  get usage(): Usage {
    return orEstimated(this.#usage, this.#estimatedInputTokens, this.#outputTold ? 0 : this.#deltas);
  }

  get closable(): boolean {
    return this.#ending !== null && typeof objectIn(this.#ending, 'delta').stop_reason === 'string';
  }

  take(frame: Frame, out: Splice): Standing {
    if (isContentDelta(frame)) {
      if (this.#deltas++ === 0) this.#hooks.firstToken();
      out.keep(frame);
      return 'open';
    }
    if (frame.event === null) return this.#takeUnnamed(frame, out);
    switch (frame.event) {
      case 'message_start':
        this.#start(frame, out);
        return 'open';
      case 'message_delta':
        this.#hold(readEvent(frame));
        return 'open';
      case 'message_stop':
        this.#demandStart();
        this.#stop = frame;
        return 'complete';
      case 'error':
        readEvent(frame);
        out.keep(frame);
        return 'failed';
      case 'content_block_delta':
        if (this.#deltas++ === 0) this.#hooks.firstToken();
    }
    out.keep(frame);
    return 'open';
  }

  close(fields: CreditFields, out: Splice): void {
    const ending = this.#ending ?? {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
    };
    const told = objectIn(ending, 'usage');
    const usage = { ...told, output_tokens: told.output_tokens ?? this.usage.output, ...fields };
    out.put(encode('message_delta', { ...ending, usage, ...fields }));
    if (this.#stop) out.keep(this.#stop);
    else out.put(encode('message_stop', { type: 'message_stop' }));
  }

  breakOff(error: GatewayError, out: Splice): void {
    out.put(encode('error', this.#hooks.errorBody(error)));
  }

  /** The vendor's own client drops an event without a name: it gets the name its data gives. */
  #takeUnnamed(frame: Frame, out: Splice): Standing {
    const type = eventType(frame);
    if (type !== null && /^\w+$/.test(type))
      return this.take(Frame.of(Buffer.from(encode(type, readEvent(frame)))), out);
    if (!isFiller(frame)) out.keep(frame);
    return 'open';
  }

  #start(frame: Frame, out: Splice): void {
    const event = readEvent(frame);
    if (!isObject(event.message)) throw unreadable('The provider sent a message_start without its message.');
    if (this.#started) return; // Clients fail on a second one, or count its tokens twice.
    this.#started = true;
    const { message } = event;
    const { shownModel } = this.#hooks;
    this.#learn(objectIn(message, 'usage'));
    if (shownModel === null && isObject(message.usage)) {
      out.keep(frame);
      return;
    }
    const usage = isObject(message.usage) ? message.usage : { input_tokens: 0, output_tokens: 0 };
    out.put(
      encode('message_start', {
        ...event,
        message: { ...message, model: shownModel ?? message.model, usage },
      }),
    );
  }

  #hold(event: Json): void {
    this.#demandStart();
    this.#outputTold ||= tokensIn(objectIn(event, 'usage'), 'output_tokens') > 0;
    this.#learn(objectIn(event, 'usage'));
    const before = this.#ending ?? {};
    this.#ending = {
      ...before,
      ...event,
      delta: {
        ...objectIn(event, 'delta'),
        ...said(objectIn(before, 'delta')),
        ...said(objectIn(event, 'delta')),
      },
      usage: { ...objectIn(before, 'usage'), ...objectIn(event, 'usage') },
    };
  }

  #learn(usage: Json): void {
    this.#usage = mergeMessagesUsage(this.#usage, usage);
    this.#hooks.usage(this.usage);
  }

  #demandStart(): void {
    if (!this.#started) throw unreadable('The provider ended a message that it never started.');
  }
}

/** A delta less its nulls, which say nothing. */
const said = (delta: Json): Json =>
  Object.fromEntries(Object.entries(delta).filter(([, value]) => value !== null));
