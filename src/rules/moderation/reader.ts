import { DROPPED, foldCodePoint, spellingOf } from '../../text/fold.js';
import { WORD_BOUND } from './hash.js';

/** What kinds of characters a token is made of; bits. */
export const Kind = { letter: 1, digit: 2, sign: 4, star: 8 } as const;

/** Letters, digits and the signs that may stand for letters, between two separators. Valid only while it is handed over. */
export interface Token {
  readonly units: Uint16Array;
  length: number;
  /** Bits of `Kind`. */
  kinds: number;
  /** A letter stood more than twice in a row; two are kept. */
  stretched: boolean;
  /** Separators before it, of the kind people put between the letters of one word; UNJOINABLE = of another kind. */
  gap: number;
}

export interface TokenSink {
  /** `end`: characters of the text up to the token's end. */
  token(token: Token, end: number): void;
  /** A run that may be text in base64, hexadecimal or percent signs. `goesOn` = more of it follows. */
  encoded(run: string, goesOn: boolean): void;
}

const UNJOINABLE = 9;
const ENCODED_MIN = 24;
/** A longer run is handed over in pieces of this size, a multiple of four so that each can be decoded alone. */
const ENCODED_PIECE = 1_024;

const Class = { ...Kind, none: 0, joiner: 16, silent: 32 } as const;
const classes = new Uint8Array(128);
const lowered = new Uint8Array(128);
const inRun = new Uint8Array(128);
for (let unit = 0; unit < 128; unit++) {
  const character = String.fromCharCode(unit);
  const folded = foldCodePoint(unit);
  lowered[unit] = Math.max(0, folded);
  classes[unit] = folded === DROPPED ? Class.silent : classOf(character);
  inRun[unit] = /[A-Za-z0-9+/=_%-]/.test(character) ? 1 : 0;
}

function classOf(character: string): number {
  if (/[A-Za-z]/.test(character)) return Class.letter;
  if (/[0-9]/.test(character)) return Class.digit;
  if (/[@$!|+]/.test(character)) return Class.sign;
  if (character === '*') return Class.star;
  if (character === "'" || character === '`') return Class.silent;
  return /[ .\-_,/~]/.test(character) ? Class.joiner : Class.none;
}

