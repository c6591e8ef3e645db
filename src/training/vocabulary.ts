import { Lexicon, Mark, type LexiconWord } from '../rules/moderation/lexicon.js';
import { Reader } from '../rules/moderation/reader.js';
import { Words } from '../rules/moderation/words.js';
import { hashWord, spread, BUCKETS } from '../rules/moderation/hash.js';
import type { ModelParts } from '../rules/moderation/model.js';
import { normalise } from '../text/normalise.js';
import { isHarmless, type Row } from './rows.js';

const MOST_WORDS = 14_000;
/** A word fewer rows have than this may be a slip of the pen. */
const LEAST_ROWS = 5;
const COST_SCALE = 8;
const PLAIN_WORD = /^[a-z]{2,16}$|^[ai]$/;
/** Listed with the explicit terms, but said in anger more often than in lust. */
const ANGRY = /shit|bitch|basta?rd|hole|^ass(es)?$|sucks?$|tard|head|^(whore|slut|hooker|damn|crap|piss)/;
const MOST_MASKED = 700;
/** A term that harmless rows use more often than this share of all rows that have it is no sign of anything. */
const HARMLESS_SHARE = 0.25;

export interface Vocabulary {
  readonly words: readonly LexiconWord[];
  readonly explicitPhrases: readonly string[];
}

interface Use {
  rows: number;
  harmless: number;
}

/** The words people write, how rare each is, and which of the listed terms are explicit by themselves. */
export const makeVocabulary = (rows: readonly Row[]): Vocabulary => {
  const uses = countUses(rows);
  const terms = listTerms(rows.filter(({ source }) => source === 'lexicon-sexual'));
  const isTelling = (term: string): boolean => {
    const use = uses.get(term);
    return use === undefined || use.harmless <= HARMLESS_SHARE * use.rows;
  };
  const explicit = new Set(terms.filter((term) => !ANGRY.test(term) && isTelling(term)));
  const known = [...uses]
    .filter(([word, { rows: count }]) => count >= LEAST_ROWS && PLAIN_WORD.test(word))
    .sort(([one, { rows: a }], [other, { rows: b }]) => b - a || (one < other ? -1 : 1))
    .slice(0, MOST_WORDS);
  const total = known.reduce((sum, [, { rows: count }]) => sum + count, 0);
  const words = known.map(([word, { rows: count }]) => ({
    word,
    cost: Math.min(255, Math.max(1, Math.round(-COST_SCALE * Math.log(count / total)))),
    marks: explicit.has(word) ? Mark.explicit : 0,
  }));
  const listed = new Set(words.map(({ word }) => word));
  const rare = [...explicit]
    .filter((word) => !listed.has(word) && /^[a-z]{3,16}$/.test(word))
    .map((word) => ({ word, cost: 120, marks: Mark.explicit }));
  return {
    words: [...words, ...rare],
    explicitPhrases: terms
      .filter((term) => !ANGRY.test(term) && /^[a-z0-9]+( [a-z0-9]+){1,3}$/.test(term))
      .sort(),
  };
};

const countUses = (rows: readonly Row[]): Map<string, Use> => {
  const uses = new Map<string, Use>();
  const seen = new Set<string>();
  const words = new Words(new Lexicon([]), {
    word: (units, from, to) => seen.add(String.fromCharCode(...units.subarray(from, to))),
    variant: () => undefined,
  });
  const reader = new Reader({ token: (token, end) => words.token(token, end), encoded: () => undefined });
  for (const row of rows) {
    reader.reset();
    words.reset();
    reader.read(row.text);
    reader.finish();
    words.finish();
    const harmless = isHarmless(row) ? 1 : 0;
    for (const word of seen) {
      const use = uses.get(word) ?? { rows: 0, harmless: 0 };
      use.rows++;
      use.harmless += harmless;
      uses.set(word, use);
    }
    seen.clear();
  }
  return uses;
};

/** The data has every listed term by itself, followed by sentences that contain it. */
const listTerms = (rows: readonly Row[]): string[] => {
  const texts = rows.map(({ text }) =>
    normalise(text)
      .replace(/[^a-z0-9]+/g, ' ')
      .trim(),
  );
  const terms = texts.filter(
    (text, index) =>
      text.length > 2 && text.split(' ').length <= 4 && ` ${texts[index + 1] ?? ''} `.includes(` ${text} `),
  );
  return [...new Set(terms)];
};

/** Marks the words that weigh most by themselves: those are the ones people hide behind asterisks. */
export const markMasked = (
  words: readonly LexiconWord[],
  { weights, scales }: Pick<ModelParts, 'weights' | 'scales'>,
): LexiconWord[] => {
  const weightOf = ({ word }: LexiconWord): number => {
    const at = (spread(hashWord(word)) & (BUCKETS - 1)) * scales.length;
    return Math.max(...scales.map((scale, category) => scale * weights[at + category]!));
  };
  const heavy = words
    .filter(({ word }) => word.length > 2)
    .map((word) => ({ word, weight: weightOf(word) }))
    .sort((one, other) => other.weight - one.weight)
    .slice(0, MOST_MASKED)
    .map(({ word }) => word);
  const rank = new Map(heavy.map((word, index) => [word, index]));
  // A form that several words share belongs to the first: the lexicon is sorted by use.
  return words.map((word) => (rank.has(word) ? { ...word, marks: word.marks | Mark.masked } : word));
};
