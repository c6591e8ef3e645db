import {
  CLOSING,
  foldCluster,
  INVISIBLE,
  JOINING,
  LONE_SURROGATE,
  MARK,
  OPEN,
  SIMPLE,
  SPACE,
  SURROGATE,
  traitOf,
  traitOfPoint,
  WORD,
  WORD_END,
  WORD_START,
} from './term-characters.js';

const SYMBOL = 0xffff;
const KINDS = WORD | SPACE | MARK;
const PLAIN = SIMPLE | WORD | CLOSING;
/** Longer heaps of marks are cut, so that nobody makes us keep a text of nothing else. */
const CLUSTER_BOUND = 16;

/** Reading from a string costs several times more than reading from an array. */
const SLAB = 2_048;
const units = new Uint16Array(SLAB + 1);

/** Where the symbols of a text go. */
export interface SymbolSink {
  /** True where it is inside nothing: until a word begins or punctuation comes, it need not be told more. */
  readonly idle: boolean;
  take(symbol: number, from: number, to: number): void;
}

/**
 * Turns a text, in any pieces, into the symbols that terms are made of: NFKC, case-folded, runs of whitespace as one
 * space, no invisible characters, and a symbol where a word begins or ends. Positions are those of the original text.
 */
export class TermReader {
  readonly #sink: SymbolSink;
  #length = 0;
  /** The first half of a pair whose other half is still to come; 0 where there is none. */
  #half = 0;
  /** A character that something may still join, with what has joined it. */
  #cluster = '';
  #clusterFrom = 0;
  #clusterTo = 0;
  #inWord = false;
  #afterSpace = false;
  #lastTo = 0;

  constructor(sink: SymbolSink) {
    this.#sink = sink;
  }

  /** Characters read, but for half a pair at the end. */
  get length(): number {
    return this.#length;
  }

  /** The character that the next one may still change: the sink has not seen it yet. */
  get cluster(): string {
    return this.#cluster;
  }

  get clusterFrom(): number {
    return this.#clusterFrom;
  }

  reset(): void {
    this.#length = this.#half = this.#lastTo = 0;
    this.#cluster = '';
    this.#inWord = this.#afterSpace = false;
  }

  /** Reads a piece of the text, `from` up to `to`. */
  read(text: string, from = 0, to = text.length): void {
    for (let at = from; at < to; at += SLAB) this.#readSlab(text, at, Math.min(to, at + SLAB));
  }

