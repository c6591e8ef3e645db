const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
const UINT32 = 2 ** 32;

/** FNV-1a, then the last steps of MurmurHash3: ids that differ in one character come out far apart. */
const hash = (text: string, seed: number): number => {
  let value = FNV_OFFSET ^ seed;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), FNV_PRIME);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
};

/** Between 0 and 1, never either. */
const fraction = (draw: string, index: number): number => (hash(draw, index) + 0.5) / UINT32;

/**
 * The order in which to ask: over many draws each comes first by its weight, and what one cannot take spreads over the
 * others by theirs (Efraimidis and Spirakis). Weight 0 comes last, in the order given.
 */
export const orderByWeight = <T extends { readonly weight: number }>(
  items: readonly T[],
  draw: string,
): readonly T[] => {
  if (items.length <= 1) return items;
  return items
    .map((item, index) => ({ item, rank: Math.log(fraction(draw, index)) / item.weight }))
    .sort((one, other) => (one.rank === other.rank ? 0 : other.rank - one.rank))
    .map(({ item }) => item);
};
