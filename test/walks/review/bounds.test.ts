import t, { type Test } from 'tap';
import { until } from '../../support/gateway.js';
import { openDistantDesk, type DistantDesk as Desk, type House, type Refused } from '../../support/review.js';

const body = (content: string) => ({
  model: 'on-messages',
  max_tokens: 50,
  messages: [{ role: 'user', content }],
});

const statusOf = async ({ ask }: Desk, content: string): Promise<number> => {
  const reply = await ask('house', '/v1/messages', body(content));
  await reply.arrayBuffer();
  return reply.status;
};

/** How long the gateway's loop was held up at most meanwhile: told, never asserted, for machines differ. */
const watchLoop = async <T>(t: Test, desk: Desk, what: string, run: () => Promise<T>): Promise<T> => {
  await desk.heldMs();
  const startedMs = performance.now();
  const result = await run();
  const tookMs = performance.now() - startedMs;
  t.comment(
    `${what}: ${tookMs.toFixed(0)} ms, its loop held up for ${(await desk.heldMs()).toFixed(0)} ms at most`,
  );
  return result;
};

/** Small requests, one after the other, until something else is done; gives how many were answered. */
const meanwhile = async (desk: Desk, work: Promise<unknown>): Promise<number> => {
  let [answered, isDone] = [0, false];
  const done = work.finally(() => (isDone = true));
  while (!isDone) if ((await statusOf(desk, 'Hello.')) === 200) answered++;
  await done;
  return answered;
};

const publish = async ({ administer }: Desk, rule: string): Promise<void> => {
  const path = '/v1/organization/policies';
  const made = await administer('house', 'POST', path, { name: 'rule', rule, mode: 'enforcing' });
  await administer('house', 'POST', `${path}/${String(made['id'])}/publish`, { revision: made['revision'] });
};

const open = (t: Test, house: House = {}): Promise<Desk> => openDistantDesk(t, { house });

const EVIL: readonly (readonly [pattern: string, good: string, bad: string])[] = [
  ['(a+)+$', 'xaaa', `${'a'.repeat(50_000)}!`],
  ['(a|aa)+$', 'xaaa', `${'a'.repeat(50_000)}!`],
  ['(a|a?)+b$', 'aab', `${'a'.repeat(50_000)}!`],
  ['^(([a-z])+.)+[A-Z]([a-z])+$', 'abc.Abc', `${'a'.repeat(50_000)}!`],
  ['(.*a){12}$', 'a'.repeat(12), `${'a'.repeat(50_000)}!`],
  ['^(\\\\d+)*x$', '123x', `${'1'.repeat(50_000)}!`],
];

t.test('D29 patterns that ruin other engines are taken, hold, and hold nobody up', async (t) => {
  for (const [pattern, good, bad] of EVIL)
    await t.test(pattern, async (t) => {
      const desk = await open(t);
      await watchLoop(t, desk, `publishing ${pattern}`, () =>
        publish(desk, `cel: text.matches("${pattern}")`),
      );
      t.equal(await statusOf(desk, good), 400, 'it matches what it should');
      const work = statusOf(desk, bad);
      const answered = await watchLoop(t, desk, `reading 50,000 characters`, () => meanwhile(desk, work));
      t.equal(await work, 200);
      t.comment(`${answered} other requests were answered meanwhile`);
    });
});

t.test('4.2 a rule of 20,000 characters acts; a longer one is a 422', async (t) => {
  const desk = await open(t);
  const words = Array.from({ length: 2_500 }, (_, i) => `word${i}`);
  const alternation = `cel: text.matches("(?:${words.join('|')})x")`.slice(0, 19_990);
  const rule = `${alternation.slice(0, alternation.lastIndexOf('|'))})x")`.padEnd(20_000);
  t.equal(rule.length, 20_000);
  await watchLoop(t, desk, 'publishing 20,000 characters', () => publish(desk, rule));
  t.equal(await statusOf(desk, 'This is word1700x here.'), 400);
  t.equal(await statusOf(desk, 'This is word1700 here.'), 200);
  const prose = `Nobody may speak of "operation bluebird". ${'Other words. '.repeat(2_000)}`.slice(0, 20_000);
  await watchLoop(t, desk, 'publishing 20,000 characters of prose', () => publish(desk, prose));
  t.equal(await statusOf(desk, 'About operation bluebird.'), 400);

  const longer = publish(desk, `${rule} `).catch((error: unknown) => error as Refused);
  t.match(await longer, { status: 422, json: { error: { code: 'invalid_parameter', param: 'rule' } } });
});