  /** Nothing follows. */
  finish(): void {
    if (this.#half !== 0) this.#readLone(this.#length++);
    this.#half = 0;
    this.#closeCluster();
    if (this.#inWord) this.#sink.take(WORD_END, this.#lastTo, this.#lastTo);
    this.#inWord = false;
  }

  /** Shows the sink the open cluster as if it ended here; it stays open. */
  peek(): void {
    const [cluster, inWord, afterSpace, lastTo] = [
      this.#cluster,
      this.#inWord,
      this.#afterSpace,
      this.#lastTo,
    ];
    this.#closeCluster();
    this.#cluster = cluster;
    this.#inWord = inWord;
    this.#afterSpace = afterSpace;
    this.#lastTo = lastTo;
  }

  #readSlab(text: string, from: number, to: number): void {
    const base = this.#length;
    let size = 0;
    if (this.#half !== 0) units[size++] = this.#half;
    this.#half = 0;
    for (let n = from; n < to; n++) units[size++] = text.charCodeAt(n);
    this.#length += size;
    for (let n = 0; n < size;) {
      if (this.#cluster === '') n = this.#readPlain(n, size, base);
      if (n < size) n = this.#readOne(n, size, base);
    }
  }

  /** The way of nearly all text: as far as every character stands for itself and is known to be complete. */
  #readPlain(at: number, size: number, base: number): number {
    const sink = this.#sink;
    let idle = sink.idle;
    let inWord = this.#inWord;
    let afterSpace = this.#afterSpace;
    let lastTo = this.#lastTo;
    let next = traitOf(units[at]!);
    let n = at;
    for (; n < size; n++) {
      const trait = next;
      if ((trait & SIMPLE) === 0) break;
      next = n + 1 < size ? traitOf(units[n + 1]!) : 0;
      if ((trait & OPEN) !== 0 && (next & CLOSING) === 0) break;
      const from = base + n;
      if ((trait & WORD) !== 0) {
        if (inWord && idle) {
          // To the end of a word that is of no interest.
          while (n + 2 < size && (next & PLAIN) === PLAIN) {
            const after = traitOf(units[n + 2]!);
            if ((after & CLOSING) === 0) break;
            n += 1;
            next = after;
          }
          continue;
        }
        if (!inWord) sink.take(WORD_START, from, from);
        inWord = true;
        afterSpace = false;
      } else {
        if (inWord && !idle) sink.take(WORD_END, from, lastTo);
        inWord = false;
        const isSpace = (trait & SPACE) !== 0;
        if (isSpace && (afterSpace || sink.idle)) {
          afterSpace = true;
          idle = sink.idle;
          continue;
        }
        afterSpace = isSpace;
      }
      lastTo = from + 1;
      sink.take(trait & SYMBOL, from, lastTo);
      idle = sink.idle;
    }
    this.#inWord = inWord;
    this.#afterSpace = afterSpace;
    this.#lastTo = lastTo;
    return n;
  }

  /** One character of any kind. */
  #readOne(n: number, size: number, base: number): number {
    const unit = units[n]!;
    const trait = traitOf(unit);
    if ((trait & INVISIBLE) !== 0) return n + 1;
    if ((trait & SURROGATE) !== 0) return this.#readSurrogate(n, size, base);
    if ((trait & JOINING) !== 0 || (trait & SIMPLE) === 0 || (trait & OPEN) !== 0) {
      this.#join(String.fromCharCode(unit), trait, base + n);
    } else {
      this.#closeCluster();
      this.#emit(trait, base + n, base + n + 1);
    }
    return n + 1;
  }

  #readSurrogate(n: number, size: number, base: number): number {
    const unit = units[n]!;
    const isFirst = unit <= 0xdbff;
    if (isFirst && n + 1 === size) {
      this.#half = unit;
      this.#length -= 1;
      return n + 1;
    }
    const pair = isFirst ? String.fromCharCode(unit, units[n + 1]!) : '';
    const point = pair === '' ? 0 : pair.codePointAt(0)!;
    if (point > 0xffff) {
      const trait = traitOfPoint(point);
      if ((trait & INVISIBLE) === 0) this.#join(pair, trait, base + n);
      return n + 2;
    }
    this.#readLone(base + n);
    return n + 1;
  }

  #readLone(at: number): void {
    this.#closeCluster();
    this.#emit(LONE_SURROGATE, at, at + 1);
  }

  #join(character: string, trait: number, from: number): void {
    const joins = (trait & JOINING) !== 0 && this.#cluster !== '' && this.#cluster.length < CLUSTER_BOUND;
    if (!joins) {
      this.#closeCluster();
      this.#clusterFrom = from;
    }
    this.#cluster += character;
    this.#clusterTo = from + character.length;
  }

  #closeCluster(): void {
    const cluster = this.#cluster;
    if (cluster === '') return;
    this.#cluster = '';
    const trait = cluster.length === 1 ? traitOf(cluster.charCodeAt(0)) : 0;
    if ((trait & SIMPLE) !== 0) {
      this.#emit(trait, this.#clusterFrom, this.#clusterTo);
      return;
    }
    for (const character of foldCluster(cluster)) {
      const kinds = traitOfPoint(character.codePointAt(0)!) & KINDS;
      for (let half = 0; half < character.length; half++) {
        this.#emit(kinds | character.charCodeAt(half), this.#clusterFrom, this.#clusterTo);
      }
    }
  }

  #emit(trait: number, from: number, to: number): void {
    const isWord = (trait & MARK) !== 0 ? this.#inWord : (trait & WORD) !== 0;
    if (isWord) {
      if (!this.#inWord) this.#sink.take(WORD_START, from, from);
      this.#inWord = true;
      this.#afterSpace = false;
    } else {
      if (this.#inWord) this.#sink.take(WORD_END, from, this.#lastTo);
      this.#inWord = false;
      const isSpace = (trait & SPACE) !== 0;
      if (isSpace && this.#afterSpace) return;
      this.#afterSpace = isSpace;
    }
    this.#lastTo = to;
    this.#sink.take(trait & SYMBOL, from, to);
  }
}
