const COLON = 0x3a;
const SPACE = 0x20;

/**
 * One event on the wire: a range of the bytes it came in, read only when asked.
 * `view` is the source as latin1, so that an index into it is an offset into the bytes.
 */
export class Frame {
  readonly source: Buffer;
  readonly view: string;
  readonly start: number;
  /** Behind the blank line. */
  readonly end: number;
  #event: string | null = null;
  /** From and to of each data line's value; null = the lines were not read yet. */
  #data: number[] | null = null;

  constructor(source: Buffer, view: string, start: number, end: number) {
    this.source = source;
    this.view = view;
    this.start = start;
    this.end = end;
  }

  static of(source: Buffer): Frame {
    return new Frame(source, source.toString('latin1'), 0, source.length);
  }

  get raw(): Buffer {
    return this.source.subarray(this.start, this.end);
  }

  /** The event's name; null where no line gives one. */
  get event(): string | null {
    this.#readLines();
    return this.#event;
  }

  /** The data lines joined; null where there are none, as in a comment. */
  get data(): string | null {
    const spans = this.#readLines();
    if (spans.length === 0) return null;
    if (spans.length === 2) return this.source.toString('utf8', spans[0], spans[1]);
    const lines: string[] = [];
    for (let i = 0; i < spans.length; i += 2)
      lines.push(this.source.toString('utf8', spans[i], spans[i + 1]));
    return lines.join('\n');
  }

  #readLines(): number[] {
    if (this.#data !== null) return this.#data;
    const { view, end } = this;
    const spans: number[] = [];
    for (let at = this.start; at < end;) {
      const stop = view.indexOf('\n', at);
      if (fieldIs(view, at, stop, 'data')) spans.push(valueFrom(view, at + 4, stop), stop);
      else if (fieldIs(view, at, stop, 'event'))
        this.#event = view.slice(valueFrom(view, at + 5, stop), stop);
      at = stop + 1;
    }
    this.#data = spans;
    return spans;
  }
}

const fieldIs = (view: string, at: number, stop: number, name: string): boolean =>
  view.startsWith(name, at) && (at + name.length === stop || view.charCodeAt(at + name.length) === COLON);

/** Where a field's value begins: behind the colon and one space. */
const valueFrom = (view: string, at: number, stop: number): number => {
  if (at === stop) return stop;
  return view.charCodeAt(at + 1) === SPACE ? at + 2 : at + 1;
};
