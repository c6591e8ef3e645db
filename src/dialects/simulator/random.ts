/** Numbers that follow from a seed alone. */
export interface Random {
  /** A whole number from 0 up to, not including, `bound`. */
  below(bound: number): number;
  pick<T>(list: readonly T[]): T;
}

/** Mulberry32: small, quick, and even enough to choose words. */
export const seedRandom = (seed: number): Random => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (bound: number): number => Math.floor(next() * bound);
  return { below, pick: (list) => list[below(list.length)]! };
};
