import type { Engine } from '../rules/moderation/engine.js';
import { modelCategories } from '../rules/moderation/model.js';
import { disguises, type Disguise } from './disguises.js';
import { DEFAULT, percent, printTable } from './measure.js';
import { seedRandom } from './random.js';
import { YES, type Row } from './rows.js';

const TEXT_BOUND = 600;

/** Of the positives that are found as they stand: how many are still found in disguise. Harmless texts: how many are flagged then. */
export const printEvasion = async (
  engine: Engine,
  rows: readonly Row[],
  harmless: readonly Row[],
): Promise<void> => {
  const found = rows.flatMap(({ text, labels }) => {
    const scores = engine.judgeNow(text.slice(0, TEXT_BOUND));
    return modelCategories.flatMap((category, index) =>
      labels[index] === YES && scores.get(category)! >= DEFAULT
        ? [{ text: text.slice(0, TEXT_BOUND), category }]
        : [],
    );
  });
  console.log(`\n## Evasion (${found.length} positives that are found as they stand)\n`);
  const measure = (name: string, disguise: Disguise): string[] => {
    const random = seedRandom(1);
    const still = found.filter(
      ({ text, category }) => engine.judgeNow(disguise(text, random)).get(category)! >= DEFAULT,
    ).length;
    const flagged = harmless.filter(({ text }) => {
      const scores = engine.judgeNow(disguise(text.slice(0, TEXT_BOUND), random));
      return modelCategories.some((category) => category !== 'illicit' && scores.get(category)! >= DEFAULT);
    }).length;
    return [name, percent(still / found.length), percent(flagged / harmless.length)];
  };
  printTable(
    ['disguise', 'found as often as plain', 'harmless texts flagged (five categories)'],
    [
      ['none', (text: string) => text] as const,
      ...[disguises.unicode, disguises.spelling, disguises.others].flatMap(Object.entries<Disguise>),
    ].map(([name, disguise]) => measure(name, disguise)),
  );
};
