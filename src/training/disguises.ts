import type { Random } from './random.js';

/** Writes a text so that people still read it and programs may not. */
export type Disguise = (text: string, random: Random) => string;

const eachWord = (text: string, change: (word: string) => string): string =>
  text.replace(/[A-Za-z]{4,}/g, change);

const mapLetters = (text: string, table: Readonly<Record<string, string>>): string =>
  text.replace(/[A-Za-z]/g, (letter) => table[letter] ?? table[letter.toLowerCase()] ?? letter);

const shift =
  (from: number) =>
  (text: string): string =>
    text.replace(/[a-z]/g, (letter) => String.fromCodePoint(from + letter.charCodeAt(0) - 97));

const CYRILLIC = { a: 'а', e: 'е', o: 'о', p: 'р', c: 'с', x: 'х', y: 'у', i: 'і', s: 'ѕ' };
const GREEK = { o: 'ο', v: 'ν', i: 'ι', a: 'α', k: 'κ', t: 'τ', u: 'υ', n: 'η' };
const LEET = { a: '4', e: '3', i: '1', o: '0', s: '5', t: '7' };
const SYMBOLS = { a: '@', s: '$', i: '!', o: '0', e: '3' };

const unicode: Readonly<Record<string, Disguise>> = {
  capitals: (text) => text.toUpperCase(),
  'zero-width': (text) => Array.from(text).join('\u200b'),
  'soft hyphens': (text) => eachWord(text, (word) => Array.from(word).join('\u00ad')),
  Cyrillic: (text) => mapLetters(text, CYRILLIC),
  Greek: (text) => mapLetters(text.toLowerCase(), GREEK),
  'full width': (text) => text.replace(/[!-~]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0)),
  'mathematical bold': shift(0x1d41a),
  circled: shift(0x24d0),
  'combining strike': (text) => text.replace(/[A-Za-z]/g, '$&\u0336'),
  accents: (text) => text.replace(/[aeiou]/g, '$&\u0301').normalize('NFC'),
};

const spelling: Readonly<Record<string, Disguise>> = {
  leetspeak: (text) => mapLetters(text, LEET),
  'leetspeak with signs': (text) => mapLetters(text, SYMBOLS),
  'spaced letters': (text) => Array.from(text).join(' '),
  'spaced letters, words run together': (text) =>
    text
      .split(/\s+/)
      .map((word) => Array.from(word).join(' '))
      .join(' '),
  'dotted letters': (text) =>
    text
      .split(/\s+/)
      .map((word) => Array.from(word).join('.'))
      .join(' '),
};

const swapInside: Disguise = (text, random) =>
  eachWord(text, (word) => {
    const at = 1 + random.below(word.length - 2);
    return word.slice(0, at) + word[at + 1]! + word[at]! + word.slice(at + 2);
  });

const others: Readonly<Record<string, Disguise>> = {
  'stretched vowels': (text) => eachWord(text, (word) => word.replace(/[aeiou]/i, '$&$&$&$&')),
  'swapped letters': swapInside,
  'masked vowels': (text) => eachWord(text, (word) => word[0]! + word.slice(1).replace(/[aeiou]/i, '*')),
  base64: (text) => Buffer.from(text).toString('base64'),
  hexadecimal: (text) => Buffer.from(text).toString('hex'),
  'percent signs': (text) =>
    [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
};

/** Slips and tricks that training sees too; the rest is undone by reading. */
const noise: Readonly<Record<string, Disguise>> = {
  swap: (text, random) =>
    text.replace(/[A-Za-z]{4,}/g, (word) => (random.next() < 0.3 ? swapInside(word, random) : word)),
  drop: (text, random) =>
    eachWord(text, (word) => {
      if (random.next() > 0.3) return word;
      const at = 1 + random.below(word.length - 2);
      return word.slice(0, at) + word.slice(at + 1);
    }),
  stretch: (text, random) =>
    eachWord(text, (word) => (random.next() < 0.3 ? word.replace(/[aeiou]/i, '$&$&$&$&') : word)),
  leet: (text) => mapLetters(text, LEET),
  joined: (text) => text.replace(/ /g, ''),
};

export const disguises = { unicode, spelling, others, noise };
