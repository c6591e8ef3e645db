import { CATEGORY_COUNT } from './segments.js';

const KEPT = 3;
const SHARES = [0.5, 0.3, 0.2] as const;
/** A window this far above the rest counts by itself: one passage in a long text is enough. */
const LONE_MARGIN = 2;
/** Below every threshold, and finite so that sums stay numbers. */
export const LOWEST = -30;

/** The three highest windows of a text in each category. */
export class Peaks {
  readonly #highest = new Float64Array(CATEGORY_COUNT * KEPT).fill(LOWEST);
  #windows = 0;

  reset(): void {
    this.#highest.fill(LOWEST);
    this.#windows = 0;
  }

  get windows(): number {
    return this.#windows;
  }

  add(logits: Float64Array): void {
    this.#windows++;
    const highest = this.#highest;
    for (let category = 0; category < CATEGORY_COUNT; category++) {
      const at = category * KEPT;
      const logit = Math.max(LOWEST, logits[category]!);
      if (logit <= highest[at + 2]!) continue;
      if (logit > highest[at]!) {
        highest[at + 2] = highest[at + 1]!;
        highest[at + 1] = highest[at]!;
        highest[at] = logit;
      } else if (logit > highest[at + 1]!) {
        highest[at + 2] = highest[at + 1]!;
        highest[at + 1] = logit;
      } else highest[at + 2] = logit;
    }
  }

  /** The text's logit in each category: mostly its highest window. */
  blendInto(logits: Float64Array): void {
    const kept = Math.min(KEPT, this.#windows);
    for (let category = 0; category < CATEGORY_COUNT; category++) {
      const at = category * KEPT;
      let sum = 0;
      let share = 0;
      for (let rank = 0; rank < kept; rank++) {
        sum += SHARES[rank]! * this.#highest[at + rank]!;
        share += SHARES[rank]!;
      }
      const mean = kept === 0 ? LOWEST : sum / share;
      logits[category] = Math.max(mean, this.#highest[at]! - LONE_MARGIN);
    }
  }
}
