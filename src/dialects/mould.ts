import type { Frame } from '../io/sse/frame.js';

const [LF, SPACE, QUOTE, BACKSLASH, ZERO, NINE] = [0x0a, 0x20, 0x22, 0x5c, 0x30, 0x39];
/** An upstream whose deltas never look alike is not studied for ever. */
const FAILURES_BOUND = 16;

/** From this length on a slice of a string keeps all of that string in memory. */
const SLICED_LENGTH = 13;

type Gap = 'text' | 'string' | 'digits' | 'spaces';

interface Span {
  readonly gap: Gap;
  readonly from: number;
  readonly to: number;
}

/**
 * Deltas of one block differ in their text, a number and padding only. Learnt from one that was parsed, the bytes around
 * those tell the next of its kind without a parse: equal around its gaps, it is the same JSON but for what they hold.
 */
export class Mould<Source extends object> {
  #source: Source | null = null;
  #walls: readonly string[] = [];
  #gaps: readonly Gap[] = [];
  #failures = 0;

  /** The text of a frame that fits; null = parse it. */
  textOf(frame: Frame): string | null {
    if (this.#source === null) return null;
    const { view, end } = frame;
    const walls = this.#walls;
    let at = frame.start;
    let text: string | null = null;
    for (let i = 0; i < walls.length; i++) {
      const wall = walls[i]!;
      const behind = at + wall.length;
      if (view.slice(at, behind) !== wall) return null; // eight times faster than startsWith
      at = behind;
      if (i === this.#gaps.length) break;
      const from = at;
      at = gapEnd(view, at, this.#gaps[i]!);
      if (at === -1) return null;
      if (this.#gaps[i] === 'text') text = textBetween(frame, from, at);
    }
    if (at !== end) return null;
    return text;
  }

  /** `text` stands in the frame under `key`, and nothing else in the frame matters. */
  learn(frame: Frame, key: string, text: string, source: Source): void {
    if (this.#failures > FAILURES_BOUND) return;
    this.#failures++;
    this.#source = null;
    const { source: bytes, start, end } = frame;
    const written = spanBehind(frame, `"${key}":"`, 'text');
    if (!written || textBetween(frame, written.from, written.to) !== text) return;
    const spans = [
      written,
      spanBehind(frame, '"sequence_number":', 'digits'),
      spanBehind(frame, '"obfuscation":"', 'string'),
      paddingOf(frame),
    ]
      .filter((span) => span !== null)
      .sort((a, b) => a.from - b.from);
    const edges = [start, ...spans.flatMap(({ from, to }) => [from, to]), end];
    this.#walls = Array.from({ length: spans.length + 1 }, (_, i) =>
      bytes.toString('latin1', edges[2 * i], edges[2 * i + 1]),
    );
    this.#gaps = spans.map(({ gap }) => gap);
    this.#source = source;
    if (this.textOf(frame) !== text) this.#source = null;
  }

  /** Another block begins, which an upstream may number like the one before. */
  forget(): void {
    this.#source = null;
  }

  /** What the text just read belongs to; what was learnt was worth it. */
  served(): Source {
    this.#failures = 0;
    return this.#source!;
  }
}

/** Where a gap that begins at `at` ends; -1 = it is not filled as it should be. */
const gapEnd = (view: string, at: number, gap: Gap): number => {
  switch (gap) {
    case 'text':
    case 'string':
      return stringEnd(view, at);
    case 'digits':
      return digitsEnd(view, at);
    case 'spaces':
      while (view.charCodeAt(at) === SPACE) at++;
      return at;
  }
};

/** The closing quote of the string whose content begins at `at`; -1 = there is none on this line. */
const stringEnd = (view: string, at: number): number => {
  for (; ; at++) {
    const code = view.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at++;
    else if (!(code >= SPACE)) return -1; // a control character is no JSON; NaN is the end of the chunk
  }
};

const digitsEnd = (view: string, at: number): number => {
  const from = at;
  for (let code = view.charCodeAt(at); code >= ZERO && code <= NINE; code = view.charCodeAt(at)) at++;
  return at > from && (view.charCodeAt(from) !== ZERO || at === from + 1) ? at : -1;
};

/** A string's content as text; null where it is no JSON. */
const textBetween = ({ source, view }: Frame, from: number, to: number): string | null => {
  let plain = true;
  for (let at = from; at < to; at++) {
    const code = view.charCodeAt(at);
    if (code === BACKSLASH) {
      try {
        return JSON.parse(source.toString('utf8', from - 1, to + 1)) as string;
      } catch {
        return null;
      }
    }
    if (code > 0x7f) plain = false;
  }
  if (plain && to - from < SLICED_LENGTH) return view.slice(from, to);
  return source.toString(plain ? 'latin1' : 'utf8', from, to);
};

/** What stands behind a key that the frame holds once. Quotes inside strings are escaped, so no text can forge one. */
const spanBehind = ({ view, start, end }: Frame, key: string, gap: Gap): Span | null => {
  const at = view.indexOf(key, start);
  if (at === -1 || at >= end) return null;
  const again = view.indexOf(key, at + key.length);
  if (again !== -1 && again < end) return null;
  const from = at + key.length;
  const to = gapEnd(view, from, gap);
  return to === -1 ? null : { gap, from, to };
};

/** Spaces before the last brace: some upstreams hide the length of their events so. */
const paddingOf = ({ view, start, end }: Frame): Span | null => {
  let at = end;
  while (at > start && view.charCodeAt(at - 1) === LF) at--;
  const to = at - 1;
  if (view[to] !== '}') return null;
  let from = to;
  while (view.charCodeAt(from - 1) === SPACE) from--;
  return { gap: 'spaces', from, to };
};
