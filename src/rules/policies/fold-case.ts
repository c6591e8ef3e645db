const LONG_S = '\u017f';
const DOTLESS_I = 0x131;

/** One rune for all that are the same letter but for case, by the simple folding of Unicode. */
export const foldRune = (rune: number): number => {
  if (rune < 0x80) return rune >= 0x41 && rune <= 0x5a ? rune + 0x20 : rune;
  if (rune === DOTLESS_I) return rune;
  const letter = String.fromCodePoint(rune);
  const upper = oneOr(letter.toUpperCase(), letter);
  return oneOr(upper.toLowerCase(), upper).codePointAt(0)!;
};

/** Folding that makes several letters of one is not simple. */
const oneOr = (folded: string, letter: string): string =>
  String.fromCodePoint(folded.codePointAt(0)!) === folded ? folded : letter;

/** Text in which every ASCII literal stands in lower case, however it was written. */
export const foldText = (text: string): string => text.replaceAll(LONG_S, 's').toLowerCase();
