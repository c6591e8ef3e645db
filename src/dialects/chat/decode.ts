import type { BlockKind, FinishReason } from '../../core/events.js';
import type { Frame } from '../../io/sse/frame.js';
import { textIn, upstreamError } from '../decoding.js';
import type { Json } from '../dialect.js';
import { DONE, isObject, objectIn, readEvent, unreadable } from '../event.js';
import { FormatDecoder } from '../format-decoder.js';
import type { Standing } from '../relay-stage.js';
import { Strand } from '../teller.js';
import { notThisFormat } from '../whole.js';
import { ChatCalls } from './calls.js';
import { errorIn, objectsIn } from './chunk.js';
import { readChatUsage } from './usage.js';

const REASONS: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  max_tokens: 'length',
  model_length: 'length',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'refusal',
};

/** Reasons that say the upstream gave up. */
const FAILURES: ReadonlySet<string> = new Set(['error', 'abort', 'insufficient_system_resource']);

type Written = Exclude<BlockKind, 'tool'>;

/** Reads OpenAI's Chat Completions format, and what others make of it. */
export class ChatDecoder extends FormatDecoder {
  readonly #calls = new ChatCalls(this.teller);
  readonly #written: Readonly<Record<Written, Strand>> = {
    text: new Strand('text'),
    reasoning: new Strand('reasoning'),
    refusal: new Strand('refusal'),
  };
  #reason: string | null = null;

  get closable(): boolean {
    return this.#reason !== null;
  }

  protected readWhole(body: Json): Standing {
    const error = errorIn(null, body);
    if (error) throw upstreamError(error);
    const choice = firstChoice(body);
    if (!choice || !isObject(choice.message)) throw notThisFormat('chat');
    this.teller.start(body.id, body.model);
    if (isObject(body.usage)) this.teller.learn(readChatUsage(body.usage), true);
    this.#tell(choice.message);
    this.#end(choice);
    return 'complete';
  }

  finish(): void {
    const { [this.#reason ?? '']: reason = 'stop' } = REASONS;
    this.teller.finish(reason);
  }

  protected read(frame: Frame): Standing {
    const data = frame.data?.trim() ?? '';
    if (data === '' || frame.event === 'ping') return 'open';
    if (data === DONE) {
      if (!this.teller.started) throw unreadable('The provider ended an answer that it never began.');
      this.#close();
      return 'complete';
    }
    const chunk = readEvent(frame);
    const error = errorIn(frame.event, chunk);
    if (error) throw upstreamError(error);
    const usage = isObject(chunk.usage) ? chunk.usage : null;
    if (usage) this.teller.learn(readChatUsage(usage), true);
    const choice = firstChoice(chunk);
    if (!choice) return 'open';
    this.teller.start(chunk.id, chunk.model);
    const only = this.#tell(deltaIn(choice, this.teller.said));
    this.#end(choice);
    if (only && !usage && this.#reason === null && objectsIn(chunk.choices).length === 1)
      this.mould.learn(frame, only.key, only.text, only.strand);
    return 'open';
  }

  /** Tells what a delta or a message brings; gives back the piece of text where that is all of it. */
  #tell(delta: Json): { readonly key: string; readonly text: string; readonly strand: Strand } | null {
    if (isObject(delta.audio))
      throw unreadable('The provider answered with audio, which has no translation.');
    const reasoningKey = textIn(delta, 'reasoning_content') === '' ? 'reasoning' : 'reasoning_content';
    const pieces = [
      this.#write('reasoning', delta, reasoningKey),
      this.#writeContent(delta),
      this.#write('refusal', delta, 'refusal'),
      ...objectsIn(delta.tool_calls).map((piece) => this.#writeCall(piece)),
      ...(isObject(delta.function_call) ? [this.#writeCall({ function: delta.function_call })] : []),
    ].filter((piece) => piece !== null);
    const [only] = pieces;
    return pieces.length === 1 && only?.text ? only : null;
  }

  #write(kind: Written, delta: Json, key: string) {
    const text = textIn(delta, key);
    if (text === '') return null;
    this.teller.write(this.#written[kind], text);
    return { key, text, strand: this.#written[kind] };
  }

  /** Content may be a list of parts. */
  #writeContent(delta: Json) {
    if (!Array.isArray(delta.content)) return this.#write('text', delta, 'content');
    for (const part of objectsIn(delta.content)) {
      if (part.type === 'thinking')
        for (const thought of objectsIn(part.thinking)) this.#write('reasoning', thought, 'text');
      else if (part.type === 'refusal') this.#write('refusal', part, 'refusal');
      else if (typeof part.text === 'string') this.#write('text', part, 'text');
      else
        throw unreadable(
          `The provider answered with a part of type ${String(part.type)}, which has no translation.`,
        );
    }
    return null;
  }

  #writeCall(piece: Json) {
    const strand = this.#calls.take(piece);
    if (!strand) return { key: '', text: '', strand: this.#written.text };
    const made = objectIn(piece, 'function');
    // A piece that names its call may begin another one.
    const names = textIn(made, 'name') !== '';
    if (names) this.mould.forget();
    const text = names ? '' : textIn(made, 'arguments');
    return { key: 'arguments', text, strand };
  }

  #end({ finish_reason: reason }: Json): void {
    if (typeof reason !== 'string' || reason === '') return;
    if (FAILURES.has(reason)) throw unreadable('The provider gave up in the middle of its answer.');
    this.#reason ??= reason;
    this.#close();
  }

  #close(): void {
    this.#calls.demandNames();
    this.teller.closeAll();
  }
}

/** The choice that counts: no request that is translated asks for more than one. */
const firstChoice = (body: Json): Json | undefined =>
  objectsIn(body.choices).find(({ index }) => (index ?? 0) === 0);

/** Some servers write the whole message where a delta belongs; behind deltas it only repeats them. */
const deltaIn = (choice: Json, said: boolean): Json => {
  if (isObject(choice.delta)) return choice.delta;
  return said ? {} : objectIn(choice, 'message');
};
