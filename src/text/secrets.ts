import { CAPITAL, DIGIT, LETTER, NOTHING, TOKEN, UNDECIDED, type TextWindow } from './redact-window.js';

/** Of a longer secret only so much is waited for: what follows in the same run belongs to it. */
export const MOST_HELD = 1_024;

interface Issuer {
  readonly prefix: string;
  /** So many characters of these classes must follow at once: words joined by hyphens are no key. */
  readonly least: number;
  readonly body: number;
  /** No more than these. */
  readonly isExact?: boolean;
}

const SOLID = LETTER | DIGIT;

/** The longer of two prefixes first. */
const issuers: readonly Issuer[] = [
  ...['sk-ant-', 'sk-proj-', 'sk-svcacct-', 'sk-or-', 'sk-sl-', 'glpat-'].map((prefix) => ({
    prefix,
    least: 16,
    body: TOKEN,
  })),
  { prefix: 'sk-', least: 16, body: SOLID },
  ...['sk_live_', 'rk_live_', 'sk_test_', 'rk_test_'].map((prefix) => ({ prefix, least: 10, body: SOLID })),
  ...['AKIA', 'ASIA'].map((prefix) => ({ prefix, least: 16, body: CAPITAL, isExact: true })),
  { prefix: 'AIza', least: 30, body: TOKEN },
  { prefix: 'github_pat_', least: 20, body: TOKEN },
  ...Array.from('pousr', (kind) => ({ prefix: `gh${kind}_`, least: 20, body: SOLID })),
  ...Array.from('abceoprs', (kind) => ({ prefix: `xox${kind}-`, least: 10, body: TOKEN })),
  { prefix: 'xapp-', least: 16, body: TOKEN },
  { prefix: 'npm_', least: 30, body: SOLID },
  { prefix: 'hf_', least: 30, body: SOLID },
];

const byFirstUnit = new Map<number, Issuer[]>();
for (const issuer of issuers) {
  const unit = issuer.prefix.charCodeAt(0);
  byFirstUnit.set(unit, [...(byFirstUnit.get(unit) ?? []), issuer]);
}

/** A key or token of a known issuer; its end is where the run ends, or what is held of it. */
export const matchSecret = (window: TextWindow, from: number): number => {
  const known = byFirstUnit.get(window.units[from]!);
  if (!known) return window.character(from) === JWT_PREFIX[0] ? matchJwt(window, from) : NOTHING;
  for (const issuer of known) {
    const end = matchIssuer(window, from, issuer);
    if (end !== NOTHING) return end;
  }
  return NOTHING;
};

const matchIssuer = (window: TextWindow, from: number, { prefix, least, body, isExact }: Issuer): number => {
  const start = hasPrefix(window, from, prefix);
  if (start < 0) return start;
  for (let n = start; n < start + least; n++) {
    if (window.lacks(n)) return UNDECIDED;
    if ((window.at(n) & body) === 0) return NOTHING;
  }
  if (!isExact) return endOfRun(window, from, false);
  if (window.lacks(start + least)) return UNDECIDED;
  return (window.at(start + least) & TOKEN) === 0 ? start + least : NOTHING;
};

export const JWT_PREFIX = 'eyJ';
/** What a header, a payload and a signature have at least. */
const JWT_PARTS = [10, 4, 8];

/** Three parts and the dots between them; two will do where more is not waited for. */
const matchJwt = (window: TextWindow, from: number): number => {
  const prefix = hasPrefix(window, from, JWT_PREFIX);
  if (prefix < 0) return prefix;
  const bound = from + MOST_HELD;
  let end = endOfPart(window, Math.max(from, window.tokenTo), bound);
  window.tokenTo = end;
  let start = from;
  for (const [n, least] of JWT_PARTS.entries()) {
    if (n > 0) end = endOfPart(window, start, bound);
    if (end === bound && n > 0) return bound;
    if (window.lacks(end)) return UNDECIDED;
    if (end - start < least || (n < 2 && window.character(end) !== '.')) return NOTHING;
    start = end + 1;
  }
  return endOfRun(window, from, true);
};

const endOfPart = (window: TextWindow, from: number, bound: number): number => {
  let n = from;
  while (n < bound && (window.at(n) & TOKEN) !== 0) n += 1;
  return n;
};

const hasPrefix = (window: TextWindow, from: number, prefix: string): number => {
  for (let n = 0; n < prefix.length; n++) {
    if (window.lacks(from + n)) return UNDECIDED;
    if (from + n >= window.size || window.units[from + n] !== prefix.charCodeAt(n)) return NOTHING;
  }
  return from + prefix.length;
};

const endOfRun = (window: TextWindow, from: number, dotted: boolean): number => {
  let n = from;
  while (n < from + MOST_HELD && continues(window, n, dotted)) n += 1;
  return n < from + MOST_HELD && maySurprise(window, n, dotted) ? UNDECIDED : n;
};

/** Whether the next character, or the one after a dot, may yet continue a run. */
export const maySurprise = (window: TextWindow, n: number, dotted: boolean): boolean =>
  window.lacks(n) || (dotted && window.character(n) === '.' && window.lacks(n + 1));

/** Whether a secret's run goes on; a dot belongs to it only between two parts. */
export const continues = (window: TextWindow, n: number, dotted: boolean): boolean =>
  (window.at(n) & TOKEN) !== 0 || (dotted && window.character(n) === '.' && (window.at(n + 1) & TOKEN) !== 0);

/** The first line of a private key in PEM: it is a secret from there on. */
export const matchKeyBegin = (window: TextWindow, from: number): number =>
  matchKeyLine(window, from, '-----BEGIN ');

/** And its last. */
export const matchKeyEnd = (window: TextWindow, from: number): number =>
  matchKeyLine(window, from, '-----END ');

const LONGEST_LABEL = 48;

const matchKeyLine = (window: TextWindow, from: number, opening: string): number => {
  const label = hasPrefix(window, from, opening);
  if (label < 0) return label;
  let n = label;
  while (n < label + LONGEST_LABEL && /[A-Z0-9 ]/.test(window.character(n))) n += 1;
  if (window.lacks(n)) return UNDECIDED;
  if (!/PRIVATE KEY(?: BLOCK)?$/.test(window.slice(label, n))) return NOTHING;
  return hasPrefix(window, n, '-----');
};
