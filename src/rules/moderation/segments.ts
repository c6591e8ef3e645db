import { FEATURES_BOUND, bucketsOf, bucketsOfPrefix, hashUnits } from './hash.js';

export const CATEGORY_COUNT = 6;
/** Features of one segment that are counted; ordinary text has about 250. */
const SEGMENT_FEATURES = 768;
const SLOTS = 2_048;
const IN_LAST = 1;
const IN_THIS = 2;
/** Weights are kept above zero, so that several can be added at once without touching each other. */
const RAISED = 128;
const LANES = 0x00ff00ff;
/** So many weights of a byte fit into half a number. */
const LANE_BOUND = 256;
/** Marks a feature that stands in both segments: the window counts it once. */
const SHARED_BIT = 20;
const SHARED = 1 << SHARED_BIT;

const buckets = new Int32Array(FEATURES_BOUND);

/**
 * Six weights of a bucket in two numbers: four in the first, one to a byte, two in the second, one to a half. They are
 * added up two at a time, in halves of a number.
 */
export const packWeights = (weights: Int8Array): Int32Array => {
  const table = new Int32Array((weights.length / CATEGORY_COUNT) * 2);
  for (let bucket = 0; bucket * 2 < table.length; bucket++) {
    const at = bucket * CATEGORY_COUNT;
    const raised = (category: number): number => weights[at + category]! + RAISED;
    table[bucket * 2] = raised(0) | (raised(1) << 8) | (raised(2) << 16) | (raised(3) << 24);
    table[bucket * 2 + 1] = raised(4) | (raised(5) << 16);
  }
  return table;
};

/**
 * The features of two neighbouring segments of text, each counted once, and the sums of their weights. A window of text
 * is such a pair: when a segment is done it becomes the last one, and its sums stay, so that no character is added twice.
 */
export class Segments {
  readonly #table: Int32Array;
  /** Open addressing: a bucket and in which of the two segments it stands. Small enough for the fastest cache. */
  readonly #slots = new Int32Array(SLOTS);
  readonly #features = new Int32Array(SEGMENT_FEATURES);
  #count = 0;
  #lastCount = 0;
  #shared = 0;
  /** Features whose weights are in the sums. */
  #added = 0;
  readonly #sums = new Int32Array(CATEGORY_COUNT);
  readonly #lastSums = new Int32Array(CATEGORY_COUNT);
  readonly #sharedSums = new Int32Array(CATEGORY_COUNT);
  #before = 0;

  constructor(table: Int32Array) {
    this.#table = table;
  }

  reset(): void {
    if (this.#count + this.#lastCount > 0) this.#slots.fill(0);
    this.#count = this.#lastCount = this.#shared = this.#added = this.#before = 0;
    this.#sums.fill(0);
    this.#lastSums.fill(0);
    this.#sharedSums.fill(0);
  }

  addWord(units: Uint16Array, from: number, to: number, hash: number): void {
    this.#addAll(bucketsOf(units, from, to, hash, this.#before, buckets));
    this.#before = hash;
  }

  addVariant(units: Uint16Array, from: number, to: number): void {
    this.#addAll(bucketsOf(units, from, to, hashUnits(units, from, to), 0, buckets));
  }

  #addAll(found: number): void {
    const slots = this.#slots;
    const features = this.#features;
    const given = buckets;
    const first = this.#count;
    let count = first;
    for (let index = 0; index < found; index++) {
      const bucket = given[index]!;
      const key = (bucket + 1) << 2;
      let slot = bucket & (SLOTS - 1);
      let entry = slots[slot]!;
      while (entry !== 0 && (entry & ~3) !== key) {
        slot = (slot + 1) & (SLOTS - 1);
        entry = slots[slot]!;
      }
      if ((entry & IN_THIS) !== 0 || count === SEGMENT_FEATURES) continue;
      slots[slot] = key | entry | IN_THIS;
      features[count++] = entry === 0 ? bucket : bucket | SHARED;
    }
    this.#count = count;
  }

