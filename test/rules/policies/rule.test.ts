import fc from 'fast-check';
import t from 'tap';
import type { RuleInput } from '../../../src/rules/policies/expression.js';
import { compileRule } from '../../../src/rules/policies/rule.js';

const input: RuleInput = {
  text: 'My card is 4111 1111.',
  direction: 'request',
  model: 'claude-x',
  project_id: 'proj_app',
  endpoint: '/v1/messages',
  user: 'kim',
  categories: new Map([['hate', 0.7]]),
  terms: ['card'],
  tokens: 12,
};

const judge = (rule: string): boolean | number => {
  const compiled = compileRule(rule);
  if (compiled.kind === 'prose') throw new Error('prose');
  return compiled.evaluate(input);
};

const faultOf = (expression: string): string => {
  try {
    compileRule(`cel:${expression}`);
  } catch (error) {
    const { code, param, message } = error as { code: string; param: string; message: string };
    if (code !== 'invalid_parameter' || param !== 'rule') throw error;
    return message;
  }
  return 'none';
};

t.test('D29 what does not begin with cel: is prose, whatever it looks like', async (t) => {
  for (const rule of ['No insults.', 'CEL: x', ' cel:nope', 'celery', 'text.contains("x")', '('])
    t.same(compileRule(rule), { kind: 'prose', text: rule });
});

t.test('D29 an expression reads every variable and gives a bool or a double', async (t) => {
  const cases: readonly (readonly [string, boolean | number])[] = [
    ['text.contains("card") && direction == "request"', true],
    ['model.startsWith("claude") && project_id == "proj_app"', true],
    ['endpoint == "/v1/messages" && user == "kim"', true],
    ['categories["hate"]', 0.7],
    ['categories.hate > 0.5 ? 0.9 : 0.1', 0.9],
    ['"violence" in categories', false],
    ['terms.exists(term, term == "card")', true],
    ['tokens > 11 && tokens < 13', true],
    ['text.matches("[0-9]{4} [0-9]{4}")', true],
    ['size(terms) == 1 && terms == ["card"] && "card" in terms', true],
    ['["zebra", "card"].filter(word, text.contains(word)).size() == 1', true],
    ['text.matches("(a+)+$")', false],
    ['\n  // told apart by lines\n  true', true],
  ];
  for (const [expression, result] of cases) t.equal(judge(`cel:${expression}`), result, expression);
});

t.test('D29 what is wrong is told with its place in the rule', async (t) => {
  t.match(faultOf('text =='), /^rule: line 1, column \d+: found /);
  t.equal(faultOf('true &&\n  nope'), 'rule: line 2, column 3: unknown name nope.');
  t.equal(faultOf('true || shout(text)'), 'rule: line 1, column 13: unknown function shout.');
  t.match(faultOf('false && text.matches("(")'), /line 1, column \d+: error parsing regexp/);
  t.match(faultOf('text > 3'), /^rule: line 1, column \d+: /, 'a dry run finds what parsing does not');
  for (const expression of ['tokens', 'text', 'terms', 'null', '{"a": 1.0}', 'type(text)'])
    t.equal(faultOf(expression), 'rule: must give a bool or a double.', expression);
  t.match(faultOf(''), /^rule: line 1, column 5: found end of input/);
  t.match(faultOf('google.protobuf.Duration{seconds: 1} == duration("1s")'), /messages cannot be made here/);
  t.match(faultOf('@spend(text, 1)'), /line 1/, 'the gateway keeps its own functions to itself');
});

t.test('D29 evil expressions end quickly: in a result, or in a refusal that says why', async (t) => {
  const ones = (count: number): string => Array.from({ length: count }, () => '1').join(',');
  const deep = /nests too deep/;
  const long = /takes too many steps/;
  t.match(faultOf('('.repeat(9_990) + '1' + ')'.repeat(9_990)), deep);
  t.match(faultOf('['.repeat(9_990) + ']'.repeat(9_990)), deep);
  t.match(faultOf(`text${'.b'.repeat(9_000)}`), deep);
  t.match(faultOf(`${Array.from({ length: 6_000 }, () => '1').join('+')} > 1`), deep);
  t.equal(faultOf(`${'!'.repeat(19_000)}true`), 'none');
  t.match(faultOf(`[${ones(4_000)}].all(x, [${ones(4_000)}].all(y, x == y))`), long);
  t.match(faultOf(`[${ones(4_000)}].all(x, x in [${ones(4_000)}])`), long);
  t.match(faultOf(`[[${ones(4_000)}]].all(x, [${ones(3_000)}].all(y, x == x))`), long);
  t.match(faultOf(`[[1, 2]]${'.map(x, x + x)'.repeat(60)}.size() > 1`), long);
  t.match(faultOf(`["ab"]${'.map(x, x + x)'.repeat(60)}.size() > 1`), long);
  t.match(faultOf('text.matches("((a{1000}){1000}){1000}")'), /the pattern is too large/);
  t.equal(faultOf(`text.matches("${'(a|b)*'.repeat(1_000)}")`), 'none');
});

t.test('D29 whatever is sent, the answer is a compiled rule or a 422', async (t) => {
  const words =
    'text terms matches all map has( x 1 1.0 null true type int in && == + - ! ? : , . ( ) [ ] { } @ r" b" """';
  const pieces = [...words.split(' '), '"', "'", '`', '\\', ' ', '\n', '\0', '\ud800', '\u{1f600}'];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 12 }), (parts) => {
      faultOf(parts.join(''));
    }),
    { numRuns: 2_000 },
  );
  t.match(faultOf('text.matches("\ud800")'), /^none$|^rule: /);
});

t.test('D29 a pattern that would backtrack for ever elsewhere stays linear here', async (t) => {
  const compiled = compileRule('cel:text.matches("^(a+)+$")');
  if (compiled.kind === 'prose') throw new Error('prose');
  t.equal(compiled.evaluate({ ...input, text: `${'a'.repeat(5_000)}b` }), false);
});

t.test('D29 what fails on real input throws, and the next evaluation has its whole budget', async (t) => {
  const compiled = compileRule('cel:terms[0] == "card"');
  if (compiled.kind === 'prose') throw new Error('prose');
  t.throws(() => compiled.evaluate({ ...input, terms: [] }), { name: 'ExpressionFault' });
  t.equal(compiled.evaluate(input), true);
});
