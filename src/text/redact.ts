import { ValueScanner, type FoundValue, type ValueKind } from './redact-scan.js';

export type { ValueKind } from './redact-scan.js';

export interface ValueSpan {
  readonly kind: ValueKind;
  readonly from: number;
  readonly to: number;
}

/** Replaces a stretch of the original text. */
export interface Edit extends ValueSpan {
  /** The placeholder; '' where more is left out of a secret that already has one. */
  readonly text: string;
}

export interface Redaction {
  readonly text: string;
  /** Values replaced. */
  readonly count: number;
  readonly kinds: readonly ValueKind[];
}

/** Reads a text in pieces; the edits make of it what `redact` makes of the whole. */
export interface RedactFollower {
  write(text: string): void;
  /** Nothing follows. */
  end(): void;
  /** How many characters from the beginning are decided: with their edits applied they may leave. */
  readonly safe: number;
  /** The edits since the last call, in order, each at or before `safe`. */
  takeEdits(): Edit[];
}

/** One per exchange: the same value has the same placeholder wherever it stands in it. */
export interface Redactor {
  redact(text: string): Redaction;
  spans(text: string): ValueSpan[];
  follow(): RedactFollower;
  /** Values replaced so far, in all texts of the exchange, and of which kinds. */
  readonly count: number;
  readonly kinds: readonly ValueKind[];
}

export const createRedactor = (): Redactor => new ExchangeRedactor();

class ExchangeRedactor implements Redactor {
  #count = 0;
  readonly #kinds = new Set<ValueKind>();
  readonly #placeholders = new Map<string, string>();
  readonly #numbers = new Map<ValueKind, number>();

  get count(): number {
    return this.#count;
  }

  get kinds(): readonly ValueKind[] {
    return [...this.#kinds];
  }

  redact(text: string): Redaction {
    const edits = findValues(text).map((found) => this.#edit(found));
    const spans = joinRests(edits);
    return {
      text: edits.length === 0 ? text : applyEdits(text, edits),
      count: spans.length,
      kinds: [...new Set(spans.map(({ kind }) => kind))],
    };
  }

  spans(text: string): ValueSpan[] {
    return joinRests(findValues(text).map((found) => ({ ...found, text: found.isRest ? '' : found.kind })));
  }

  follow(): RedactFollower {
    const scanner = new ValueScanner();
    return {
      write: (text) => scanner.write(text),
      end: () => scanner.end(),
      get safe() {
        return scanner.safe;
      },
      takeEdits: () => scanner.takeFound().map((found) => this.#edit(found)),
    };
  }

  #edit(found: FoundValue): Edit {
    const { kind, from, to } = found;
    if (found.isRest) return { kind, from, to, text: '' };
    this.#count += 1;
    this.#kinds.add(kind);
    return { kind, from, to, text: this.#placeholderOf(found) };
  }

  /** Numbers tell values apart and nothing about them. */
  #placeholderOf({ kind, value }: FoundValue): string {
    const key = value === null ? null : `${kind} ${canonical(kind, value)}`;
    const known = key === null ? undefined : this.#placeholders.get(key);
    if (known !== undefined) return known;
    const number = (this.#numbers.get(kind) ?? 0) + 1;
    this.#numbers.set(kind, number);
    const placeholder = `[${kind.toUpperCase()}_${number}]`;
    if (key !== null) this.#placeholders.set(key, placeholder);
    return placeholder;
  }
}

/** The same value in another spelling. */
const canonical = (kind: ValueKind, value: string): string => {
  if (kind === 'secret') return value;
  if (kind === 'email') return value.toLowerCase();
  return value.replace(/[^A-Za-z0-9]/g, '').toUpperCase();
};

const findValues = (text: string): FoundValue[] => {
  const scanner = new ValueScanner();
  scanner.write(text);
  scanner.end();
  return scanner.takeFound();
};

const joinRests = (edits: readonly Edit[]): ValueSpan[] => {
  const spans: ValueSpan[] = [];
  for (const { kind, from, to, text } of edits) {
    const last = spans.at(-1);
    if (text === '' && last) spans[spans.length - 1] = { ...last, to };
    else spans.push({ kind, from, to });
  }
  return spans;
};

/** The text with its edits, which are in order and do not overlap. */
export const applyEdits = (text: string, edits: readonly Edit[]): string => {
  let result = '';
  let at = 0;
  for (const edit of edits) {
    result += text.slice(at, edit.from) + edit.text;
    at = edit.to;
  }
  return result + text.slice(at);
};