  /** In a loop of its own, as late as possible and without a branch: then many lines of the table are fetched at once. */
  #addWeights(): void {
    const table = this.#table;
    const features = this.#features;
    const count = this.#count;
    for (let first = this.#added; first < count; first += LANE_BOUND) {
      const end = Math.min(count, first + LANE_BOUND);
      let evens = 0;
      let odds = 0;
      let rest = 0;
      let sharedEvens = 0;
      let sharedOdds = 0;
      let sharedRest = 0;
      let shared = 0;
      for (let index = first; index < end; index++) {
        const feature = features[index]!;
        const both = feature >> SHARED_BIT;
        const at = (feature & ~SHARED) << 1;
        const four = table[at]!;
        const two = table[at + 1]!;
        evens = (evens + (four & LANES)) | 0;
        odds = (odds + ((four >>> 8) & LANES)) | 0;
        rest = (rest + two) | 0;
        sharedEvens = (sharedEvens + (four & LANES & -both)) | 0;
        sharedOdds = (sharedOdds + ((four >>> 8) & LANES & -both)) | 0;
        sharedRest = (sharedRest + (two & -both)) | 0;
        shared += both;
      }
      addLanes(this.#sums, evens, odds, rest, end - first);
      addLanes(this.#sharedSums, sharedEvens, sharedOdds, sharedRest, shared);
      this.#shared += shared;
    }
    this.#added = count;
  }

  /** Weights of the window's features, one sum per category; gives how many features there are. */
  sumInto(sums: Float64Array): number {
    this.#addWeights();
    for (let category = 0; category < CATEGORY_COUNT; category++)
      sums[category] = this.#sums[category]! + this.#lastSums[category]! - this.#sharedSums[category]!;
    return this.#count + this.#lastCount - this.#shared;
  }

  /** The same as if the beginning of a word stood at the end. */
  sumWithPrefix(sums: Float64Array, units: Uint16Array, length: number): number {
    const features = this.sumInto(sums);
    const found = bucketsOfPrefix(units, length, buckets);
    let evens = 0;
    let odds = 0;
    let rest = 0;
    let added = 0;
    for (let index = 0; index < found; index++) {
      const bucket = buckets[index]!;
      if (this.#has(bucket)) continue;
      const four = this.#table[bucket << 1]!;
      evens = (evens + (four & LANES)) | 0;
      odds = (odds + ((four >>> 8) & LANES)) | 0;
      rest = (rest + this.#table[(bucket << 1) + 1]!) | 0;
      added++;
    }
    addLanes(sums, evens, odds, rest, added);
    return features + added;
  }

  #has(bucket: number): boolean {
    const key = (bucket + 1) << 2;
    for (let slot = bucket & (SLOTS - 1); ; slot = (slot + 1) & (SLOTS - 1)) {
      const entry = this.#slots[slot]!;
      if (entry === 0) return false;
      if ((entry & ~3) === key) return true;
    }
  }

  /** This segment becomes the last one, and a new one begins. */
  turn(): void {
    this.#addWeights();
    const slots = this.#slots.fill(0);
    for (let index = 0; index < this.#count; index++) {
      const bucket = this.#features[index]! & ~SHARED;
      let slot = bucket & (SLOTS - 1);
      while (slots[slot] !== 0) slot = (slot + 1) & (SLOTS - 1);
      slots[slot] = ((bucket + 1) << 2) | IN_LAST;
    }
    this.#lastSums.set(this.#sums);
    this.#sums.fill(0);
    this.#sharedSums.fill(0);
    this.#lastCount = this.#count;
    this.#count = this.#shared = this.#added = 0;
  }
}

const addLanes = (
  sums: Int32Array | Float64Array,
  evens: number,
  odds: number,
  rest: number,
  count: number,
): void => {
  const raised = RAISED * count;
  sums[0]! += (evens & 0xffff) - raised;
  sums[1]! += (odds & 0xffff) - raised;
  sums[2]! += (evens >>> 16) - raised;
  sums[3]! += (odds >>> 16) - raised;
  sums[4]! += (rest & 0xffff) - raised;
  sums[5]! += (rest >>> 16) - raised;
};
