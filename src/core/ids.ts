import { randomFillSync } from 'node:crypto';

const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'; // Crockford's base 32: ASCII order is numeric order
const TIME_DIGITS = 10;
const RANDOM_DIGITS = 16;

/** Mints time-ordered ids: within one process each id sorts after the one before, also when the clock steps back. */
export class IdMint {
  #lastMs = 0;
  readonly #random = new Uint8Array(RANDOM_DIGITS);
  readonly #nowMs: () => number;

  constructor(nowMs: () => number = Date.now) {
    this.#nowMs = nowMs;
  }

  next(prefix: string): string {
    const nowMs = this.#nowMs();
    if (nowMs > this.#lastMs) {
      this.#lastMs = nowMs;
      randomFillSync(this.#random);
      for (let i = 0; i < RANDOM_DIGITS; i++) this.#random[i]! &= 31;
    } else {
      this.#increment();
    }
    let text = '';
    for (let rest = this.#lastMs, i = 0; i < TIME_DIGITS; i++, rest = Math.floor(rest / 32))
      text = DIGITS[rest % 32]! + text;
    for (const digit of this.#random) text += DIGITS[digit]!;
    return `${prefix}_${text}`;
  }

  #increment(): void {
    for (let i = RANDOM_DIGITS - 1; i >= 0; i--) {
      if (this.#random[i]! < 31) {
        this.#random[i]!++;
        return;
      }
      this.#random[i] = 0;
    }
    this.#lastMs++;
  }
}

const shape = new RegExp(`^[a-z]+_[${DIGITS}]{${TIME_DIGITS + RANDOM_DIGITS}}$`);

/** Whether a text could be an id of this kind. Ids given by an operator (`org_demo`) pass too. */
export const looksLikeId = (prefix: string, text: string): boolean =>
  text.startsWith(`${prefix}_`) &&
  text.length > prefix.length + 1 &&
  (shape.test(text) || /^[A-Za-z0-9_-]{1,200}$/.test(text));

const mint = new IdMint();
export const newId = (prefix: string): string => mint.next(prefix);
