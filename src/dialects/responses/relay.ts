import type { GatewayError } from '../../core/errors.js';
import { noUsage, type Usage } from '../../core/usage.js';
import { frame as encode } from '../../io/sse/encode.js';
import type { Frame } from '../../io/sse/frame.js';
import type { Splice } from '../../io/sse/splice.js';
import type { CreditFields, Json, RelayHooks } from '../dialect.js';
import { eventType, isFiller, isObject, objectIn, readEvent, unreadable } from '../event.js';
import type { Standing, Track } from '../relay-stage.js';
import { orEstimated } from '../tokens.js';
import { readResponsesUsage } from './usage.js';

const [D, E, R, T, LF] = [0x64, 0x65, 0x72, 0x74, 0x0a];

/**
 * Tells `event: response.output_text.delta` by the characters that set it apart from every other event: comparing the
 * whole line costs more than all else that is done to the frame.
 */
const isTextDelta = ({ view, start }: Frame): boolean =>
  view.charCodeAt(start + 7) === R &&
  view.charCodeAt(start + 23) === T &&
  view.charCodeAt(start + 28) === D &&
  view.charCodeAt(start + 29) === E &&
  view.charCodeAt(start + 33) === LF &&
  view.charCodeAt(start) === E;

/** An answer of /v1/responses on its way: all passes as it came but the terminal event and what shows the model. */
export class ResponsesTrack implements Track {
  readonly #hooks: RelayHooks;
  readonly #estimatedInputTokens: number;
  readonly closable = false; // Only a terminal event carries the whole response.
  #usage: Usage = noUsage;
  #outputTold = false;
  #deltas = 0;
  #last: Frame | null = null;
  #terminal: { readonly name: string | null; readonly event: Json } | null = null;

  constructor(hooks: RelayHooks, estimatedInputTokens: number) {
    this.#hooks = hooks;
    this.#estimatedInputTokens = estimatedInputTokens;
  }

  get usage(): Usage {
    return orEstimated(this.#usage, this.#estimatedInputTokens, this.#outputTold ? 0 : this.#deltas);
  }

  take(frame: Frame, out: Splice): Standing {
    if (isTextDelta(frame)) {
      this.#last = frame;
      this.#countDelta();
      out.keep(frame);
      return 'open';
    }
    const type = eventType(frame);
    if (type === null) {
      if (!isFiller(frame)) out.keep(frame);
      return 'open';
    }
    this.#last = frame;
    switch (type) {
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress':
        this.#show(frame, out);
        return 'open';
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        this.#holdTerminal(frame);
        return 'complete';
      case 'error':
        readEvent(frame);
        out.keep(frame);
        return 'failed';
    }
    if (type.endsWith('.delta')) this.#countDelta();
    out.keep(frame);
    return 'open';
  }

  close(fields: CreditFields, out: Splice): void {
    const { name, event } = this.#terminal!;
    const response = this.#withShownModel(objectIn(event, 'response'));
    const usage = isObject(response.usage) ? { ...response.usage, ...fields } : response.usage;
    out.put(encode(name, { ...event, response: { ...response, usage, ...fields } }));
  }

  breakOff(error: GatewayError, out: Splice): void {
    const { request_id } = this.#hooks.errorBody(error);
    const { code, message, param } = error;
    out.put(
      encode('error', {
        type: 'error',
        code,
        message,
        param,
        sequence_number: this.#nextNumber(),
        request_id,
      }),
    );
  }

  #countDelta(): void {
    if (this.#deltas++ === 0) this.#hooks.firstToken();
  }

  #show(frame: Frame, out: Splice): void {
    if (this.#hooks.shownModel === null) {
      out.keep(frame);
      return;
    }
    const event = readEvent(frame);
    out.put(encode(frame.event, { ...event, response: this.#withShownModel(objectIn(event, 'response')) }));
  }

  #holdTerminal(frame: Frame): void {
    const event = readEvent(frame);
    if (!isObject(event.response)) throw unreadable('The provider ended its answer without the response.');
    this.#terminal = { name: frame.event, event };
    if (!isObject(event.response.usage)) return;
    this.#usage = readResponsesUsage(event.response.usage);
    this.#outputTold = this.#usage.output > 0;
    this.#hooks.usage(this.usage);
  }

  #withShownModel(response: Json): Json {
    const { shownModel } = this.#hooks;
    return shownModel === null ? response : { ...response, model: shownModel };
  }

  /** Events are numbered; the number behind the last one seen, which may be the one that could not be read. */
  #nextNumber(): number {
    const number = /"sequence_number":\s*(\d+)/.exec(this.#last?.raw.toString('latin1') ?? '')?.[1];
    return number === undefined ? 0 : Number(number) + 1;
  }
}
