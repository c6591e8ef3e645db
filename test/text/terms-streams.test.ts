import fc from 'fast-check';
import t from 'tap';
import { compileTerms, type TermHit, type Terms } from '../../src/text/terms.js';
import { cutAt, cuts } from './cuts.js';

const unit = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('a', 'b', 'A', 'e', 's', 'i', ' ', '.', '1') },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      '\u0301',
      '\u0323',
      '\u0307',
      '\u0345',
      'é',
      'ß',
      'İ',
      'ı',
      'Σ',
      'ς',
      'α',
      'ᾳ',
      'ﬁ',
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '\u200b',
      '\u00ad',
      '\ufe0f',
      '\n',
      '\u00a0',
      '\u2003',
      '´',
      '\u0000',
      '㈠',
      '\ufdfa',
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '語',
      '一',
      'か',
      '\u3099',
      'ﾊ',
      'ﾞ',
      'ᄀ',
      'ᅡ',
      'ᆨ',
      '가',
      'ㄱ',
      'ㅏ',
      'ก',
      '\u0e48',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('😀', '\ud83d', '\ude00', '𝐚', '𐐀', '\u{1d165}', '\u{e0041}', '\uffff'),
  },
);
const texts = fc.string({ unit, maxLength: 40 });
const termLists = fc.array(fc.string({ unit, minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 8 });

/** As D19 reads, without automaton, pieces or positions. */
const normalise = (text: string): string =>
  text
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .replace(/[\t-\r\x85\p{Z}]+/gu, ' ')
    .replace(/[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}]/gu, '')
    .normalize('NFKC')
    .replaceAll('\u0345', '')
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replaceAll('i\u0307', 'i')
    .replaceAll('ς', 'σ')
    .normalize('NFKC')
    .replace(/ +/g, ' ');

interface Letter {
  readonly character: string;
  readonly inWord: boolean;
}

/** A mark belongs to what it follows. */
const lettersOf = (text: string): Letter[] => {
  const letters: Letter[] = [];
  for (const character of text) {
    const inWord = /\p{M}/u.test(character)
      ? letters.at(-1)?.inWord === true
      : /[\p{L}\p{N}]/u.test(character) &&
        !/[\p{sc=Han}\p{sc=Hangul}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/u.test(character);
    letters.push({ character, inWord });
  }
  return letters;
};

const edgeAt = (letters: readonly Letter[], n: number): boolean =>
  letters[n]?.inWord !== letters[n - 1]?.inWord;

const hasByHand = (term: string, text: string): boolean => {
  const wanted = lettersOf(normalise(term).trim());
  if (wanted.length === 0) return false;
  const all = lettersOf(normalise(text));
  return all.some((_, at) => {
    const fits = wanted.every(({ character }, n) => all[at + n]?.character === character);
    const sameWords = wanted.every((_letter, n) => n === 0 || edgeAt(wanted, n) === edgeAt(all, at + n));
    const [before, after] = [all[at - 1], all[at + wanted.length]];
    const cutsLeft = wanted[0]!.inWord && before?.inWord === true;
    const cutsRight = wanted.at(-1)!.inWord && after?.inWord === true;
    return fits && sameWords && !cutsLeft && !cutsRight;
  });
};

interface Followed {
  readonly hits: readonly TermHit[];
  /** A match that began in what had been declared safe before it was found. */
  readonly leaked: TermHit | undefined;
  readonly safeAtEnd: number;
}

const follow = (terms: Terms, pieces: readonly string[]): Followed => {
  const follower = terms.follow();
  let leaked: TermHit | undefined;
  let safe = 0;
  const check = (known: number): void => {
    leaked ??= follower.hits.slice(known).find(({ from }) => from < safe);
    if (follower.safe < safe) throw new Error('what was safe is not any more');
    safe = follower.safe;
  };
  for (const piece of pieces) {
    const known = follower.hits.length;
    follower.write(piece);
    check(known);
  }
  const known = follower.hits.length;
  follower.end();
  check(known);
  return { hits: follower.hits, leaked, safeAtEnd: safe };
};

t.test('D19 the terms found are those of the definition, in any text', async () => {
  fc.assert(
    fc.property(termLists, texts, (list, text) => {
      const found = new Set(
        compileTerms(list)
          .find(text)
          .map(({ index }) => normalise(list[index]!).trim()),
      );
      for (const term of list) {
        const expected = hasByHand(term, text);
        if (found.has(normalise(term).trim()) !== expected) return false;
      }
      return true;
    }),
    { numRuns: 10_000 },
  );
});

t.test(
  'D19 a stream gives the hits of the whole in any pieces, and none begins in what has left',
  async () => {
    fc.assert(
      fc.property(termLists, texts, cuts, (list, text, at) => {
        const terms = compileTerms(list);
        const whole = terms.find(text);
        for (const pieces of [cutAt(text, at), text.split('')]) {
          const { hits, leaked, safeAtEnd } = follow(terms, pieces);
          if (JSON.stringify(hits) !== JSON.stringify(whole) || leaked || safeAtEnd !== text.length)
            return false;
        }
        return true;
      }),
      { numRuns: 10_000 },
    );
  },
);

t.test('nothing is held that can be no part of a match', async (t) => {
  const terms = compileTerms(['falcon project', 'café']);
  const follower = terms.follow();
  const safeAfter = (text: string): number => {
    follower.write(text);
    return follower.safe;
  };
  t.equal(safeAfter('The '), 4);
  t.equal(safeAfter('f'), 4, 'could begin a term');
  t.equal(safeAfter('ox is'), 10, 'did not');
  t.equal(safeAfter(' a falcon'), 13);
  t.equal(safeAfter('  '), 13);
  t.equal(safeAfter('proj'), 13);
  t.equal(safeAfter('ector'), 30, 'another word after all');
  t.equal(safeAfter(' falcon project'), 31, 'complete, but the word may go on');
  t.equal(follower.hits.length, 0);
  t.equal(safeAfter('.'), 46);
  t.equal(follower.hits.length, 1);
  t.equal(safeAfter(' tree'), 50, 'the e may yet become é, of which a term is made');
  t.equal(safeAfter('s '), 53);
  t.equal(safeAfter('caf'), 53);
  t.equal(safeAfter('e'), 53, 'may become é');
  t.equal(safeAfter('\u0301'), 53);
  follower.end();
  t.equal(follower.safe, 58);
  t.equal(follower.hits.length, 2);
});

t.test('half a character waits for its other half', async (t) => {
  const follower = compileTerms(['😀']).follow();
  follower.write('a\ud83d');
  t.equal(follower.safe, 1);
  follower.write('\ude00');
  follower.end();
  t.same(follower.hits, [{ term: '😀', index: 0, from: 1, to: 3 }]);
});

t.test('no more hits are kept than asked for', async (t) => {
  const follower = compileTerms(['a']).follow(2);
  follower.write('a a a a');
  follower.end();
  t.equal(follower.hits.length, 2);
  t.equal(follower.safe, 7);
});
