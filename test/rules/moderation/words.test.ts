import fc from 'fast-check';
import t from 'tap';
import { Lexicon, Mark } from '../../../src/rules/moderation/lexicon.js';
import { Reader } from '../../../src/rules/moderation/reader.js';
import { Words } from '../../../src/rules/moderation/words.js';

const common =
  'the quick brown fox is a very silly animal and i do not like green cheese please tell me more';
const lexicon = new Lexicon([
  ...common.split(' ').map((word) => ({ word, cost: 40, marks: 0 })),
  { word: 'rotten', cost: 80, marks: Mark.masked },
]);

interface Heard {
  readonly words: string[];
  readonly ends: number[];
  readonly encoded: string[];
}

const read = (pieces: readonly string[]): Heard => {
  const heard: Heard = { words: [], ends: [], encoded: [] };
  const words = new Words(lexicon, {
    word: (units, from, to, _hash, _value, end) => {
      heard.words.push(String.fromCharCode(...units.subarray(from, to)));
      heard.ends.push(end);
    },
    variant: (units, from, to) => heard.words.push(`(${String.fromCharCode(...units.subarray(from, to))})`),
  });
  const reader = new Reader({
    token: (token, end) => words.token(token, end),
    encoded: (run) => heard.encoded.push(run),
  });
  for (const piece of pieces) reader.read(piece);
  reader.finish();
  words.finish();
  return heard;
};

const wordsOf = (text: string): string => read([text]).words.join(' ');

t.test('words are read as they are said', async (t) => {
  t.equal(
    wordsOf("The quick, brown fox doesn't like green-cheese!"),
    'the quick brown fox doesnt like green cheese',
  );
  t.equal(wordsOf('page 12 of 30'), 'page 12 of 30');
  t.equal(wordsOf(''), '');
});

t.test('digits and signs that stand for letters are read as letters', async (t) => {
  t.equal(wordsOf('7h3 qu1ck br0wn f0x'), 'the quick brown fox');
  t.equal(wordsOf('s1lly gr33n ch33$e'), 'silly green cheese');
  t.equal(wordsOf('me@example.com'), '(meaexample) me example com', 'what spells no word stays what it is');
  t.equal(wordsOf('utf8 sha256 v2'), 'utf8 sha256 v2');
});

t.test('letters set apart are one word', async (t) => {
  t.equal(wordsOf('q u i c k'), 'quick');
  t.equal(wordsOf('t h e   q u i c k   f o x   i s   r e d'), 'the quick fox is red');
  t.equal(wordsOf('q.u.i.c.k b-r-o-w-n f_o_x'), 'quick brown fox');
  t.equal(wordsOf('t h e q u i c k b r o w n f o x'), 'the quick brown fox');
  t.equal(wordsOf('a b'), 'a b');
});

t.test('words without spaces are cut where words are known', async (t) => {
  t.equal(wordsOf('thequickbrownfox'), '(thequickbrownfox) the quick brown fox');
  t.equal(wordsOf('incomprehensible'), 'incomprehensible');
});

t.test('stretched words shrink, masked words are found', async (t) => {
  t.equal(wordsOf('siiiillllyyyy'), 'silly');
  t.equal(wordsOf('cheeeese'), 'cheese', 'two letters in a row may be right');
  t.equal(wordsOf('r*tten r****n r*tt*n r*****'), 'rotten rotten rotten rotten');
  t.equal(wordsOf('**bold** *text*'), 'bold text');
});

t.test('long runs that may be encoded are handed over, ordinary words are not', async (t) => {
  t.same(read(['see dGhlIHF1aWNrIGJyb3duIGZveA== there']).encoded, ['dGhlIHF1aWNrIGJyb3duIGZveA==']);
  t.same(read(['see https://example.com/some/path for more']).encoded, []);
  const long = 'x9'.repeat(1_500);
  t.same(
    read([long]).encoded.map((run) => run.length),
    [1_024, 1_024, 952],
  );
});

t.test('however a text is cut into pieces, the words and where they end stay the same', async (t) => {
  const alphabet = fc.constantFrom(
    ...Array.from('abeikqst  .-*@$!013 \n'),
    '\u200b',
    'é',
    '𝐚',
    '🙂',
    '%',
    'ß',
    'dGhlIHF1aWNrIGJyb3du',
  );
  const text = fc.array(alphabet, { maxLength: 150 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, fc.array(fc.nat(), { maxLength: 20 }), (whole, cuts) => {
      const places = [...new Set(cuts.map((cut) => cut % (whole.length + 1)))].sort((a, b) => a - b);
      const pieces = [0, ...places].map((from, index) => whole.slice(from, places[index] ?? whole.length));
      t.same(read(pieces), read([whole]));
      const { ends } = read([whole]);
      t.ok(
        ends.every((end, index) => end <= whole.length && end >= (ends[index - 1] ?? 0)),
        'ends rise',
      );
    }),
    { numRuns: 400 },
  );
});
