import { DROPPED, foldCodePoint, spellingOf } from './fold.js';

/**
 * Text as it is read for scoring, never as it is forwarded: compatibility forms taken apart, accents, invisible and
 * bidirectional characters gone, lookalikes spelt in ASCII, lower case. Doing it twice changes nothing.
 */
export const normalise = (text: string): string => {
  const units: number[] = [];
  const pieces: string[] = [];
  for (let index = 0; index < text.length; index++) {
    const point = text.codePointAt(index)!;
    if (point > 0xffff) index++;
    const folded = foldCodePoint(point);
    if (folded >= 0) units.push(folded);
    else if (folded < DROPPED) units.push(...spellingOf(folded));
    if (units.length >= 4_096) pieces.push(String.fromCharCode(...units.splice(0)));
  }
  return pieces.join('') + String.fromCharCode(...units);
};
