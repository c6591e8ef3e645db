const PRIME = 16777619;
const WORD_SEED = 0x811c9dc5 | 0;
const GRAM_SEED = 0x2f0b4a27;
const PAIR_SEED = 0x5bd1e995;

const BUCKET_BITS = 18;
export const BUCKETS = 1 << BUCKET_BITS;
const MASK = BUCKETS - 1;
const OPEN = 60; // <
const CLOSE = 62; // >

/** The units of one word between its marks, and the buckets of its features: reused for every word. */
const marked = new Uint16Array(64);
marked[0] = OPEN;

/** Longest word that is read in one piece. */
export const WORD_BOUND = 48;
/** Most features one word can have. */
export const FEATURES_BOUND = 3 * (WORD_BOUND + 2) + 2;

/** The hash of no letters, and of one letter more: for whoever builds it up. */
export const EMPTY_HASH = WORD_SEED;
export const extendHash = (hash: number, unit: number): number => Math.imul(hash ^ unit, PRIME);

/** FNV-1a over code units, all 32 bits. */
export const hashUnits = (units: Uint16Array, from: number, to: number): number => {
  let hash = WORD_SEED;
  for (let index = from; index < to; index++) hash = Math.imul(hash ^ units[index]!, PRIME);
  return hash;
};

export const hashWord = (word: string): number => {
  let hash = WORD_SEED;
  for (let index = 0; index < word.length; index++) hash = Math.imul(hash ^ word.charCodeAt(index), PRIME);
  return hash;
};

/** Words in their order, from the hash of what came before and of the next. */
export const hashPair = (before: number, next: number): number =>
  Math.imul(Math.imul(before ^ PAIR_SEED, PRIME) ^ next, PRIME);

/** Spreads every bit over all the others: FNV alone leaves the low bits of short words too alike. */
export const spread = (hash: number): number => {
  let mixed = hash ^ (hash >>> 16);
  mixed = Math.imul(mixed, 0x7feb352d);
  mixed ^= mixed >>> 15;
  mixed = Math.imul(mixed, 0x846ca68b | 0);
  return mixed ^ (mixed >>> 16);
};

/**
 * Writes the buckets of a word's features: the word (its `hash`), the pair it makes with the word before (0 = none), and
 * every run of three to five characters of `<word>`. Gives how many there are.
 */
export const bucketsOf = (
  units: Uint16Array,
  from: number,
  to: number,
  hash: number,
  before: number,
  out: Int32Array,
): number => {
  out[0] = spread(hash) & MASK;
  if (before !== 0) out[1] = spread(hashPair(before, hash)) & MASK;
  return addRuns(units, from, to, true, out, before === 0 ? 1 : 2);
};

/** The buckets of a word that may still go on: only the runs seen so far. */
export const bucketsOfPrefix = (units: Uint16Array, length: number, out: Int32Array): number =>
  addRuns(units, 0, length, false, out, 0);

const addRuns = (
  units: Uint16Array,
  from: number,
  to: number,
  whole: boolean,
  out: Int32Array,
  first: number,
): number => {
  let count = first;
  const spelt = marked;
  let end = 1;
  for (let index = from; index < to; index++) spelt[end++] = units[index]!;
  if (whole) spelt[end++] = CLOSE;
  for (let start = 0; start + 3 <= end; start++) {
    let hash = Math.imul(GRAM_SEED ^ spelt[start]!, PRIME);
    hash = Math.imul(hash ^ spelt[start + 1]!, PRIME);
    hash = Math.imul(hash ^ spelt[start + 2]!, PRIME);
    out[count++] = spread(hash) & MASK;
    if (start + 4 > end) break;
    hash = Math.imul(hash ^ spelt[start + 3]!, PRIME);
    out[count++] = spread(hash) & MASK;
    if (start + 5 > end) continue;
    hash = Math.imul(hash ^ spelt[start + 4]!, PRIME);
    out[count++] = spread(hash) & MASK;
  }
  return count;
};
