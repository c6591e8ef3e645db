import type { FinishReason } from '../../core/events.js';
import type { Frame } from '../../io/sse/frame.js';
import { argumentsText, textIn, typedEvent, upstreamError } from '../decoding.js';
import type { Json } from '../dialect.js';
import { isObject, objectIn, unreadable } from '../event.js';
import { FormatDecoder } from '../format-decoder.js';
import type { Standing } from '../relay-stage.js';
import type { Strand } from '../teller.js';
import { notThisFormat } from '../whole.js';
import { ResponsesItems, type WrittenKind } from './items.js';
import { readResponsesUsage } from './usage.js';

/** The events that carry text, and the key of the whole text in their `.done`. */
const TEXT_EVENTS: Readonly<Record<string, readonly [kind: WrittenKind, key: string]>> = {
  'response.output_text': ['text', 'text'],
  'response.refusal': ['refusal', 'refusal'],
  'response.reasoning_summary_text': ['reasoning', 'text'],
  'response.reasoning_text': ['reasoning', 'text'],
};

const CALL_EVENT = 'response.function_call_arguments';

/** Reads OpenAI's Responses format. */
export class ResponsesDecoder extends FormatDecoder {
  readonly closable = false; // Only a terminal event tells that nothing is missing.
  readonly #items = new ResponsesItems(this.teller);
  #reason: FinishReason = 'stop';

  protected readWhole(body: Json): Standing {
    if (typeof body.status !== 'string' && !Array.isArray(body.output)) {
      if (isObject(body.error)) throw upstreamError(body.error);
      throw notThisFormat('responses');
    }
    this.teller.start(body.id, body.model);
    return this.#end(body);
  }

  finish(): void {
    this.teller.finish(this.#reason);
  }

  protected read(frame: Frame): Standing {
    const read = typedEvent(frame);
    if (!read) return 'open';
    const { type, event } = read;
    switch (type) {
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress': {
        const { id, model } = objectIn(event, 'response');
        this.teller.start(id, model);
        break;
      }
      case 'response.output_item.added':
        this.mould.forget();
        this.#items.announce(event.output_index, objectIn(event, 'item'));
        break;
      case 'response.output_item.done':
        this.#items.finish(event.output_index, objectIn(event, 'item'));
        break;
      case 'response.content_part.added':
      case 'response.content_part.done':
      case 'response.reasoning_summary_part.added':
      case 'response.reasoning_summary_part.done':
        this.#items.writePart(event);
        break;
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
      case 'response.cancelled': {
        if (!isObject(event.response))
          throw unreadable('The provider ended its answer without the response.');
        this.teller.start(event.response.id, event.response.model);
        return this.#end({ status: type.slice('response.'.length), ...event.response });
      }
      case 'error':
        throw upstreamError(event.error ?? { ...event, type: null });
      default:
        this.#takeText(frame, type, event);
    }
    return 'open';
  }

  #takeText(frame: Frame, type: string, event: Json): void {
    const dot = type.lastIndexOf('.');
    const [name, whole] = [type.slice(0, dot), type.slice(dot) === '.done'];
    if (!whole && type.slice(dot) !== '.delta') return;
    if (name === CALL_EVENT) {
      const strand = this.#items.writeCall(event, argumentsText(event[whole ? 'arguments' : 'delta']), whole);
      if (!whole) this.#learnFrom(frame, event, strand);
      return;
    }
    const shape = TEXT_EVENTS[name];
    if (!shape) return;
    const [kind, key] = shape;
    const strand = this.#items.write(event, kind, textIn(event, whole ? key : 'delta'), whole);
    if (!whole) this.#learnFrom(frame, event, strand);
  }

  #learnFrom(frame: Frame, { delta }: Json, strand: Strand | null): void {
    if (strand && typeof delta === 'string' && delta !== '') this.mould.learn(frame, 'delta', delta, strand);
  }

  #end(response: Json): Standing {
    if (isObject(response.usage)) this.teller.learn(readResponsesUsage(response.usage), true);
    switch (response.status) {
      case 'completed':
        break;
      case 'incomplete':
        this.#reason =
          objectIn(response, 'incomplete_details').reason === 'content_filter' ? 'refusal' : 'length';
        break;
      default:
        throw isObject(response.error)
          ? upstreamError(response.error)
          : unreadable(`The provider ended its answer with the status ${String(response.status)}.`);
    }
    this.#items.settle(Array.isArray(response.output) ? response.output.filter(isObject) : []);
    this.teller.closeAll();
    return 'complete';
  }
}
