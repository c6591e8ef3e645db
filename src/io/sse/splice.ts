import type { Frame } from './frame.js';

/** Gathers what goes out: untouched neighbours become one slice of the bytes they came in, new text goes between. */
export class Splice {
  #pieces: Buffer[] = [];
  /** New text in a row, encoded once. */
  #text = '';
  #source: Buffer | null = null;
  #from = 0;
  #to = 0;

  keep(frame: Frame): void {
    this.keepRange(frame.source, frame.start, frame.end);
  }

  keepRange(source: Buffer, from: number, to: number): void {
    if (source === this.#source && from === this.#to) {
      this.#to = to;
      return;
    }
    this.#cut();
    this.#cutText();
    this.#source = source;
    this.#from = from;
    this.#to = to;
  }

  put(bytes: string | Buffer): void {
    this.#cut();
    if (typeof bytes === 'string') {
      this.#text += bytes;
      return;
    }
    this.#cutText();
    this.#pieces.push(bytes);
  }

  /** Everything gathered since the last call; null = nothing. */
  take(): Buffer | null {
    if (this.#pieces.length === 0 && this.#text === '') return this.#run();
    this.#cut();
    this.#cutText();
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
  }

  #cut(): void {
    const run = this.#run();
    if (run !== null) this.#pieces.push(run);
  }

  #cutText(): void {
    if (this.#text === '') return;
    this.#pieces.push(Buffer.from(this.#text));
    this.#text = '';
  }

  /** The untouched neighbours at hand: the very chunk where they are all of it. */
  #run(): Buffer | null {
    const source = this.#source;
    if (source === null) return null;
    this.#source = null;
    return this.#from === 0 && this.#to === source.length ? source : source.subarray(this.#from, this.#to);
  }
}
