const CR = 0x0d;
const LF = 0x0a;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/** Takes a leading byte order mark away and makes every line end LF. */
export class PlainLines {
  #markBytesSeen = 0;
  #afterCr = false;

  /** Whether bytes without a CR may be read as they are. */
  get plain(): boolean {
    return this.#markBytesSeen === BOM.length && !this.#afterCr;
  }

  make(chunk: Buffer): Buffer {
    return this.#toLf(this.#skipMark(chunk));
  }

  #skipMark(chunk: Buffer): Buffer {
    if (this.#markBytesSeen === BOM.length) return chunk;
    const before = this.#markBytesSeen;
    let at = 0;
    while (at < chunk.length && this.#markBytesSeen < BOM.length) {
      if (chunk[at] !== BOM[this.#markBytesSeen]) {
        this.#markBytesSeen = BOM.length;
        return before === 0 ? chunk : Buffer.concat([BOM.subarray(0, before), chunk]);
      }
      at++;
      this.#markBytesSeen++;
    }
    return at === 0 ? chunk : chunk.subarray(at);
  }

  /** A CR ends its line at once; an LF behind it, perhaps in the next chunk, is the same line end. */
  #toLf(bytes: Buffer): Buffer {
    if (bytes.length === 0 || (!this.#afterCr && !bytes.includes(CR))) return bytes;
    const lines = Buffer.allocUnsafe(bytes.length);
    let length = 0;
    let afterCr = this.#afterCr;
    for (const byte of bytes) {
      if (byte !== LF || !afterCr) lines[length++] = byte === CR ? LF : byte;
      afterCr = byte === CR;
    }
    this.#afterCr = afterCr;
    return lines.subarray(0, length);
  }
}
