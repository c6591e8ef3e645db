import { beginsAt, endsAt, leadsOn, type DigitGroups } from './redact-numbers.js';
import { ALPHANUMERIC, DIGIT, NOTHING, UNDECIDED, type TextWindow } from './redact-window.js';

const LEAST_INTERNATIONAL = 8;
const MOST_INTERNATIONAL = 15;
const NORTH_AMERICAN = 11;
/** How far before a bare number a word may stand that calls it a phone number. */
export const CUE_REACH = 24;
const cue = /\b(?:phone|tel|telephone|mobile|mob|cell|call|dial|fax|sms|whatsapp|hotline|ring|handy)\b/i;

const hasCue = (window: TextWindow, from: number): boolean =>
  cue.test(window.slice(Math.max(0, from - CUE_REACH), from));

/** A phone number that begins with a digit. */
export const matchPhone = (window: TextWindow, from: number, groups: DigitGroups): number => {
  const end = endOfPhone(window, groups);
  return end !== NOTHING && beginsAt(window, from) && endsAt(window, end) ? end : NOTHING;
};

const endOfPhone = (window: TextWindow, groups: DigitGroups): number => {
  const { from, sizes, ends } = groups;
  const country = sizes[0] === 1 ? 1 : 0;
  if (sizes[country] === 3 && sizes[country + 1] === 3 && sizes[country + 2] === 4) {
    const end = ends[country + 2]!;
    const isLikely = northAmerican.test(window.slice(from, end)) || hasCue(window, from);
    return isLikely ? end : NOTHING;
  }
  const end = ends.at(-1)!;
  if (sizes.length > 5 || groups.length > MOST_INTERNATIONAL) return NOTHING;
  const number = window.slice(from, end);
  if (sizes.length === 1) return bare.test(number) && hasCue(window, from) ? end : NOTHING;
  return fromAbroad.test(number) || national.test(number) ? end : NOTHING;
};

/** Three numbers with nothing but spaces between them are more often just that: the second must be an exchange. */
const northAmerican = /^(?:1\D)?[2-9]\d\d(?:[^\d\s]\d{3}\D|\D\d{3}[^\d\s]|\s[2-9]\d\d\s)\d{4}$/;
const bare = /^(?:1?[2-9]\d{9}|0[1-9]\d{8,9})$/;
const fromAbroad = /^(?=(?:\D?\d){11,15}$)00\d{0,3}([^\d.])[\d\D]*$/;
/** With its leading zero; two groups of two would be a date, and five are a French number. */
const national =
  /^(?=(?:\D?\d){9,11}$)0[1-9](?:(?:[^\d.]\d\d){4}$|\d{0,3}([^\d.])\d{3,}(?:\1\d+)*$|\d{1,3}([^\d.])\d+(?:\2\d+)*$)/;

/** A number with its country, from the + on. */
export const matchInternational = (window: TextWindow, from: number): number => {
  if ((window.at(from - 1) & ALPHANUMERIC) !== 0) return NOTHING;
  if (window.lacks(from + 1)) return UNDECIDED;
  const first = window.character(from + 1);
  if (first < '1' || first > '9') return NOTHING;
  const most = first === '1' ? NORTH_AMERICAN : MOST_INTERNATIONAL;
  let end = NOTHING;
  let digits = 0;
  for (let n = from + 1; ;) {
    const start = n;
    while ((window.at(n) & DIGIT) !== 0 && digits <= most) {
      digits += 1;
      n += 1;
    }
    if (digits > most) return end;
    if (window.lacks(n) || (leadsOn(window, n) && window.lacks(n + 1))) return UNDECIDED;
    if (n - start < 2 && end !== NOTHING) return end;
    if (digits >= LEAST_INTERNATIONAL && endsAt(window, n)) end = n;
    if (digits === most) return end;
    n += gapAt(window, n);
    if (window.lacks(n)) return UNDECIDED;
    if ((window.at(n) & DIGIT) === 0) return end;
  }
};

/** One separator, or one beside a parenthesis. */
const gapAt = (window: TextWindow, at: number): number => {
  let n = at;
  while (n < at + 2 && ' -./()\u00a0\u2011\u202f'.includes(window.character(n) || '?')) n += 1;
  return n - at;
};

/** A North American number whose area stands in parentheses. */
export const matchParenthesised = (window: TextWindow, from: number): number => {
  let n = from;
  const take = (shape: string): boolean => {
    for (const wanted of shape) {
      const fits = wanted === 'd' ? (window.at(n) & DIGIT) !== 0 : window.character(n) === wanted;
      if (!fits) return false;
      n += 1;
    }
    return true;
  };
  const gap = (): void => {
    if (' -.\u00a0'.includes(window.character(n) || '?')) n += 1;
  };
  let fits = take('(ddd)');
  if (fits) gap();
  fits &&= take('ddd');
  if (fits) gap();
  fits &&= take('dddd');
  if (window.lacks(n) || (fits && window.lacks(n + 1))) return UNDECIDED;
  return fits && window.character(from + 1) >= '2' && endsAt(window, n) ? n : NOTHING;
};
