import fc from 'fast-check';

/** Places, as shares of a text, where it is cut into pieces. */
export const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });

export const cutAt = (text: string, shares: readonly number[]): string[] => {
  const places = shares.map((share) => Math.floor(share * text.length)).sort((a, b) => a - b);
  return [...places, text.length].map((place, n) => text.slice(n === 0 ? 0 : places[n - 1], place));
};
