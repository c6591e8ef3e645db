import { modelCategories } from '../rules/moderation/model.js';
import { disguises } from './disguises.js';
import { seedRandom, type Random } from './random.js';
import { isHarmless, NO, UNKNOWN, YES, type Row } from './rows.js';
import { checkingLists, trainingLists } from './template-lists.js';
import { fillSlots, templates } from './templates.js';

const SEED = 20_250_601;
const MIXED_DOCUMENTS = 6_000;
const HARMLESS_DOCUMENTS = 4_000;
const DISGUISED = 3_000;
/** Sources whose sentences stand around others without changing their meaning. */
const CARRIERS = new Set([
  'counsel-answers',
  'awesome-prompts',
  'moby-dick',
  'state-of-the-union',
  'wordnet',
]);
const TEMPLATE_WEIGHT = 0.4;
const LOOKALIKE_WEIGHT = 2;

/** Rows made from the given ones and from our templates; the same rows give the same result. */
export const deriveRows = (rows: readonly Row[]): Row[] => {
  const random = seedRandom(SEED);
  return [
    ...fillTemplates(trainingLists, random),
    ...mixDocuments(rows, random),
    ...disguiseRows(rows, random),
  ];
};

/** Harmless sentences that look like others and that no model was trained on. */
export const listLookalikes = (): Row[] => {
  const trained = new Set(fillTemplates(trainingLists, seedRandom(SEED)).map(({ text }) => text));
  return fillTemplates(checkingLists, seedRandom(SEED + 1)).filter(
    (row) => isHarmless(row) && !trained.has(row.text),
  );
};

const fillTemplates = (lists: typeof trainingLists, random: Random): Row[] =>
  templates.flatMap(({ text, yes, unknown, count }) => {
    const texts = new Set(Array.from({ length: count }, () => fillSlots(text, lists, random)));
    const labels = modelCategories.map((category) =>
      yes.includes(category) ? YES : unknown.includes(category) ? UNKNOWN : NO,
    );
    return [...texts].map((filled) => ({
      text: filled,
      source: 'own-templates',
      weight: yes.length === 0 ? LOOKALIKE_WEIGHT : TEMPLATE_WEIGHT,
      labels,
    }));
  });

const mixDocuments = (rows: readonly Row[], random: Random): Row[] => {
  const sentences = rows
    .filter(({ source }) => CARRIERS.has(source))
    .flatMap(({ text }) => text.split(/(?<=[.!?;])\s+/))
    .filter((sentence) => sentence.length > 20 && sentence.length < 160);
  const positives = rows.filter(({ labels, text }) => labels.includes(YES) && text.length < 250);
  const carry = (most: number): string =>
    Array.from({ length: random.below(most + 1) }, () => random.pick(sentences)).join(' ');
  const mixed = Array.from({ length: MIXED_DOCUMENTS }, () => {
    const row = random.pick(positives);
    const text = `${carry(2)} ${row.text} ${carry(1)}`.trim();
    return { ...row, text, source: 'own-documents', weight: row.weight * 0.6 };
  });
  const plain = Array.from({ length: HARMLESS_DOCUMENTS }, () => ({
    text: `${carry(3)} ${random.pick(sentences)}`,
    source: 'own-documents',
    weight: 0.4,
    labels: modelCategories.map(() => NO),
  }));
  return [...mixed, ...plain];
};

/** As many harmless rows as others, so that a disguise alone says nothing. */
const disguiseRows = (rows: readonly Row[], random: Random): Row[] => {
  const sides = [rows.filter(({ labels }) => labels.includes(YES)), rows.filter(isHarmless)];
  const ways = Object.values(disguises.noise);
  return sides.flatMap((side) =>
    Array.from({ length: DISGUISED }, () => {
      const row = random.pick(side);
      const text = random.pick(ways)(row.text.slice(0, 400), random);
      return { ...row, text, source: 'own-disguises', weight: row.weight * 0.5 };
    }),
  );
};
