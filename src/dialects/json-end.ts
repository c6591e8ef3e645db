const [QUOTE, BACKSLASH, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [
  0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d,
];

/** Follows JSON text that comes in pieces, to tell when the object in it is all there. */
export class JsonEnd {
  #depth = 0;
  #begun = false;
  #inString = false;
  #escaped = false;

  get reached(): boolean {
    return this.#begun && this.#depth === 0;
  }

  push(text: string): void {
    for (let i = 0; i < text.length; i++) this.#step(text.charCodeAt(i));
  }

  #step(code: number): void {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (code === BACKSLASH) this.#escaped = true;
      else if (code === QUOTE) this.#inString = false;
    } else if (code === QUOTE) this.#inString = true;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      this.#depth++;
      this.#begun = true;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) this.#depth--;
  }
}
