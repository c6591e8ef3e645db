import { isUtf8 } from 'node:buffer';

export type ParsedJson =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string };

const fault = (message: string): ParsedJson => ({ ok: false, message });

const DEPTH_BOUND = 64;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const POINT = 0x2e;
const PLUS = 0x2b;
/** Bytes of a string looked at one by one before the native search takes over: text with many quotes never pays for it. */
const SHORT_STRING = 64;
/** No number of fewer characters and without an exponent overflows. */
const LONG_NUMBER = 300;

/** The index after the closing quote of the string that opens at `start`. */
const skipString = (bytes: Buffer, start: number): number => {
  let at = start + 1;
  for (;;) {
    const watchTo = Math.min(at + SHORT_STRING, bytes.length);
    while (at < watchTo) {
      const byte = bytes[at]!;
      if (byte === QUOTE) return at + 1;
      at += byte === BACKSLASH ? 2 : 1;
    }
    if (at >= bytes.length) return bytes.length;
    const quote = bytes.indexOf(QUOTE, at);
    if (quote < 0) return bytes.length;
    let slashes = 0;
    while (quote - slashes > at && bytes[quote - slashes - 1] === BACKSLASH) slashes++;
    at = quote + 1;
    if (slashes % 2 === 0) return at;
  }
};

const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39;
const isExponent = (byte: number): boolean => byte === 0x65 || byte === 0x45;

/** What JSON.parse would accept and the rest of the program could not carry: deep nesting, numbers beyond a double. */
const findExcess = (bytes: Buffer): string | null => {
  let depth = 0;
  let at = 0;
  while (at < bytes.length) {
    const byte = bytes[at]!;
    if (byte === QUOTE) {
      at = skipString(bytes, at);
    } else if (isDigit(byte)) {
      const start = at;
      let exponent = false;
      for (
        let next = byte;
        isDigit(next) || next === POINT || next === PLUS || next === MINUS || isExponent(next);
      ) {
        if (isExponent(next)) exponent = true;
        next = bytes[++at] ?? 0;
      }
      if ((exponent || at - start > LONG_NUMBER) && Number(bytes.toString('latin1', start, at)) === Infinity)
        return 'The body holds a number that is too large.';
    } else {
      if (byte === 0x5b || byte === 0x7b) {
        if (++depth > DEPTH_BOUND) return `The body nests deeper than ${DEPTH_BOUND} levels.`;
      } else if (byte === 0x5d || byte === 0x7d) depth--;
      at++;
    }
  }
  return null;
};

/** Whether the text may spell the key, plainly or by an escape of one of its letters. */
const hintsAtProto = (text: string): boolean =>
  text.includes('__proto__') || (text.includes('\\u00') && /\\u00[567]/.test(text));

/** Recursion is safe here: the depth is bounded before. */
const holdsProto = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(holdsProto);
  return Object.hasOwn(value, '__proto__') || Object.values(value).some(holdsProto);
};

/** Whole JSON text from a client: strict UTF-8 (a BOM is let pass), bounded nesting, finite numbers, no `__proto__` key. */
export const parseJson = (bytes: Buffer): ParsedJson => {
  const content = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
  if (content.length === 0) return fault('The body is empty.');
  if (!isUtf8(content)) return fault('The body is not valid UTF-8.');
  const excess = findExcess(content);
  if (excess !== null) return fault(excess);
  const text = content.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // V8's own message quotes the body, which must not travel into logs.
    const position = error instanceof Error ? /at position (\d+)/.exec(error.message)?.[1] : undefined;
    const place = position === undefined ? '' : `, at position ${position}`;
    return fault(`The body is not valid JSON${place}.`);
  }
  if (hintsAtProto(text) && holdsProto(value)) return fault('The body holds a key named __proto__.');
  return { ok: true, value };
};
