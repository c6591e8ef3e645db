import type { Turns } from './turns.js';

/** A string or number of a JSON text, and where it stands. */
export interface Spelt {
  readonly from: number;
  readonly to: number;
  /** What it says, not how it is spelt. */
  readonly text: string;
  readonly kind: 'string' | 'number';
  /** The text ends within it. */
  readonly isOpen: boolean;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const NUMBER = /-?\d[\d.eE+-]*/y;
const ESCAPE = /\\(?:u([0-9a-f]{4})|([^]))/gi;
const ESCAPED: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
/** No term or value goes across it, and in prose it means nothing. */
const BETWEEN = ';\n';

/**
 * The strings, keys among them, and numbers of a JSON text, in their order: where it is cut short, and where a key
 * stands twice, they are read as well.
 */
export function* speltIn(text: string): Generator<Spelt, void, undefined> {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at + 1);
      const isOpen = end >= text.length;
      const to = isOpen ? text.length : end + 1;
      yield { from: at, to, text: unescaped(text.slice(at + 1, end)), kind: 'string', isOpen };
      at = to - 1;
    } else if (code === 0x2d || (code >= 0x30 && code <= 0x39)) {
      NUMBER.lastIndex = at;
      const [number] = NUMBER.exec(text) ?? [];
      if (number === undefined) continue;
      const to = at + number.length;
      yield { from: at, to, text: plain(number), kind: 'number', isOpen: to === text.length };
      at = to - 1;
    }
  }
}

/** Whether what a call says may be another text than what is written. */
export const isEscaped = (text: string): boolean => text.includes('\\') && /^\s*[[{"]/.test(text);

/** What a call says. */
export const decoded = (text: string): string => [...speltIn(text)].map((spelt) => spelt.text).join(BETWEEN);

/** Without holding up the loop, however many strings there are. */
export const decodedSlowly = async (text: string, turns: Turns): Promise<string> => {
  const texts: string[] = [];
  for (const spelt of speltIn(text)) {
    if (turns.isOver) await turns.next();
    texts.push(spelt.text);
  }
  return texts.join(BETWEEN);
};

const endOfString = (text: string, from: number): number => {
  let at = from;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at++;
  }
  return at;
};

const unescaped = (text: string): string =>
  text.includes('\\')
    ? text.replace(ESCAPE, (_, hex: string | undefined, one: string | undefined) =>
        hex === undefined ? (ESCAPED[one!] ?? one!) : String.fromCharCode(Number.parseInt(hex, 16)),
      )
    : text;

/** `4.111e3` is the same number as `4111`. */
const plain = (number: string): string => {
  if (!/[.e]/i.test(number)) return number;
  const value = Number(number);
  return Number.isSafeInteger(value) ? String(value) : number;
};
