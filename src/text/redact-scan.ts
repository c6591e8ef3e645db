import { matchMail } from './redact-mail.js';
import { matchCard, matchIban, matchSsn, readGroups } from './redact-numbers.js';
import { CUE_REACH, matchInternational, matchParenthesised, matchPhone } from './redact-phones.js';
import {
  ALPHANUMERIC,
  classOf,
  DIGIT,
  LETTER,
  NOTHING,
  TextWindow,
  TRIGGER,
  UNDECIDED,
} from './redact-window.js';
import {
  continues,
  JWT_PREFIX,
  matchKeyBegin,
  matchKeyEnd,
  matchSecret,
  maySurprise,
  MOST_HELD,
} from './secrets.js';

export type ValueKind = 'email' | 'phone' | 'card' | 'ssn' | 'iban' | 'secret';

export interface FoundValue {
  readonly kind: ValueKind;
  readonly from: number;
  readonly to: number;
  /** The text that tells it from others; null for a private key, of which only the first line is waited for. */
  readonly value: string | null;
  /** More of the one before, which was too long to wait for. */
  readonly isRest: boolean;
}

/** How a secret goes on whose beginning was already reported. */
type Tail = 'token' | 'dotted' | 'key';

const HYPHEN = 0x2d;
const PLUS = 0x2b;
const SLAB = 1_024;
/** More than any pattern waits for. */
const ROOM = CUE_REACH + 2 * MOST_HELD + SLAB;
/** Fewer digits are nothing to hide. */
const LEAST_DIGITS = 9;

/**
 * Finds personal data and secrets in a text that comes in pieces, from left to right: at each place where a value may
 * begin, a bounded pattern says yes, no, or that it must see more. What it must see is all that is held.
 */
export class ValueScanner {
  #found: FoundValue[] = [];
  /** The end of what was seen: a little context, and from `#at` on what is undecided. */
  readonly #window = new TextWindow(ROOM);
  #at = 0;
  /** Where the window begins in the whole text. */
  #base = 0;
  #kind: ValueKind = 'email';
  #tail: Tail | null = null;

  /** How many characters from the beginning are decided. */
  get safe(): number {
    return this.#base + this.#at;
  }

  write(text: string): void {
    for (let n = 0; n < text.length; n += SLAB) {
      const to = Math.min(text.length, n + SLAB);
      if (!this.#window.hasRoom(to - n)) this.#forget();
      this.#window.append(text, n, to);
      this.#scan();
    }
  }

  end(): void {
    this.#window.isLast = true;
    this.#scan();
  }

  takeFound(): FoundValue[] {
    const found = this.#found;
    this.#found = [];
    return found;
  }

  #forget(): void {
    const passed = Math.max(0, this.#at - CUE_REACH);
    this.#window.dropBefore(passed);
    this.#base += passed;
    this.#at -= passed;
  }

  #scan(): void {
    const { units, size } = this.#window;
    let n = this.#at;
    while (n < size) {
      if (this.#tail !== null) {
        n = this.#swallow(n, this.#tail);
        if (this.#goesOn()) break;
        continue;
      }
      const kind = classOf(units[n]!);
      if ((kind & TRIGGER) === 0) {
        n += 1;
        continue;
      }
      const end = this.#matchAt(n, kind);
      if (end === UNDECIDED) break;
      if (end !== NOTHING) this.#report(n, end);
      n = end === NOTHING ? afterRun(this.#window, n) : end;
    }
    this.#at = n;
  }

  #matchAt(n: number, kind: number): number {
    if ((kind & ALPHANUMERIC) === 0) return this.#matchSign(n);
    if ((this.#window.at(n - 1) & ALPHANUMERIC) !== 0) return NOTHING;
    this.#kind = 'email';
    const mail = matchMail(this.#window, n);
    if (mail !== NOTHING) return mail;
    if ((kind & DIGIT) !== 0) return this.#matchNumber(n);
    if ((kind & LETTER) === 0) return NOTHING;
    this.#kind = 'secret';
    const secret = matchSecret(this.#window, n);
    if (secret !== NOTHING) return secret;
    this.#kind = 'iban';
    return matchIban(this.#window, n);
  }

  #matchSign(n: number): number {
    const sign = this.#window.units[n]!;
    this.#kind = sign === HYPHEN ? 'secret' : 'phone';
    if (sign === HYPHEN) return matchKeyBegin(this.#window, n);
    return sign === PLUS ? matchInternational(this.#window, n) : matchParenthesised(this.#window, n);
  }

  #matchNumber(n: number): number {
    const groups = readGroups(this.#window, n);
    if (groups === null) return UNDECIDED;
    if (groups.length < LEAST_DIGITS) return NOTHING;
    this.#kind = 'card';
    const card = matchCard(this.#window, n, groups);
    if (card !== NOTHING) return card;
    this.#kind = 'ssn';
    const ssn = matchSsn(this.#window, n, groups);
    if (ssn !== NOTHING) return ssn;
    this.#kind = 'phone';
    return matchPhone(this.#window, n, groups);
  }

  #report(from: number, to: number): void {
    const isKey = this.#window.units[from] === HYPHEN;
    const value = isKey ? null : this.#window.slice(from, to);
    this.#push(from, to, value, false);
    if (isKey) this.#tail = 'key';
    else if (to - from === MOST_HELD) this.#tail = value!.startsWith(JWT_PREFIX) ? 'dotted' : 'token';
  }

  /** What belongs to a secret that has begun; the tail ends where that is known. */
  #swallow(from: number, tail: Tail): number {
    const end = tail === 'key' ? this.#swallowKey(from) : this.#swallowToken(from, tail === 'dotted');
    if (end > from) {
      this.#kind = 'secret';
      this.#push(from, end, null, true);
    }
    return end;
  }

  #goesOn(): boolean {
    return this.#tail !== null;
  }

  #swallowToken(from: number, dotted: boolean): number {
    let n = from;
    while (continues(this.#window, n, dotted)) n += 1;
    if (!maySurprise(this.#window, n, dotted)) this.#tail = null;
    return n;
  }

  #swallowKey(from: number): number {
    for (let n = from; n < this.#window.size; n++) {
      if (this.#window.units[n] !== HYPHEN) continue;
      const end = matchKeyEnd(this.#window, n);
      if (end === UNDECIDED) return n;
      if (end === NOTHING) continue;
      this.#tail = null;
      return end;
    }
    return this.#window.size;
  }

  #push(from: number, to: number, value: string | null, isRest: boolean): void {
    this.#found.push({ kind: this.#kind, from: this.#base + from, to: this.#base + to, value, isRest });
  }
}

/** Where to look next: a run of letters and digits is one thing. */
const afterRun = (window: TextWindow, from: number): number => {
  const { units, size } = window;
  let n = from;
  while (n < size && (classOf(units[n]!) & ALPHANUMERIC) !== 0) n += 1;
  return Math.max(n, from + 1);
};
