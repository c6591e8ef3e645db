import type { GatewayError } from '../core/errors.js';
import type { InferenceEvent } from '../core/events.js';
import type { Usage } from '../core/usage.js';
import type { Frame } from '../io/sse/frame.js';
import type { Splice } from '../io/sse/splice.js';
import { decoders, encoders, explaining, retold, saidIn, tagProof, type TranslateOptions } from './codecs.js';
import type { Decoder } from './decoding.js';
import type { CreditFields, DialectName, InferenceRequest, MeteredStage, RelayHooks } from './dialect.js';
import type { Encoder } from './encoding.js';
import type { Channel, Stop } from './guard.js';
import { Hold, type Give } from './hold.js';
import { RelayStage, type Standing, type Track } from './relay-stage.js';
import type { TellOptions } from './teller.js';

/** An answer of one format on its way to a client of another. */
class TranslateTrack implements Track {
  readonly #from: DialectName;
  readonly #decoder: Decoder;
  readonly #encoder: Encoder;
  readonly #hooks: RelayHooks;
  readonly #hold: Hold<InferenceEvent> | null;
  #channel: Channel | null = null;
  #fields: CreditFields | undefined;
  /** Deltas that went to the client. */
  #passed = 0;
  #text = '';
  /** What the upstream came to, while the last of its text waits. */
  #standing: Standing = 'open';
  #refusing = false;
  /** The model had begun to refuse in its own words. */
  #declining = false;

  constructor(from: DialectName, decode: TellOptions, encoder: Encoder, hooks: RelayHooks) {
    this.#from = from;
    this.#hold = hooks.guard && new Hold(hooks.guard);
    this.#decoder = new decoders[from]((event) => {
      if (this.#hold) this.#keep(event, this.#hold);
      else this.#pass(event);
    }, decode);
    this.#encoder = encoder;
    this.#hooks = hooks;
  }

  /** A client pays for what it was sent, not for what was kept from it. */
  get usage(): Usage {
    const { usage } = this.#decoder;
    return this.#refusing ? { ...usage, output: Math.min(usage.output, this.#passed) } : usage;
  }

  get closable(): boolean {
    return this.#decoder.closable && (this.#hold?.idle ?? true);
  }

  get pending(): Promise<void> | null {
    return this.#hooks.guard?.pending ?? null;
  }

  get begun(): boolean {
    return this.#passed > 0;
  }

  take(frame: Frame, out: Splice): Standing {
    this.#standing = this.#decoder.take(frame);
    if (this.#hold && this.#standing !== 'open') this.#hold.end();
    return this.go(out);
  }

  go(out: Splice): Standing {
    this.#hold?.release(this.#give);
    this.#flush(out);
    if (this.#standing !== 'failed' && this.#hooks.guard?.stop) {
      this.#refusing = true;
      return 'complete';
    }
    // The ending waits for whoever is still being asked, also where the text did not.
    return this.pending ? 'open' : this.#standing;
  }

  cease(out: Splice): Standing {
    this.#hold?.end();
    return this.go(out);
  }

  close(fields: CreditFields, out: Splice): void {
    this.#fields = fields;
    if (this.#refusing) this.#refuse(this.#hooks.guard!.stop!);
    else this.#decoder.finish();
    this.#hold?.release(this.#give);
    if (this.#hold && !this.#hold.idle) this.#endSilently();
    this.#flush(out);
  }

  breakOff(error: GatewayError, out: Splice): void {
    this.#pass({ type: 'error', code: error.code, message: error.message });
    this.#flush(out);
  }

  /** Between decoder and encoder, where somebody reads the answer: an event waits until its text may leave. */
  #keep(event: InferenceEvent, hold: Hold<InferenceEvent>): void {
    if (event.type === 'error') hold.end(); // nothing follows: what was kept back is judged as it stands
    if (event.type === 'block_open') this.#channel = { kind: event.kind, id: String(event.index) };
    hold.add(event, saidIn(event, this.#channel));
    if (event.type === 'finish') hold.close(explaining);
    if (event.type !== 'block_close' || !this.#channel) return;
    hold.close(this.#channel);
    this.#channel = null;
  }

  readonly #give: Give<InferenceEvent> = (event, _said, texts) => {
    this.#pass(retold(event, texts));
  };

  /** The model refused in words that may not leave, or that somebody else would have to be asked about. */
  #endSilently(): void {
    const stop = this.#hooks.guard?.stop;
    if (stop) this.#refuse(stop);
    else this.#pass({ type: 'finish', reason: 'refusal', stopSequence: null });
  }

  /** The encoder closes what is open by itself. */
  #refuse({ notice, text }: Stop): void {
    if (text !== null) {
      this.#pass({ type: 'block_open', index: 0, kind: 'text' });
      this.#pass({ type: 'delta', index: 0, text });
    }
    if (this.#declining) {
      this.#pass({ type: 'block_open', index: 0, kind: 'refusal' });
      this.#pass({ type: 'delta', index: 0, text: ` ${notice}` });
    }
    this.#pass({ type: 'usage', usage: this.usage });
    this.#pass({ type: 'finish', reason: 'refusal', stopSequence: null, explanation: notice });
  }

  /** Every event of every translated answer goes through here, in its order. */
  #pass(event: InferenceEvent): void {
    if (event.type === 'delta' && this.#passed++ === 0) this.#hooks.firstToken();
    if (event.type === 'block_open' && event.kind === 'refusal') this.#declining = true;
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
