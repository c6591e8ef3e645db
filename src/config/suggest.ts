/** Edits (insert, delete, replace, swap neighbours) that turn one word into another. */
export function editDistance(from: string, to: string): number {
  let before: number[] = [];
  let above = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      let best = Math.min(above[column]! + 1, current[column - 1]! + 1, above[column - 1]! + (same ? 0 : 1));
      if (row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1])
        best = Math.min(best, before[column - 2]! + 1);
      current.push(best);
    }
    before = above;
    above = current;
  }
  return above[to.length]!;
}

const LONGEST = 64;

/** The known word that was probably meant; undefined when none is near. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  if (word.length > LONGEST) return undefined;
  const plain = word.toLowerCase().replaceAll('-', '_');
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of known) {
    const distance = editDistance(plain, candidate.toLowerCase().replaceAll('-', '_'));
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

export const didYouMean = (word: string, known: Iterable<string>): string => {
  const meant = nearest(word, known);
  return meant === undefined ? '' : `; did you mean ${meant}?`;
};
