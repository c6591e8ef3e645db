import t from 'tap';
import { compileTerms, compileTermsSlowly } from '../../src/text/terms.js';

const foundIn = (terms: readonly string[], text: string): string[] =>
  compileTerms(terms)
    .find(text)
    .map(({ from, to }) => text.slice(from, to));

t.test('D19 a term is found whatever its case, its form and the spaces in it', async (t) => {
  t.same(foundIn(['Project  Falcon'], 'about PROJECT\t\n falcon.'), ['PROJECT\t\n falcon']);
  t.same(foundIn(['straße'], 'in der STRASSE, Straße und ſtraẞe'), ['STRASSE', 'Straße', 'ſtraẞe']);
  t.same(foundIn(['ΟΔΟΣ'], 'η οδός? οδος, οδοσ'), ['οδος', 'οδοσ']);
  t.same(foundIn(['ISTANBUL'], 'ıstanbul, İstanbul, i̇stanbul'), ['ıstanbul', 'İstanbul', 'i̇stanbul']);
  t.same(foundIn(['café'], 'un cafe\u0301, un café, un CAFÉ, a cafe'), ['cafe\u0301', 'café', 'CAFÉ']);
  t.same(foundIn(['file 5'], 'ｆｉｌｅ\u00a0５ and ﬁle ⑤'), ['ｆｉｌｅ\u00a0５', 'ﬁle ⑤']);
  t.same(foundIn(['한국'], '한국'.normalize('NFD')), ['한국'.normalize('NFD')]);
});

t.test('D19 invisible characters hide nothing', async (t) => {
  t.same(foundIn(['secret'], 'a s\u200be\u00adc\u2060r\ufeffe\u{e0041}t!'), [
    's\u200be\u00adc\u2060r\ufeffe\u{e0041}t',
  ]);
  t.same(foundIn(['sec\u200bret'], 'a secret'), ['secret']);
  t.same(foundIn(['café'], 'cafe\u200d\u0301'), ['cafe\u200d\u0301']);
});

t.test('D19 a term ends where its words end', async (t) => {
  t.same(foundIn(['ass', 'class'], 'a class of assassins, ass'), ['class', 'ass']);
  t.same(foundIn(['cat'], 'cats concatenate; cat\u0303s, the_cat, cat2, "cat"'), ['cat', 'cat']);
  t.same(foundIn(['42'], '142 42.0 421'), ['42']);
  t.same(foundIn(['cat'], 'cat'), ['cat']);
});

t.test('D19 an edge of punctuation asks for no boundary', async (t) => {
  t.same(foundIn(['.net', 'c++', '#1'], 'asp.net and c++11, #1, #12, .nets'), ['.net', 'c++', '#1']);
  t.same(foundIn(['!!'], 'what!!!'), ['!!', '!!']);
});

t.test('D19 scripts without spaces match anywhere, also beside letters', async (t) => {
  t.same(foundIn(['苹果', '机'], '我喜欢苹果手机'), ['苹果', '机']);
  t.same(foundIn(['iphone手机'], '买iPhone手机吧'), ['iPhone手机']);
  t.same(foundIn(['ระเบิด'], 'ทำระเบิดเอง'), ['ระเบิด']);
  t.same(foundIn(['iphone'], 'iPhoneを, xiphone'), ['iPhone']);
  t.same(foundIn(['비밀'], '그비밀은'), ['비밀']);
});

t.test('hits say which term of the list it was, overlaps included', async (t) => {
  const terms = compileTerms(['a b', 'b c', '  ', 'A  B', '\u200b', 'b', '']);
  t.equal(terms.size, 3);
  t.same(terms.find('a b c'), [
    { term: 'a b', index: 0, from: 0, to: 3 },
    { term: 'b', index: 5, from: 2, to: 3 },
    { term: 'b c', index: 1, from: 2, to: 5 },
  ]);
  t.equal(terms.find('a b c', 2).length, 2);
  t.equal(terms.find('a b c', 0).length, 0);
  t.ok(terms.has('(B)'));
  t.notOk(terms.has('bb'));
});

t.test('no terms find nothing', async (t) => {
  for (const none of [[], [' ', '\u00ad']]) {
    const terms = compileTerms(none);
    t.equal(terms.size, 0);
    t.notOk(terms.has('anything at all'));
    const follower = terms.follow();
    follower.write('any');
    t.equal(follower.safe, 3);
  }
});

t.test('a text longer than any buffer is read to its end', async (t) => {
  const terms = compileTerms(['needle']);
  const text = `${'hay é 草 \ufdfa '.repeat(5_000)}needle ${'hay '.repeat(5_000)}needle`;
  t.same(
    terms.find(text).map(({ from }) => from),
    [text.indexOf('needle'), text.lastIndexOf('needle')],
  );
});

t.test('compiling slowly gives the same and lets others run in between', async (t) => {
  const terms = Array.from(
    { length: 10_000 },
    (_, n) => `term ${((n * 7919) % 10_007).toString(36)} ${'x'.repeat(n % 90)}`,
  );
  let turns = 0;
  let done = false;
  const takeTurns = (): void => {
    turns += 1;
    if (!done) setImmediate(takeTurns);
  };
  setImmediate(takeTurns);
  const slowly = await compileTermsSlowly(terms);
  done = true;
  t.ok(turns > 2, 'others ran meanwhile');
  const atOnce = compileTerms(terms);
  t.equal(slowly.size, atOnce.size);
  t.equal(slowly.bytes, atOnce.bytes);
  const text = terms.slice(500, 700).join(', ');
  t.same(slowly.find(text), atOnce.find(text));
  t.equal(new Set(slowly.find(text).map(({ index }) => index)).size, 200);
});

t.test('every character that can be a term is found as one', async (t) => {
  const missed: string[] = [];
  for (let point = 0; point < 0x20000; point += 7) {
    const character = String.fromCodePoint(point);
    const terms = compileTerms([character]);
    const texts = [character, character.normalize('NFD'), `. ${character.normalize('NFKC')} .`];
    if (terms.size === 1 && !texts.every((text) => terms.has(text))) missed.push(point.toString(16));
  }
  t.same(missed, []);
});
