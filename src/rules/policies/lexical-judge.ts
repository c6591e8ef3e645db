import { setImmediate } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Judge } from './judge.js';
import { keyWords, stemsOf, type KeyWords } from './key-words.js';

/** Compiled rules kept: as many as an organization or two may have. */
const RULES = 2_000;
/** The share of a rule's weight that scores one half. */
const HALF_COVERAGE = 1 / 3;
/** Characters read at a stretch; then others have their turn. */
const SLICE = 16_384;

/**
 * Scores by the words a rule and a text share: the same answer every time, no model, no understanding.
 * A tool for development and tests, and a poor guard: it knows no synonyms, and an answer that refuses shares words too.
 */
export const createLexicalJudge = (): Judge => {
  const known = new LRUCache<string, KeyWords>({ max: RULES });
  const wordsOf = (rule: string): KeyWords => {
    const words = known.get(rule) ?? keyWords(rule);
    known.set(rule, words);
    return words;
  };
  return {
    score: async (rules, { text }) => {
      const stems = await readStems(text);
      const joined = ` ${stems.join(' ')} `;
      const present = new Set(stems);
      return new Map(rules.map(({ id, text: rule }) => [id, scoreWords(wordsOf(rule), present, joined)]));
    },
  };
};

/** Cut at spaces, so that no word is two. */
const readStems = async (text: string): Promise<readonly string[]> => {
  if (text.length <= SLICE) return stemsOf(text);
  const stems: string[] = [];
  for (let from = 0; from < text.length;) {
    const space = text.lastIndexOf(' ', from + SLICE);
    const to = space > from ? space : from + SLICE;
    for (const stem of stemsOf(text.slice(from, to))) stems.push(stem);
    from = to;
    await setImmediate();
  }
  return stems;
};

/** Rises with every word of the rule that the text has; a quoted phrase counts whole or not at all. */
const scoreWords = ({ words, phrases }: KeyWords, present: ReadonlySet<string>, joined: string): number => {
  if (phrases.some((phrase) => joined.includes(` ${phrase} `))) return 1;
  let [shared, total] = [0, 0];
  for (const [word, weight] of words) {
    total += weight;
    if (present.has(word)) shared += weight;
  }
  if (total === 0) return 0;
  const coverage = shared / total;
  return coverage <= HALF_COVERAGE
    ? (0.5 * coverage) / HALF_COVERAGE
    : 0.5 + (0.5 * (coverage - HALF_COVERAGE)) / (1 - HALF_COVERAGE);
};
