import type { FinishReason } from '../../core/events.js';
import { noUsage, type Usage } from '../../core/usage.js';
import type { Frame } from '../../io/sse/frame.js';
import { argumentsText, textIn, typedEvent, upstreamError } from '../decoding.js';
import type { Json } from '../dialect.js';
import { isObject, objectIn, unreadable } from '../event.js';
import { FormatDecoder } from '../format-decoder.js';
import type { Standing } from '../relay-stage.js';
import { Strand } from '../teller.js';
import { tokensIn } from '../tokens.js';
import { notThisFormat } from '../whole.js';
import { mergeMessagesUsage } from './usage.js';

const REASONS: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop_sequence',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'refusal',
  pause_turn: 'pause',
};

type Written = 'text' | 'reasoning';

/** The strands that share one of the upstream's block indexes; more than one only where a delta does not fit its block. */
interface Slot {
  text?: Strand;
  reasoning?: Strand;
  tool?: Strand;
  /** Input given with the start of a call: it counts where no piece of it follows. */
  input: string;
  signature: string;
}

/** Reads Anthropic's Messages format. */
export class MessagesDecoder extends FormatDecoder {
  readonly #slots = new Map<unknown, Slot>();
  #lastIndex: unknown = 0;
  #usage: Usage = noUsage;
  #stopReason: string | null = null;
  #stopSequence: string | null = null;
  #explanation: string | null = null;

  get closable(): boolean {
    return this.#stopReason !== null;
  }

  protected readWhole(body: Json): Standing {
    if (body.type === 'error' || isObject(body.error)) throw upstreamError(body.error);
    if (!Array.isArray(body.content)) throw notThisFormat('messages');
    this.teller.start(body.id, body.model);
    this.#tellContent(body.content);
    this.#end(body, isObject(body.usage) ? body.usage : null);
    return 'complete';
  }

  finish(): void {
    const { [this.#stopReason ?? '']: reason = 'stop' } = REASONS;
    this.teller.finish(
      reason,
      reason === 'stop_sequence' ? this.#stopSequence : null,
      reason === 'refusal' ? this.#explanation : null,
    );
  }

  protected read(frame: Frame): Standing {
    const read = typedEvent(frame);
    if (!read) return 'open';
    const { type, event } = read;
    switch (type) {
      case 'message_start':
        this.#start(event);
        break;
      case 'content_block_start':
        this.#lastIndex = event.index ?? this.#lastIndex;
        this.#openBlock(this.#lastIndex, objectIn(event, 'content_block'));
        break;
      case 'content_block_delta':
        this.#writeDelta(frame, event.index ?? this.#lastIndex, objectIn(event, 'delta'));
        break;
      case 'content_block_stop':
        this.#closeBlock(event.index ?? this.#lastIndex);
        break;
      case 'message_delta':
        this.#demandStart();
        this.#end(objectIn(event, 'delta'), isObject(event.usage) ? event.usage : null);
        break;
      case 'message_stop':
        this.#demandStart();
        this.teller.closeAll();
        return 'complete';
      case 'error':
        throw upstreamError(event.error ?? event);
    }
    return 'open';
  }

  #start({ message }: Json): void {
    if (!isObject(message)) throw unreadable('The provider sent a message_start without its message.');
    if (this.teller.started) return;
    const told = isObject(message.usage);
    if (told) this.#learn(objectIn(message, 'usage'), false);
    this.teller.start(message.id, message.model, told ? this.#usage : null);
    if (Array.isArray(message.content)) this.#tellContent(message.content);
  }

  #tellContent(content: readonly unknown[]): void {
    for (const [index, block] of content.entries()) {
      if (!isObject(block)) throw notThisFormat('messages');
      this.#openBlock(index, block);
      this.#closeBlock(index);
    }
  }

  #openBlock(index: unknown, block: Json): void {
    const slot = this.#slotAt(index);
    this.mould.forget();
    switch (block.type) {
      case 'text':
        this.#write(slot, 'text', textIn(block, 'text'));
        return;
      case 'thinking':
        this.#write(slot, 'reasoning', textIn(block, 'thinking'));
        slot.signature = textIn(block, 'signature');
        return;
      case 'redacted_thinking': // what it holds only its issuer can read
        return;
      case 'tool_use':
        this.#openCall(slot, block);
        return;
      default:
        throw unreadable(
          `The provider answered with a block of type ${String(block.type)}, which has no translation.`,
        );
    }
  }

  #openCall(slot: Slot, block: Json): void {
    const call = { id: textIn(block, 'id'), name: textIn(block, 'name') };
    if (call.name === '') throw unreadable('The provider called a tool without its name.');
    if (slot.tool) this.#closeCall(slot, slot.tool);
    slot.tool = this.teller.open(new Strand('tool', call));
    const input = argumentsText(block.input);
    slot.input = input === '{}' ? '' : input;
  }

  #writeDelta(frame: Frame, index: unknown, delta: Json): void {
    const slot = this.#slotAt(index);
    switch (delta.type) {
      case 'text_delta':
        this.#learnFrom(frame, 'text', delta, this.#write(slot, 'text', textIn(delta, 'text')));
        return;
      case 'thinking_delta':
        this.#learnFrom(frame, 'thinking', delta, this.#write(slot, 'reasoning', textIn(delta, 'thinking')));
        return;
      case 'signature_delta':
        slot.signature += textIn(delta, 'signature');
        return;
      case 'input_json_delta':
        if (!slot.tool) throw unreadable('The provider sent the input of a tool call that it never began.');
        this.teller.write(slot.tool, argumentsText(delta.partial_json));
        if (delta.partial_json !== '') slot.input = '';
        this.#learnFrom(frame, 'partial_json', delta, slot.tool);
    }
  }

  #write(slot: Slot, kind: Written, text: string): Strand {
    const strand = (slot[kind] ??= new Strand(kind));
    this.teller.write(strand, text);
    return strand;
  }

  #learnFrom(frame: Frame, key: string, delta: Json, strand: Strand): void {
    const text = delta[key];
    if (typeof text === 'string' && text !== '') this.mould.learn(frame, key, text, strand);
  }

  #closeBlock(index: unknown): void {
    const slot = this.#slots.get(index);
    if (!slot) return;
    this.#slots.delete(index);
    if (slot.text) this.teller.close(slot.text);
    if (slot.reasoning) this.teller.close(slot.reasoning, slot.signature);
    if (slot.tool) this.#closeCall(slot, slot.tool);
  }

  #closeCall(slot: Slot, tool: Strand): void {
    this.teller.write(tool, slot.input);
    this.teller.close(tool);
  }

  #end(ending: Json, usage: Json | null): void {
    if (usage) this.#learn(usage, tokensIn(usage, 'output_tokens') > 0);
    if (typeof ending.stop_sequence === 'string') this.#stopSequence = ending.stop_sequence;
    const { explanation } = objectIn(ending, 'stop_details');
    if (typeof explanation === 'string' && explanation !== '') this.#explanation = explanation;
    if (typeof ending.stop_reason !== 'string') return;
    this.#stopReason = ending.stop_reason;
    for (const index of [...this.#slots.keys()]) this.#closeBlock(index);
  }

  #learn(usage: Json, final: boolean): void {
    this.#usage = mergeMessagesUsage(this.#usage, usage);
    this.teller.learn(this.#usage, final);
  }

  #slotAt(index: unknown): Slot {
    let slot = this.#slots.get(index);
    if (!slot) this.#slots.set(index, (slot = { input: '', signature: '' }));
    return slot;
  }

  #demandStart(): void {
    if (!this.teller.started) throw unreadable('The provider ended a message that it never started.');
  }
}
