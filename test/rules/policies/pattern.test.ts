import { RE2JS } from '@bufbuild/re2';
import fc from 'fast-check';
import t from 'tap';
import { foldRune, foldText } from '../../../src/rules/policies/fold-case.js';
import { Pattern } from '../../../src/rules/policies/pattern.js';
import { compileProgram } from '../../../src/rules/policies/regex-program.js';
import { expandedSize } from '../../../src/rules/policies/regex-size.js';

const isFound = (pattern: Pattern, text: string, steps = 1_000): boolean => {
  const search = pattern.begin(text);
  while (search.found === null) pattern.search(search, steps);
  return search.found;
};

const stepsFor = (pattern: Pattern, text: string): number => {
  const search = pattern.begin(text);
  return 1e12 - pattern.search(search, 1e12);
};

/** Patterns of every construction, most of them sensible. */
const atom = fc.constantFrom(
  ...'a|b|k|s|.|\\b|\\B|^|$|\\d|\\w|\\W|\\s|[a-c]|[^a-c]|[[:alpha:]]|\\pL|\\x{1f600}|\u00e9|\u03c3|ab|(?i:sk)|(?m:^)|(?m:$)|(?s:.)|\\z|\\A|\\Qa.b\\E'.split(
    '|',
  ),
);
const anyPattern = fc.letrec<{ pattern: string; piece: string }>((tie) => ({
  piece: fc.oneof(
    { depthSize: 'small' },
    atom,
    tie('pattern').map((inner) => `(${inner})`),
    fc
      .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '{0,2}', '{2,}', '*?'))
      .map(([inner, times]) => `(?:${inner})${times}`),
  ),
  pattern: fc
    .array(tie('piece'), { minLength: 1, maxLength: 3 })
    .chain((pieces) => fc.constantFrom('', '|').map((joint) => pieces.join(joint))),
})).pattern;
const anyText = fc
  .array(
    fc.constantFrom(
      ...'a b c k K \u212a s S \u017f \u00e9 \u00c9 \u03c3 \u03c2 \u03a3 1 _ . - \ud800'.split(' '),
      ' ',
      '\n',
      '\u{1f600}',
    ),
    {
      maxLength: 16,
    },
  )
  .map((parts) => parts.join(''));

t.test('D29 a pattern finds what the library finds, in slices of any size', async (t) => {
  fc.assert(
    fc.property(
      anyPattern,
      fc.constantFrom('', '(?i)'),
      fc.array(anyText, { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 40 }),
      (inner, flags, texts, steps) => {
        const source = flags + inner;
        const program = compileProgram(source);
        const pattern = new Pattern(program);
        const library = RE2JS.compile(source);
        for (const text of texts) {
          const found = isFound(pattern, text, steps);
          if (found !== library.test(text)) throw new Error(`${source} on ${JSON.stringify(text)}: ${found}`);
          if (!found) continue;
          for (const clause of program.required)
            if (
              !clause.some(({ literal, ignoreCase }) =>
                (ignoreCase ? foldText(text) : text).includes(literal),
              )
            )
              throw new Error(`${source} matches ${JSON.stringify(text)} without what it requires`);
        }
      },
    ),
    { numRuns: 2_000 },
  );
  t.pass();
});

t.test('D29 letters that differ in case alone fold to one', async (t) => {
  const alike = [
    'kK\u212a',
    'sS\u017f',
    '\u03c3\u03c2\u03a3',
    '\u00e5\u00c5\u212b',
    '\u03b8\u03b8\u03f4\u0398',
    '\u00df\u1e9e',
  ];
  for (const letters of alike)
    t.equal(new Set(Array.from(letters, (letter) => foldRune(letter.codePointAt(0)!))).size, 1);
  t.not(foldRune(0x131), foldRune(0x69), 'the dotless i is no i');
  t.equal(foldText('PA\u017f\u017fWORD of \u212aim'), 'password of kim');
});

t.test('D29 evil patterns take steps in proportion to the text', async (t) => {
  for (const evil of [
    '(a+)+$',
    '(a|a)*$',
    '(a|aa)+$',
    '(.*a){12}$',
    '(x+x+)+y',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
  ])
    for (const letter of ['a', 'x']) {
      const pattern = new Pattern(compileProgram(evil));
      const short = stepsFor(pattern, `${letter.repeat(2_000)}!`);
      pattern.forget();
      const long = stepsFor(pattern, `${letter.repeat(20_000)}!`);
      t.ok(long < 15 * short, `${evil}: ${short} steps, then ${long}`);
    }
});

t.test('D29 no step is larger than the pattern, even where its states explode', async (t) => {
  const program = compileProgram('(a|b)*a(a|b){300}c');
  const pattern = new Pattern(program);
  const text = Array.from({ length: 3_000 }, (_, n) => (((n * 2_654_435_761) >>> 13) & 1 ? 'a' : 'b')).join(
    '',
  );
  const search = pattern.begin(text);
  while (search.found === null) {
    const left = pattern.search(search, 1);
    if (left <= -3 * program.ops.length) t.fail(`${-left} steps beyond the limit`);
  }
  t.equal(search.found, false);
});

t.test('D29 the size of a pattern is never underestimated', async (t) => {
  fc.assert(
    fc.property(anyPattern, (source) => {
      const { ops } = compileProgram(source);
      if (ops.length > 2 * expandedSize(source) + 8) throw new Error(`${source}: ${ops.length}`);
    }),
    { numRuns: 1_000 },
  );
  t.ok(expandedSize('((a{1000}){1000}){1000}') > 1e9);
  t.ok(expandedSize('a{1000}'.repeat(100)) > 90_000);
  t.ok(expandedSize('(ab?){0,100}'.repeat(10)) > 3_000);
  t.ok(expandedSize('[{1000}]x\\Q{1000}{1000}\\E\\{1000}') < 100, 'braces that repeat nothing');
  t.ok(expandedSize('[]{900}]{3}') < 20);
  t.throws(() => compileProgram('a{1000}'.repeat(100)), { message: 'the pattern is too large' });
  t.throws(() => compileProgram('\\pL\\PL'.repeat(2_000)), { message: 'the pattern is too large' });
});

t.test('D29 a pattern that was made to forget still finds', async (t) => {
  const pattern = new Pattern(compileProgram('\\bneedle\\b'));
  t.equal(isFound(pattern, 'a needle in a haystack'), true);
  pattern.forget();
  t.equal(isFound(pattern, 'a needle in a haystack'), true);
  t.equal(isFound(pattern, 'needles'), false);
});
