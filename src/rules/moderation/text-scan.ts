import { DECODED_BOUND, decodeRun, isFullLine } from './decode.js';
import type { Model } from './model.js';
import { Scan } from './scan.js';
import { CATEGORY_COUNT } from './segments.js';

const hidden = new Float64Array(CATEGORY_COUNT);

/** One text with whatever is encoded in it, each read by a scan of its own: the higher of both counts. */
export class TextScan {
  readonly #model: Model;
  readonly #plain: Scan;
  #decoded: Scan | null = null;
  #decodedLength = 0;
  #decodings = 0;
  #finished = false;

  constructor(model: Model) {
    this.#model = model;
    this.#plain = new Scan(model, (run, goesOn) => this.#decode(run, goesOn));
  }

  reset(): void {
    this.#plain.reset();
    this.#decoded = null;
    this.#decodedLength = this.#decodings = 0;
    this.#finished = false;
  }

  /** Text before the one that is judged. */
  precede(context: string): void {
    this.#plain.precede(context);
    this.#decoded = null;
    this.#decodedLength = this.#decodings = 0;
  }

  read(text: string): void {
    this.#plain.read(text);
  }

  finish(): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#plain.finish();
    this.#decoded?.finish();
  }

  get judged(): number {
    return this.#plain.judged;
  }

  /** Grows with everything that may change the text's logits. */
  get verdicts(): number {
    return this.#plain.peaks.windows + this.#decodings;
  }

  /** The text's logits so far. */
  blendInto(logits: Float64Array): void {
    this.#plain.peaks.blendInto(logits);
    if (!this.#decoded) return;
    if (this.#finished || this.#decoded.peaks.windows > 0) {
      this.#decoded.peaks.blendInto(hidden);
      raise(logits, hidden);
    }
    if (this.#finished) return;
    this.#decoded.peek(hidden);
    raise(logits, hidden);
  }

  /** Logits of the window that is not full yet; gives how many features it has. */
  peek(logits: Float64Array): number {
    return this.#plain.peek(logits);
  }

  #decode(run: string, goesOn: boolean): void {
    const text = this.#decodedLength < DECODED_BOUND ? decodeRun(run) : null;
    if (text === null) return;
    this.#decoded ??= new Scan(this.#model);
    this.#decoded.read(goesOn || isFullLine(run) ? text : `${text} `);
    this.#decodedLength += text.length;
    this.#decodings++;
  }
}

const raise = (logits: Float64Array, others: Float64Array): void => {
  for (let category = 0; category < CATEGORY_COUNT; category++)
    logits[category] = Math.max(logits[category]!, others[category]!);
};
