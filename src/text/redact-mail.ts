import { ALPHANUMERIC, classOf, DIGIT, LOCAL, NOTHING, UNDECIDED, type TextWindow } from './redact-window.js';

const LONGEST_LOCAL = 64;
const LONGEST_DOMAIN = 253;
const LONGEST_LABEL = 63;
const AT = 0x40;
const DOT = 0x2e;
const HYPHEN = 0x2d;

/** An e-mail address that begins at a letter or digit. */
export const matchMail = (window: TextWindow, from: number): number => {
  const { units, size } = window;
  const bound = from + LONGEST_LOCAL + 1;
  let at = Math.max(from, window.localTo);
  while (at < size && at < bound && (classOf(units[at]!) & LOCAL) !== 0) at += 1;
  window.localTo = at;
  if (at >= bound) return NOTHING;
  if (at === size) return window.isLast ? NOTHING : UNDECIDED;
  return units[at] === AT ? matchDomain(window, at + 1) : NOTHING;
};

/** Ends with the last label of letters only that has another one before it. */
const matchDomain = (window: TextWindow, from: number): number => {
  const { units, size } = window;
  const bound = from + LONGEST_DOMAIN;
  let end = NOTHING;
  let label = from;
  let letters = true;
  let dots = 0;
  for (let n = from; n < bound; n++) {
    if (window.lacks(n)) return UNDECIDED;
    const unit = n < size ? units[n]! : 0;
    const kind = classOf(unit);
    if ((kind & ALPHANUMERIC) !== 0) {
      letters &&= (kind & DIGIT) === 0;
      continue;
    }
    if (dots > 0 && letters && n - label >= 2 && n - label <= LONGEST_LABEL) end = n;
    if (n === label || (unit !== DOT && unit !== HYPHEN)) return end;
    letters = unit === DOT;
    if (unit === DOT) {
      dots += 1;
      label = n + 1;
    }
  }
  return end;
};
