import fc from 'fast-check';
import t from 'tap';
import type { RuleInput } from '../../../src/rules/policies/expression.js';
import { compileRule } from '../../../src/rules/policies/rule.js';
import type { Required } from '../../../src/rules/policies/requirement.js';
import { meetsThreshold } from '../../../src/rules/policies/threshold.js';
import { matcher } from './published-policies.js';

const requiredBy = (expression: string, threshold?: number): Required => {
  const rule = compileRule(`cel:${expression}`, threshold);
  if (rule.kind === 'prose') throw new Error('prose');
  return rule.expression.required;
};

/** `a/b & c`: one of a and b, and c; what ignores case is marked with ~. */
const show = (required: Required): string =>
  required
    .map((clause) => clause.map(({ literal, ignoreCase }) => (ignoreCase ? '~' : '') + literal).join('/'))
    .join(' & ');

t.test('D29 what an expression requires of a text is read from its tree', async (t) => {
  const cases: readonly (readonly [string, string])[] = [
    ['text.contains("bomb")', 'bomb'],
    ['text.startsWith("Dear") && text.endsWith("Yours")', 'Yours & Dear'],
    ['text == "exactly"', 'exactly'],
    ['"exactly" == text', 'exactly'],
    ['text in ["one", "two"]', 'one/two'],
    ['text.contains("a") || text.contains("b")', 'a/b'],
    ['text.contains("a") || tokens > 3', ''],
    ['text.contains("a") && tokens > 3', 'a'],
    ['!text.contains("a")', ''],
    ['text.contains("")', ''],
    ['model.contains("a")', ''],
    ['text.contains(user)', ''],
    ['text.contains("abc") ? 0.9 : 0.1', 'abc'],
    ['text.contains("abc") ? 0.1 : 0.9', ''],
    ['text.contains("abc") ? text.contains("d") : text.contains("e")', 'abc/e'],
    ['["x", "y"].exists(w, text.contains(w))', 'x/y'],
    ['["x", "yy"].all(w, text.contains(w))', 'yy & x'],
    ['["x", user].exists(w, text.contains(w))', ''],
    ['terms.exists(text, text.contains("x"))', ''],
    ['["x"].exists(text, text.contains("zzz"))', ''],
    ['text.matches("pass(word|phrase)[0-9]")', 'pass & word/phrase'],
    ['text.matches("(?i)Password\\\\s")', '~password'],
    ['text.matches("(?i)stra\u00dfe")', ''],
    ['text.matches("colou?r|grey")', 'colo/grey'],
    ['text.matches("[0-9]+")', ''],
    ['text.matches("x*")', ''],
    ['text.contains("a") && (text.contains("b") || text.matches("c+"))', 'a & b/c'],
  ];
  for (const [expression, required] of cases) t.equal(show(requiredBy(expression)), required, expression);
  t.equal(
    show(requiredBy('text.contains("abc") ? 0.9 : 0.1', 1_000)),
    '',
    'a low threshold is met without it',
  );
  t.strictSame(requiredBy('false'), [[]], 'what can never match is never looked at');
});

const words = ['ab', 'b', 'Ka', 'x', 'sk'];
const quoted = fc.constantFrom(...words.map((word) => JSON.stringify(word)));
const condition = fc.letrec<{ node: string; leaf: string }>((tie) => ({
  leaf: fc.oneof(
    fc
      .tuple(fc.constantFrom('contains', 'startsWith', 'endsWith'), quoted)
      .map(([method, word]) => `text.${method}(${word})`),
    quoted.map((word) => `text == ${word}`),
    fc.tuple(quoted, quoted).map(([one, other]) => `text in [${one}, ${other}]`),
    fc
      .constantFrom('(?i)sk', 'a[bk]|x', '(?i)ka|ab', 'a+b', '\\\\bb', 'k?', '(?i)k$')
      .map((it) => `text.matches("${it}")`),
    fc.constantFrom('true', 'false', 'tokens > 5', 'terms[0] == "x"', 'user == text'),
    fc
      .tuple(fc.constantFrom('exists', 'all', 'exists_one'), fc.array(quoted, { maxLength: 3 }))
      .map(([macro, list]) => `[${list.join(', ')}].${macro}(w, text.contains(w))`),
  ),
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    tie('leaf'),
    fc.tuple(tie('node'), tie('node')).map(([one, other]) => `(${one} && ${other})`),
    fc.tuple(tie('node'), tie('node')).map(([one, other]) => `(${one} || ${other})`),
    tie('node').map((one) => `!(${one})`),
    fc.tuple(tie('node'), tie('node'), tie('node')).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
  ),
})).node;
const expression = fc.oneof(
  condition,
  fc
    .tuple(condition, fc.constantFrom('0.2', '0.57', '0.9'), fc.constantFrom('0.0', '0.5', '0.6'))
    .map(([c, a, b]) => `${c} ? ${a} : ${b}`),
);
const text = fc
  .array(fc.constantFrom(...words, ' ', 'A', '\u212a', '\u017f', 'K', 'a'), { maxLength: 5 })
  .map((parts) => parts.join(''));

t.test('D29 rules picked by their literals match exactly where all rules would', async (t) => {
  const input: RuleInput = {
    text: '',
    direction: 'request',
    model: 'claude-x',
    project_id: 'proj_app',
    endpoint: '/v1/messages',
    user: 'kim',
    categories: new Map(),
    terms: [],
    tokens: 10,
  };
  fc.assert(
    fc.property(
      fc.array(expression, { minLength: 1, maxLength: 5 }),
      fc.array(text, { minLength: 5, maxLength: 10 }),
      (expressions, texts) => {
        const usable = expressions.flatMap((source) => {
          try {
            const rule = compileRule(`cel:${source}`);
            return rule.kind === 'expression' ? [{ source, rule }] : [];
          } catch {
            return []; // fails its dry run
          }
        });
        const find = matcher(usable.map(({ source }) => `cel:${source}`));
        for (const one of texts) {
          const expected = usable.flatMap(({ rule }, index) => {
            try {
              return meetsThreshold(Number(rule.evaluate({ ...input, text: one })), 5_000) ? [index] : [];
            } catch {
              return []; // fails on this text
            }
          });
          if (String(find(one)) !== String(expected))
            throw new Error(`${JSON.stringify(usable)} on ${JSON.stringify(one)}: not ${String(expected)}`);
        }
      },
    ),
    { numRuns: 150 },
  );
  t.pass();
});
