import t from 'tap';
import { createRuleCompiler } from '../../../src/rules/policies/compiler.js';
import { compilePublished, compilePublishedSlowly } from '../../../src/rules/policies/published.js';
import { compileRule } from '../../../src/rules/policies/rule.js';
import { piece, published, subject } from './published-policies.js';

const fill = (part: (n: number) => string, joint: string): string => {
  const parts: string[] = [];
  for (let length = 0, n = 0; ; n++) {
    const next = part(n);
    length += next.length + joint.length;
    if (length > 19_900) return parts.join(joint);
    parts.push(next);
  }
};
const word = (n: number): string => `w${((n * 2_654_435_761) >>> 0).toString(36)}`;

/** Rules of 20,000 characters, each large in another way. */
const large: Readonly<Record<string, string>> = {
  chain: fill((n) => `text.contains("${word(n)}")`, ' || '),
  literal: `text.contains("${'long '.repeat(3_960)}")`,
  alternation: `text.matches("${fill(word, '|')}")`,
  patterns: fill((n) => `text.matches("(?i)\\\\b${word(n)}\\\\b")`, ' || '),
  stars: `text.matches("${'(a|b)*'.repeat(3_300)}c")`,
};

t.test('D29 rules of 20,000 characters compile beside the loop, to what they would be on it', async (t) => {
  const compiler = createRuleCompiler();
  t.teardown(() => compiler.close());
  for (const [shape, source] of Object.entries(large)) {
    t.ok(source.length > 19_000 && source.length < 20_000, shape);
    let turns = 0;
    const ticking = setInterval(() => (turns += 1), 1);
    const policy = published(`cel:${source}`);
    const slowly = await compilePublishedSlowly([policy], compiler);
    clearInterval(ticking);
    t.ok(turns > 1, `${shape}: the loop went on turning`);
    const atOnce = compilePublished([policy]);
    for (const text of [
      word(3),
      `a ${word(500).toUpperCase()} b`,
      'abc',
      'long '.repeat(4_000),
      'nothing of it',
    ])
      t.strictSame(
        slowly.evaluate(subject, piece(text)),
        atOnce.evaluate(subject, piece(text)),
        `${shape}: ${text.slice(0, 20)}`,
      );
  }
});

t.test('D29 what is wrong with a rule is told the same from beside the loop', async (t) => {
  const compiler = createRuleCompiler();
  t.teardown(() => compiler.close());
  const filler = ' '.repeat(2_000);
  for (const source of [
    `true &&\n nope${filler}`,
    `text ==${filler}`,
    `text.matches("(")${filler}`,
    `tokens${filler}`,
  ]) {
    let told: unknown;
    try {
      compileRule(`cel:${source}`);
    } catch (error) {
      told = error;
    }
    const { message, code } = told as { message: string; code: string };
    await t.rejects(compiler.check(`cel:${source}`), { message, code, status: 422, param: 'rule' });
  }
  await compiler.check('cel:true');
  await compiler.check('Prose of any kind.');
});

t.test('D29 a pattern that multiplies beyond the bound is a 422, however short it is', async (t) => {
  const compiler = createRuleCompiler();
  t.teardown(() => compiler.close());
  for (const pattern of ['((a{1000}){1000}){1000}', 'a{1000}'.repeat(2_800), '\\\\pL\\\\PL'.repeat(300)])
    await t.rejects(compiler.check(`cel:text.matches("${pattern}")`), {
      status: 422,
      message: /the pattern is too large/,
    });
});

t.test('D29 a compiler that is closed ends what waits, and its thread', async (t) => {
  const compiler = createRuleCompiler();
  const waiting = compiler.check(`cel:${large.chain!}`);
  const next = compiler.check(`cel:${large.patterns!}`);
  const ended = Promise.all([
    t.rejects(waiting, { message: /closed/ }),
    t.rejects(next, { message: /closed/ }),
  ]);
  await compiler.close();
  await ended;
  await t.rejects(compiler.check(`cel:${large.chain!}`), { message: /closed/ });
});
