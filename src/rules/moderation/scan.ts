import { Evidence } from './evidence.js';
import { marksOf } from './lexicon.js';
import type { Model } from './model.js';
import { Peaks } from './peaks.js';
import { Reader, type Token, type TokenSink } from './reader.js';
import { CATEGORY_COUNT, Segments } from './segments.js';
import { windowLogits } from './window-logits.js';
import { Words, type WordSink } from './words.js';

/** Characters of a segment; it ends with the word that fills it. Two neighbours are a window. */
export const SEGMENT_CHARACTERS = 125;
/** A segment with few words among many other characters ends here. */
const SEGMENT_BOUND = 4 * SEGMENT_CHARACTERS;

const sums = new Float64Array(CATEGORY_COUNT);
const logits = new Float64Array(CATEGORY_COUNT);

export type EncodedSink = (run: string, goesOn: boolean) => void;

/** Reads one text, piece by piece, and scores its windows as they fill. The work per character is constant. */
export class Scan implements TokenSink, WordSink {
  readonly #model: Model;
  readonly #onEncoded: EncodedSink | null;
  readonly #reader: Reader;
  readonly #words: Words;
  readonly #segments: Segments;
  readonly #evidence: Evidence;
  readonly peaks = new Peaks();
  /** Whether the last segment belongs to the text that is judged, or there is none. */
  #last: 'none' | 'context' | 'text' = 'none';
  #filled = 0;
  #segmentFrom = 0;
  #judged = 0;

  constructor(model: Model, onEncoded: EncodedSink | null = null) {
    this.#model = model;
    this.#onEncoded = onEncoded;
    this.#reader = new Reader(this);
    this.#words = new Words(model.lexicon, this);
    this.#segments = new Segments(model.table);
    this.#evidence = new Evidence(model.phrases);
  }

  reset(): void {
    this.#reader.reset();
    this.#words.reset();
    this.#segments.reset();
    this.#evidence.reset();
    this.peaks.reset();
    this.#last = 'none';
    this.#filled = this.#segmentFrom = this.#judged = 0;
  }

  /** Text that stands before and is not judged itself: the first segment makes a window with it. */
  precede(context: string): void {
    this.#reader.read(context);
    this.#reader.finish();
    this.#words.finish();
    this.#reader.reset();
    this.#words.reset();
    this.peaks.reset();
    if (this.#filled > 0) this.#turn();
    this.#last = this.#last === 'none' ? 'none' : 'context';
    this.#segmentFrom = this.#judged = 0;
  }

  read(text: string): void {
    this.#reader.read(text);
  }

  /** The text is whole: what is left becomes the last window. */
  finish(): void {
    this.#reader.finish();
    this.#words.finish();
    if (this.#filled > 0 || (this.#last === 'text' && this.peaks.windows === 0)) this.#scoreWindow();
    this.#judged = this.#reader.position;
  }

  /** Characters of the text that a scored window covers. */
  get judged(): number {
    return Math.min(this.#judged, this.#reader.position - this.#reader.openRun);
  }

  /** Logits of the window that is not full yet, with the word that is not whole yet; gives how many features it has. */
  peek(into: Float64Array): number {
    const { units, length } = this.#reader.unfinished;
    const features = this.#segments.sumWithPrefix(sums, units, length);
    windowLogits(this.#model, sums, features, this.#evidence, into);
    return features;
  }

  token(token: Token, end: number): void {
    this.#words.token(token, end);
  }

  encoded(run: string, goesOn: boolean): void {
    this.#onEncoded?.(run, goesOn);
  }

  word(units: Uint16Array, from: number, to: number, hash: number, value: number, end: number): void {
    this.#segments.addWord(units, from, to, hash);
    this.#evidence.take(hash, marksOf(value));
    this.#filled += to - from + 1;
    if (this.#filled >= SEGMENT_CHARACTERS || end - this.#segmentFrom >= SEGMENT_BOUND) this.#endSegment(end);
  }

  variant(units: Uint16Array, from: number, to: number): void {
    this.#segments.addVariant(units, from, to);
  }

  #endSegment(end: number): void {
    if (this.#last !== 'none') {
      this.#scoreWindow();
      this.#judged = end;
    }
    this.#segmentFrom = end;
    this.#turn();
  }

  #turn(): void {
    this.#segments.turn();
    this.#evidence.turn();
    this.#filled = 0;
    this.#last = 'text';
  }

  #scoreWindow(): void {
    const features = this.#segments.sumInto(sums);
    windowLogits(this.#model, sums, features, this.#evidence, logits);
    this.peaks.add(logits);
  }
}