/** Reads text piece by piece into tokens, undoing what Unicode can hide. What it gives does not depend on the pieces. */
export class Reader {
  readonly #sink: TokenSink;
  readonly #token: Token = {
    units: new Uint16Array(WORD_BOUND),
    length: 0,
    kinds: 0,
    stretched: false,
    gap: UNJOINABLE,
  };
  #last = -1;
  #repeats = 0;
  #gap = UNJOINABLE;
  #position = 0;
  #high = 0;
  #run = '';
  /** The run is so long that its beginning was handed over already. */
  #runGoesOn = false;

  constructor(sink: TokenSink) {
    this.#sink = sink;
  }

  reset(): void {
    this.#startToken();
    this.#gap = UNJOINABLE;
    this.#position = this.#high = 0;
    this.#run = '';
    this.#runGoesOn = false;
  }

  /** Characters read so far. */
  get position(): number {
    return this.#position;
  }

  /** Characters of a run that may yet turn out to be encoded text. */
  get openRun(): number {
    return this.#runGoesOn || this.#run.length >= ENCODED_MIN ? this.#run.length : 0;
  }

  /** The token that is being read. */
  get unfinished(): Readonly<Token> {
    return this.#token;
  }

  read(text: string): void {
    const start = this.#position;
    const end = text.length;
    let runFrom = 0;
    for (let index = 0; index < end; index++) {
      const unit = text.charCodeAt(index);
      if (unit >= 128 || this.#high !== 0) {
        this.#position = start + index;
        if (unit >= 128) runFrom = this.#endRun(text, runFrom, index);
        this.#takeWide(unit);
        continue;
      }
      const kind = classes[unit]!;
      if (kind === Class.letter) {
        index = this.#takeLetters(text, index, start) - 1;
        continue;
      }
      this.#position = start + index;
      if (inRun[unit] === 0) runFrom = this.#endRun(text, runFrom, index);
      this.#take(lowered[unit]!, kind);
    }
    this.#position = start + end;
    if (runFrom < end) this.#keepRun(text.slice(runFrom));
  }

  /** Most of every text: letters of ASCII, in a loop without calls. Gives where they end. */
  #takeLetters(text: string, from: number, start: number): number {
    const token = this.#token;
    const { units } = token;
    if (token.length === 0) this.#beginToken();
    token.kinds |= Class.letter;
    let { length } = token;
    let last = this.#last;
    let repeats = this.#repeats;
    let index = from;
    for (; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      const letter = unit | 32;
      if (letter < 97 || letter > 122 || unit > 127) break;
      if (letter !== last) {
        last = letter;
        repeats = 1;
      } else if (++repeats > 2) {
        token.stretched = true;
        continue;
      }
      if (length === WORD_BOUND) {
        token.length = length;
        this.#closeToken(start + index);
        this.#beginToken();
        token.kinds = Class.letter;
        length = 0;
      }
      units[length++] = letter;
    }
    token.length = length;
    this.#last = last;
    this.#repeats = repeats;
    return index;
  }

  /** The text is whole. */
  finish(): void {
    if (this.#high !== 0) this.#fold(this.#high);
    this.#high = 0;
    this.#endRun('', 0, 0);
    this.#closeToken(this.#position);
  }

  #takeWide(unit: number): void {
    const high = this.#high;
    this.#high = 0;
    if (high !== 0) {
      this.#position--;
      if (unit >= 0xdc00 && unit <= 0xdfff) {
        this.#fold((high - 0xd800) * 0x400 + (unit - 0xdc00) + 0x10000);
        return;
      }
      this.#fold(high);
      this.#position++;
    }
    if (unit >= 0xd800 && unit <= 0xdbff) this.#high = unit;
    else this.#fold(unit);
  }

  #fold(point: number): void {
    const folded = foldCodePoint(point);
    if (folded >= 0) this.#takeFolded(folded);
    else if (folded !== DROPPED) for (const unit of spellingOf(folded)) this.#takeFolded(unit);
  }

  #takeFolded(unit: number): void {
    this.#take(unit, unit < 128 ? classes[unit]! : Class.letter);
  }

  #take(unit: number, kind: number): void {
    if (kind === Class.silent) return;
    if (kind === Class.none || kind === Class.joiner) {
      this.#closeToken(this.#position);
      this.#gap = kind === Class.joiner ? Math.min(UNJOINABLE, this.#gap + 1) : UNJOINABLE;
      return;
    }
    const token = this.#token;
    if (unit !== this.#last) {
      this.#last = unit;
      this.#repeats = 1;
    } else if (++this.#repeats > 2 && kind === Class.letter) {
      token.stretched = true;
      return;
    }
    if (token.length === 0) this.#beginToken();
    else if (token.length === WORD_BOUND) this.#closeToken(this.#position);
    token.units[token.length++] = unit;
    token.kinds |= kind;
  }

  #beginToken(): void {
    this.#token.gap = this.#gap;
    this.#gap = 0;
  }

  #closeToken(end: number): void {
    if (this.#token.length === 0) return;
    this.#sink.token(this.#token, end);
    this.#startToken();
  }

  #startToken(): void {
    const token = this.#token;
    token.length = token.kinds = this.#repeats = 0;
    token.stretched = false;
    this.#last = -1;
  }

  #keepRun(text: string): void {
    this.#run += text;
    while (this.#run.length > ENCODED_PIECE) {
      this.#sink.encoded(this.#run.slice(0, ENCODED_PIECE), true);
      this.#run = this.#run.slice(ENCODED_PIECE);
      this.#runGoesOn = true;
    }
  }

  /** Hands over a run that ended before `to`; gives where the next may begin. */
  #endRun(text: string, from: number, to: number): number {
    if (this.#runGoesOn || this.#run.length + to - from >= ENCODED_MIN) {
      this.#keepRun(text.slice(from, to));
      this.#sink.encoded(this.#run, false);
    }
    if (this.#run !== '') this.#run = '';
    this.#runGoesOn = false;
    return to + 1;
  }
}
