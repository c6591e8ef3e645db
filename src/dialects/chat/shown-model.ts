import { frame as encode } from '../../io/sse/encode.js';
import type { Frame } from '../../io/sse/frame.js';
import type { Splice } from '../../io/sse/splice.js';
import type { Json } from '../dialect.js';
import { readEvent } from '../event.js';

const KEY = '"model":';

/** Every chunk names the model; where the client knows it by another name, that name is cut in. */
export class ShownModel {
  readonly #name: string | null;
  readonly #literal: Buffer;

  constructor(name: string | null) {
    this.#name = name;
    this.#literal = Buffer.from(JSON.stringify(name));
  }

  pass(frame: Frame, out: Splice): void {
    if (this.#name === null) {
      out.keep(frame);
      return;
    }
    const { source, view, start, end } = frame;
    const from = view.indexOf(KEY, start) + KEY.length;
    const to = view.indexOf('"', from + 1) + 1;
    const isLiteral = from >= KEY.length && view[from] === '"' && to > 0 && to <= end;
    if (!isLiteral || view.slice(from, to).includes('\\')) {
      out.put(encode(frame.event, this.shown(readEvent(frame))));
      return;
    }
    out.keepRange(source, start, from);
    out.put(this.#literal);
    out.keepRange(source, to, end);
  }

  shown(chunk: Json): Json {
    return this.#name === null ? chunk : { ...chunk, model: this.#name };
  }
}
