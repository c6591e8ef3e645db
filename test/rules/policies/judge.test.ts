import t from 'tap';
import { JudgeUnavailable, type Judge } from '../../../src/rules/policies/judge.js';
import { createLexicalJudge } from '../../../src/rules/policies/lexical-judge.js';
import { compilePublished } from '../../../src/rules/policies/published.js';
import { piece, published, subject } from './published-policies.js';

const { signal } = new AbortController();

const lexical = async (rule: string, text: string): Promise<number> => {
  const scores = await createLexicalJudge().score(
    [{ id: 'r', text: rule }],
    { text, direction: 'request' },
    signal,
  );
  return scores.get('r')!;
};

t.test('D29 the lexical judge scores what rule and text share', async (t) => {
  const medical = 'No medical advice, such as doses, drugs or diagnoses.';
  t.ok((await lexical(medical, 'What dose of ibuprofen is medical advice?')) > 0.5);
  t.ok((await lexical('No medical advice.', 'Give me MEDICAL advice, please')) > 0.9);
  t.ok((await lexical(medical, 'How do I sort a list in Python?')) < 0.05);
  t.ok(
    (await lexical(medical, 'Which drug, and at which dosage?')) > (await lexical(medical, 'Good advice')),
  );
  t.ok(
    (await lexical(
      'Asks for legal advice about a lawsuit.',
      'My neighbour filed lawsuits: any legal advice?',
    )) > 0.9,
  );
  t.equal(await lexical('Never mention "Project Zebra" anywhere.', 'What is project zebra?'), 1);
  t.ok((await lexical('Never mention "Project Zebra" anywhere.', 'a project of mine')) < 1);
  t.equal(await lexical('Do not do it.', 'do not do it'), 0, 'a rule without content matches nothing');
  t.equal(await lexical(medical, ''), 0);
});

t.test('D29 the lexical judge never scores less for more of the rule, and always the same', async (t) => {
  const rule = 'Questions on betting odds, casinos, poker or lotteries.';
  let [before, text] = [0, ''];
  for (const word of ['question', 'betting', 'odds', 'casino', 'poker', 'lottery']) {
    text += ` ${word}`;
    const score = await lexical(rule, text);
    t.ok(score > before, text);
    t.equal(await lexical(rule, text), score);
    before = score;
  }
  t.equal(before, 1);
});

const judging = (scores: Readonly<Record<string, number>>): Judge & { asked: number } => ({
  asked: 0,
  async score() {
    this.asked += 1;
    return new Map(Object.entries(scores));
  },
});

t.test('D29 all prose that applies is judged in one question, against each threshold', async (t) => {
  const [low, high, foreign] = [
    published('Low.', { thresholdBasisPoints: 3_000, createdAt: 2 }),
    published('High.', { thresholdBasisPoints: 9_000, createdAt: 1 }),
    published('Elsewhere.', { scope: 'projects', projectIds: ['proj_b'] }),
  ];
  const set = compilePublished([low, high, foreign, published('cel:true')]);
  const judge = judging({ [low.id]: 0.5, [high.id]: 0.5, [foreign.id]: 1 });
  const options = { signal, onJudgeError: 'closed' as const };
  t.match(await set.judgeProse(subject, piece('text'), judge, options), [
    { id: low.id, score: 0.5, matched: true },
  ]);
  t.equal(judge.asked, 1);
  await set.judgeProse(subject, piece('  '), judge, options);
  await compilePublished([foreign]).judgeProse(subject, piece('text'), judge, options);
  t.equal(judge.asked, 1, 'nothing to judge, or nothing to judge it by: no question');
});

t.test(
  'D29 without an answer an enforcing policy does what was declared, and the finding says so',
  async (t) => {
    const [enforcing, monitoring] = [
      published('One.', { createdAt: 1 }),
      published('Two.', { mode: 'monitoring' }),
    ];
    const set = compilePublished([enforcing, monitoring]);
    const failing: Judge = { score: () => Promise.reject(new JudgeUnavailable('away')) };
    const told: string[] = [];
    const judgeWith = (judge: Judge, onJudgeError: 'closed' | 'open') =>
      set.judgeProse(subject, piece('text'), judge, {
        signal,
        onJudgeError,
        onUnavailable: ({ message }) => told.push(message),
      });
    t.match(await judgeWith(failing, 'closed'), [
      { id: enforcing.id, score: 1, matched: true, fallback: true },
      { id: monitoring.id, score: 0, matched: false, fallback: true },
    ]);
    t.match(await judgeWith(failing, 'open'), [
      { id: enforcing.id, matched: false, fallback: true },
      { id: monitoring.id, matched: false, fallback: true },
    ]);
    t.strictSame(told, ['away', 'away']);
    const partial = judging({ [monitoring.id]: 0.9 });
    t.match(await judgeWith(partial, 'closed'), [
      { id: enforcing.id, matched: true, fallback: true },
      { id: monitoring.id, score: 0.9, matched: true },
    ]);
  },
);

t.test('D29 whoever left is not answered for', async (t) => {
  const set = compilePublished([published('One.')]);
  const controller = new AbortController();
  const judge: Judge = {
    score: async () => {
      controller.abort();
      throw new JudgeUnavailable('left');
    },
  };
  const options = { signal: controller.signal, onJudgeError: 'closed' as const };
  await t.rejects(set.judgeProse(subject, piece('text'), judge, options), { message: 'left' });
});
