import { ibanLengthOf, isCardNumber, isIban } from './checksums.js';
import {
  ALPHANUMERIC,
  DIGIT,
  LETTER,
  NOTHING,
  SEPARATOR,
  UNDECIDED,
  type TextWindow,
} from './redact-window.js';

const MOST_DIGITS = 19;
const ZERO = 0x30;
const ONE = 0x31;
const SLASH = 0x2f;
const COLON = 0x3a;
/** One more than any number is written in. */
const MOST_GROUPS = 6;

/** Digits in groups, one separator between two of them. */
export interface DigitGroups {
  readonly from: number;
  readonly sizes: readonly number[];
  /** Where each group ends. */
  readonly ends: readonly number[];
  /** How many digits there are in all. */
  readonly length: number;
}

/** The groups that begin at a digit, as far as any number goes; null where more may follow. */
export const readGroups = (window: TextWindow, from: number): DigitGroups | null => {
  const sizes: number[] = [];
  const ends: number[] = [];
  let length = 0;
  for (let n = from; ; n++) {
    const start = n;
    while ((window.at(n) & DIGIT) !== 0 && length + n - start <= MOST_DIGITS) n += 1;
    length += n - start;
    sizes.push(n - start);
    ends.push(n);
    if (length > MOST_DIGITS || sizes.length === MOST_GROUPS) break;
    if (window.lacks(n) || (leadsOn(window, n) && window.lacks(n + 1))) return null;
    if (!mayGoOn(window, from, sizes)) break;
    if ((window.at(n) & SEPARATOR) === 0 || (window.at(n + 1) & DIGIT) === 0) break;
  }
  return { from, sizes, ends, length };
};

/** Whether any number that is written in groups begins with groups of these sizes. */
const mayGoOn = (window: TextWindow, from: number, sizes: readonly number[]): boolean => {
  const first = window.units[from]!;
  if (first === ZERO || sizes.length > 2) return true;
  if (sizes.length === 1) return sizes[0] === 3 || sizes[0] === 4 || (sizes[0] === 1 && first === ONE);
  if (sizes[0] === 3) return sizes[1] === 2 || sizes[1] === 3;
  return sizes[0] === 4 ? sizes[1] === 4 || sizes[1] === 6 : sizes[1] === 3;
};

/** Whether what a number is depends on what stands behind this. */
export const leadsOn = (window: TextWindow, place: number): boolean =>
  (window.at(place) & SEPARATOR) !== 0 || window.units[place] === SLASH || window.units[place] === COLON;

/** Whether a number may end here: not inside a longer word, code or decimal. */
export const endsAt = (window: TextWindow, place: number): boolean => {
  if ((window.at(place) & ALPHANUMERIC) !== 0) return false;
  const next = window.character(place);
  if (next === '_') return false;
  if (next === '-') return (window.at(place + 1) & ALPHANUMERIC) === 0;
  return !(next === '.' || next === '/' || next === ':') || (window.at(place + 1) & DIGIT) === 0;
};

/** Whether a number may begin here, of a kind that has no checksum: not inside a longer code, date or decimal. */
export const beginsAt = (window: TextWindow, place: number): boolean => {
  const previous = window.character(place - 1);
  if (previous === '_' || previous === '#' || previous === '$') return false;
  if (previous === '-') return (window.at(place - 2) & ALPHANUMERIC) === 0;
  return previous === '' || !'./:,'.includes(previous) || (window.at(place - 2) & DIGIT) === 0;
};

const cardShapes: readonly (readonly number[])[] = [
  [4, 4, 4, 4, 3],
  [4, 4, 4, 4],
  [4, 6, 5],
  [4, 6, 4],
];

const beginsWith = (sizes: readonly number[], shape: readonly number[]): boolean =>
  shape.every((size, n) => sizes[n] === size);

/** A payment card's number, in one piece or in the groups that are printed on it. */
export const matchCard = (window: TextWindow, from: number, groups: DigitGroups): number => {
  const previous = window.character(from - 1);
  if ((previous === '-' || previous === '.') && (window.at(from - 2) & DIGIT) !== 0) return NOTHING;
  const { sizes, ends } = groups;
  if (sizes[0]! >= 13) return isCard(window, from, ends[0]!) ? ends[0]! : NOTHING;
  for (const shape of cardShapes) {
    const end = ends[shape.length - 1];
    if (end !== undefined && beginsWith(sizes, shape) && isCard(window, from, end)) return end;
  }
  return NOTHING;
};

const isCard = (window: TextWindow, from: number, end: number): boolean =>
  endsAt(window, end) && isCardNumber(window.digits(from, end));

const ssnShape = [3, 2, 4];
const ssn = /^(?!000|666|9)\d{3}([- ])(?!00)\d{2}\1(?!0000)\d{4}$/;

/** A US social security number: area, group and serial, none of them from a range never given out. */
export const matchSsn = (window: TextWindow, from: number, { sizes, ends }: DigitGroups): number => {
  if (!beginsWith(sizes, ssnShape)) return NOTHING;
  const end = ends[2]!;
  return ssn.test(window.slice(from, end)) && beginsAt(window, from) && endsAt(window, end) ? end : NOTHING;
};

/** An IBAN, together or in groups of four. */
export const matchIban = (window: TextWindow, from: number): number => {
  if ((window.at(from + 1) & LETTER) === 0) return window.lacks(from + 1) ? UNDECIDED : NOTHING;
  if ((window.at(from + 2) & DIGIT) === 0) return window.lacks(from + 2) ? UNDECIDED : NOTHING;
  const length = ibanLengthOf(window.slice(from, from + 2).toUpperCase());
  let iban = '';
  let n = from;
  for (; iban.length < length; n++) {
    if (window.lacks(n)) return UNDECIDED;
    if ((window.at(n) & (LETTER | DIGIT)) !== 0) {
      iban += window.character(n).toUpperCase();
    } else {
      const isGap = iban.length % 4 === 0 && ' -\u00a0'.includes(window.character(n) || '?');
      if (!isGap || (!window.lacks(n + 1) && (window.at(n + 1) & ALPHANUMERIC) === 0)) return NOTHING;
    }
  }
  if (length === 0) return NOTHING;
  if (window.lacks(n)) return UNDECIDED;
  return (window.at(n) & ALPHANUMERIC) === 0 && isIban(iban) ? n : NOTHING;
};
