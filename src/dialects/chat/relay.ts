import type { GatewayError } from '../../core/errors.js';
import { noUsage, type Usage } from '../../core/usage.js';
import { frame as encode, frameText } from '../../io/sse/encode.js';
import { Frame } from '../../io/sse/frame.js';
import { Seeker } from '../../io/sse/seek.js';
import type { Splice } from '../../io/sse/splice.js';
import type { CreditFields, InferenceRequest, Json, RelayHooks } from '../dialect.js';
import { DONE, isObject, objectIn, readEvent, unreadable } from '../event.js';
import type { Standing, Track } from '../relay-stage.js';
import { orEstimated } from '../tokens.js';
import { errorIn, finishedIn, hasToken, objectsIn } from './chunk.js';
import { ShownModel } from './shown-model.js';
import { readChatUsage } from './usage.js';

const [D, N, BRACE] = [0x64, 0x6e, 0x7b];
const USAGE = 'usage":';

/**
 * An answer of /v1/chat/completions on its way. Chunks that finish a choice, and the usage chunk behind them, wait for
 * the end: the last one that the client may see carries the credit fields.
 */
export class ChatTrack implements Track {
  readonly #hooks: RelayHooks;
  readonly #estimatedInputTokens: number;
  readonly #model: ShownModel;
  readonly #usageAsked: boolean;
  readonly #choices: number;
  // Without their opening quotes: searching for a character as common as a quote takes twice as long.
  readonly #finishReason = new Seeker('finish_reason":');
  readonly #usageKey = new Seeker(USAGE);
  readonly #errorKey = new Seeker('rror":');
  readonly #finished = new Set<unknown>();
  #usage: Usage = noUsage;
  #outputTold = false;
  #deltas = 0;
  #first: Json | null = null;
  readonly #finishing: Frame[] = [];
  #usageChunk: Frame | null = null;

  constructor(request: InferenceRequest, hooks: RelayHooks, estimatedInputTokens: number) {
    this.#hooks = hooks;
    this.#estimatedInputTokens = estimatedInputTokens;
    this.#model = new ShownModel(hooks.shownModel);
    this.#usageAsked = objectIn(request.body, 'stream_options').include_usage === true;
    this.#choices = typeof request.body.n === 'number' ? request.body.n : 1;
  }

  get usage(): Usage {
    return orEstimated(this.#usage, this.#estimatedInputTokens, this.#outputTold ? 0 : this.#deltas);
  }

  get closable(): boolean {
    return this.#finished.size >= this.#choices;
  }

  take(frame: Frame, out: Splice): Standing {
    if (this.#deltas > 0 && this.#isPlain(frame)) {
      this.#deltas++;
      this.#model.pass(frame, out);
      return 'open';
    }
    const data = frame.data?.trim();
    if (data === undefined) out.keep(frame);
    else if (data === DONE) {
      if (this.#first === null) throw unreadable('The provider ended an answer that it never began.');
      return 'complete';
    } else if (data !== '') return this.#takeChunk(frame, readEvent(frame), out);
    return 'open';
  }

  close(fields: CreditFields, out: Splice): void {
    const last = [...this.#finishing];
    if (last.length === 0) last.push(this.#madeFinish());
    if (this.#usageAsked && this.#usageChunk) last.push(this.#usageChunk);
    const sealed = readEvent(last.pop()!);
    for (const frame of last) this.#model.pass(frame, out);
    const usage = isObject(sealed.usage) ? { ...sealed.usage, ...fields } : sealed.usage;
    out.put(
      encode(null, { ...this.#model.shown(sealed), choices: objectsIn(sealed.choices), usage, ...fields }),
    );
    out.put(frameText(null, DONE));
  }

  breakOff(error: GatewayError, out: Splice): void {
    out.put(encode(null, this.#hooks.errorBody(error)));
  }

  /** A chunk in the middle of an answer, known without parsing: one choice that goes on, no usage, no error. */
  #isPlain(frame: Frame): boolean {
    const { view, start } = frame;
    if (view.charCodeAt(start) !== D || view.charCodeAt(start + 6) !== BRACE) return false;
    const reason = this.#finishReason.behindOnly(frame);
    if (reason === -1 || view.charCodeAt(reason) !== N) return false;
    const usage = this.#usageKey.in(frame);
    if (usage !== -1 && view.charCodeAt(usage + USAGE.length) !== N) return false;
    return this.#errorKey.in(frame) === -1;
  }

  #takeChunk(frame: Frame, chunk: Json, out: Splice): Standing {
    const error = errorIn(frame.event, chunk);
    if (error !== null) {
      if (chunk.error === error && chunk.choices === undefined) out.keep(frame);
      else out.put(encode(null, { error }));
      return 'failed';
    }
    const choices = objectsIn(chunk.choices);
    if (isObject(chunk.usage)) this.#learn(chunk.usage);
    if (choices.length === 0) {
      // Clients fail on a chunk without choices; one that has neither them nor usage says nothing.
      if (isObject(chunk.usage)) this.#usageChunk = frame;
      else if (Array.isArray(chunk.choices)) this.#model.pass(frame, out);
      return 'open';
    }
    this.#first ??= chunk;
    if (choices.some(hasToken) && this.#deltas++ === 0) this.#hooks.firstToken();
    const finished = finishedIn(choices);
    for (const index of finished) this.#finished.add(index);
    if (finished.length > 0) this.#hold(frame, out);
    else this.#model.pass(frame, out);
    return 'open';
  }

  /** One for each choice at most: an upstream that finishes again and again is not held up for good. */
  #hold(frame: Frame, out: Splice): void {
    this.#finishing.push(frame);
    if (this.#finishing.length > this.#choices) this.#model.pass(this.#finishing.shift()!, out);
  }

  #learn(usage: Json): void {
    this.#usage = readChatUsage(usage);
    this.#outputTold = this.#usage.output > 0;
    this.#hooks.usage(this.usage);
  }

  /** For an answer that the upstream called done without giving a reason. */
  #madeFinish(): Frame {
    const { id, object, created, model } = this.#first ?? {};
    const choices = [{ index: 0, delta: {}, finish_reason: 'stop' }];
    return Frame.of(Buffer.from(encode(null, { id, object, created, model, choices })));
  }
}
