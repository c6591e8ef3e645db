import type { Frame } from './frame.js';

/** Looks for one text in frame after frame, reading each chunk once however many frames it holds. */
export class Seeker {
  readonly #text: string;
  #source: Buffer | null = null;
  #next = -1;

  constructor(text: string) {
    this.#text = text;
  }

  /** Where the frame holds the text first; -1 = nowhere. */
  in(frame: Frame): number {
    if (frame.source !== this.#source) {
      this.#source = frame.source;
      this.#next = frame.view.indexOf(this.#text, frame.start);
    } else if (this.#next !== -1 && this.#next < frame.start) {
      this.#next = frame.view.indexOf(this.#text, frame.start);
    }
    return this.#next < frame.end ? this.#next : -1;
  }

  /** The index behind the text where the frame holds it exactly once; else -1. */
  behindOnly(frame: Frame): number {
    const at = this.in(frame);
    if (at === -1) return -1;
    const behind = at + this.#text.length;
    this.#next = frame.view.indexOf(this.#text, behind);
    return this.#next === -1 || this.#next >= frame.end ? behind : -1;
  }
}
