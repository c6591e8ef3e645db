import type { Category } from '../core/review.js';
import { SUSPICION, type Engine, type Follower } from '../rules/moderation/engine.js';
import { modelCategories } from '../rules/moderation/model.js';
import { DEFAULT, percent, printTable } from './measure.js';
import { YES, type Row } from './rows.js';

const DELTA_CHARACTERS = 4;
const DELTA_MS = 1_000 / 60;
const HOLD = 272;

const acting = modelCategories.filter((category) => category !== 'illicit');

interface Course {
  /** What had left when the text was stopped; null = it never was. */
  readonly leaked: string | null;
  /** How long the first character waited; null = it never left before the end. */
  readonly firstMs: number;
}

type Release = (follower: Follower, written: number, released: number) => number;

/** How far text may leave after each piece, mode by mode. */
const modes: Readonly<Record<string, Release>> = {
  async: (_, written) => written,
  adaptive: (follower, written, released) =>
    follower.suspicion() < SUSPICION ? written : Math.max(released, follower.judged),
  hold: (_, written, released) => Math.max(released, written - HOLD),
  buffer: () => 0,
};

const isStopped = (follower: Follower): boolean =>
  acting.some((category: Category) => follower.scores.get(category)! >= DEFAULT);

const runStream = (engine: Engine, text: string, release: Release): Course => {
  const follower = engine.follow('', { categories: acting });
  let released = 0;
  let firstMs: number | null = null;
  for (let from = 0; from < text.length; from += DELTA_CHARACTERS) {
    const written = Math.min(text.length, from + DELTA_CHARACTERS);
    if (follower.write(text.slice(from, written)) && isStopped(follower))
      return { leaked: text.slice(0, released), firstMs: firstMs ?? 0 };
    released = release(follower, written, released);
    if (released > 0) firstMs ??= (from / DELTA_CHARACTERS) * DELTA_MS;
  }
  follower.end();
  firstMs ??= ((text.length - 1) / DELTA_CHARACTERS) * DELTA_MS;
  return { leaked: isStopped(follower) ? text.slice(0, released) : null, firstMs };
};

/** Whether text would be stopped by itself. */
const isBad = (engine: Engine, text: string): boolean => {
  const scores = engine.judgeNow(text);
  return acting.some((category) => scores.get(category)! >= DEFAULT);
};

const quantile = (values: readonly number[], share: number): number =>
  [...values].sort((one, other) => one - other)[Math.floor(values.length * share)] ?? 0;

/** What each way of streaming costs harmless texts and lets through of the others. */
export const printStreams = (engine: Engine, positives: readonly Row[], harmless: readonly Row[]): void => {
  const wanted = positives.filter(({ labels }) =>
    acting.some((category) => labels[modelCategories.indexOf(category)] === YES),
  );
  console.log(`\n## Streams (${harmless.length} harmless, ${wanted.length} others, 60 tokens a second)\n`);
  printTable(
    [
      'mode',
      'first byte of harmless text later by: p50',
      'p95',
      'stopped',
      'of those nothing leaked',
      'what leaked is harmless',
      'characters leaked: p50',
      'p90',
    ],
    Object.entries(modes).map(([name, release]) => {
      const waits = harmless.map(({ text }) => runStream(engine, text, release).firstMs);
      const leaks = wanted.flatMap(({ text }) => runStream(engine, text, release).leaked ?? []);
      const lengths = leaks.map(({ length }) => length);
      return [
        name,
        `${quantile(waits, 0.5).toFixed(0)} ms`,
        `${quantile(waits, 0.95).toFixed(0)} ms`,
        percent(leaks.length / wanted.length),
        percent(leaks.filter((leaked) => leaked === '').length / leaks.length),
        percent(leaks.filter((leaked) => !isBad(engine, leaked)).length / leaks.length),
        quantile(lengths, 0.5).toFixed(0),
        quantile(lengths, 0.9).toFixed(0),
      ];
    }),
  );
};
