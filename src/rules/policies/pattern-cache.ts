/** Numbers all patterns may remember together: some 64 MB. */
const MOST_CELLS = 16_000_000;

let cells = 0;
const remembering = new Set<{ forget(): void }>();

/** A pattern learned something. When all together know too much, all forget, and learn anew what they need. */
export const noteLearned = (pattern: { forget(): void }, learned: number): void => {
  cells += learned;
  if (cells > MOST_CELLS) {
    for (const one of remembering) one.forget();
    remembering.clear();
    cells = learned;
  }
  remembering.add(pattern);
};