t.test('D19 100,000 terms act; what is beyond the bounds is a 422', async (t) => {
  const desk = await open(t);
  const terms = Array.from({ length: 100_000 }, (_, i) => `term number ${i.toString(36)} of them`);
  terms[77_777] = 'x'.repeat(200);
  const save = async (denylist: readonly string[]) => {
    const reply = await desk.ask('house', '/api/policy-gateway/config', { config: { rules: { denylist } } });
    return { status: reply.status, json: await reply.json() };
  };
  const work = watchLoop(t, desk, 'saving 100,000 terms', async () => {
    const saved = await save(terms);
    t.equal(saved.status, 200);
    await until(async () => (await statusOf(desk, `A ${terms[99_999]!.toUpperCase()}.`)) === 400, 'they act');
  });
  t.ok((await meanwhile(desk, work)) > 0, 'others are answered meanwhile');
  t.equal(await statusOf(desk, `So ${terms[77_777]} there.`), 400);
  t.equal(await statusOf(desk, 'A term number of them.'), 200);
  for (const [name, denylist] of [
    ['one more', [...terms, 'one more']],
    ['a longer one', ['x'.repeat(201)]],
    ['a blank one', [' ']],
  ] as const) {
    const { status, json } = await save(denylist);
    t.equal(status, 422, name);
    t.match(json, { error: { code: 'invalid_parameter', param: /^config\.rules\.denylist/ } });
  }
  t.equal(await statusOf(desk, `A ${terms[99_999]!}.`), 400, 'what was refused changed nothing');
});

const PROMPT_CHARACTERS = 1_000_000;
const everyRule: House = {
  gateway: { rules: { denylist: ['zorkmid', 'forbidden fruit'], redact: true } },
  policies: [
    { rule: 'cel: text.matches("(?i)code\\\\s+word\\\\s+[a-z]{3,8}") || text.contains("no such thing")' },
    { rule: 'Nobody may speak of "operation bluebird".' },
  ],
};

t.test('D31 a prompt of a megabyte is read in slices: others are answered meanwhile', async (t) => {
  const desk = await open(t, everyRule);
  const filler = 'The garden lies behind the house, and in the morning the sun comes over the wall. ';
  const long = filler.repeat(Math.ceil(PROMPT_CHARACTERS / filler.length));
  for (const [name, ending, status] of [
    ['nothing in it', '', 200],
    ['a denied term at its end', ' zorkmid', 400],
    ['what an expression matches at its end', ' code word alpha', 400],
    ['what prose forbids at its end', ' operation bluebird', 400],
  ] as const)
    await t.test(name, async (t) => {
      const work = statusOf(desk, long + ending);
      const answered = await watchLoop(t, desk, 'reading a megabyte', () => meanwhile(desk, work));
      t.equal(await work, status);
      t.ok(answered > 0, `${answered} other requests were answered meanwhile`);
    });

  await t.test('a whole answer of a megabyte', async (t) => {
    desk.talker.says(({ prompt }) => ({ text: prompt === 'Go.' ? `${long} zorkmid` : 'Fine.' }));
    const work = desk.ask('house', '/v1/messages', body('Go.')).then((reply) => reply.json());
    const answered = await watchLoop(t, desk, 'reading an answer of a megabyte', () => meanwhile(desk, work));
    t.match(await work, { stop_reason: 'refusal', content: [] });
    t.ok(answered > 0, `${answered} other requests were answered meanwhile`);
  });
});
