import t from 'tap';
import type { DialectName } from '../../../src/dialects/dialect.js';
import { formats, openDesk, type House } from '../../support/review.js';
import { BEFORE, doors, thrownBy } from './rows.js';
import { cutBy } from './recut.js';
import { INPUT_TOKENS, OUTPUT_TOKENS } from './talker.js';

const modeHouse = (mode: string, more: object = {}): House => ({
  gateway: {
    rules: { denylist: ['zorkmid'] },
    refusal_replacement: { mode, escalation_path: 'ask board@example.net' },
    ...more,
  },
});

const houses: Readonly<Record<string, House>> = {
  refuse: modeHouse('refuse'),
  escalate: modeHouse('escalate'),
  rewrite: modeHouse('rewrite'),
  summary: modeHouse('summarize'),
  softened: { gateway: { rules: { denylist: ['zorkmid'], rewrite_instead_of_refuse: true } } },
  flagged: {
    gateway: { rules: { flagged_categories: ['harassment'] }, refusal_replacement: { mode: 'rewrite' } },
  },
};

const INSTRUCTIONS = {
  rewrite: /answer safely/,
  softened: /answer safely/,
  summary: /only at a high level/,
} as const;
const MODES = ['whole', 'raw', 'helper'] as const;
const WITHHELD = /The rest of this answer was withheld/;
const BAD = 'One zorkmid for you.';
const GOOD = 'A better answer.';
const ask = (prompt: string) => ({ prompt, system: 'Be brief.' });

for (const format of formats)
  t.test(`${doors[format]}: the table of decisions`, async (t) => {
    const { talker, client, history } = await openDesk(t, houses);
    talker.cuts(cutBy(5));
    const send = (house: string, prompt: string, mode: string, model: DialectName = format) =>
      client(house, format).caller.begin(`on-${model}`, ask(prompt)).send(mode);

    for (const mode of MODES) {
      await t.test(`D18 allow: nothing is said about it [${mode}]`, async (t) => {
        talker.says({ text: GOOD });
        const { heard } = await send('refuse', `Nothing to see ${mode}.`, mode);
        t.match(heard, { text: GOOD, ending: 'stop' });
        t.match((await history('refuse'))[0], {
          decision: 'allow',
          effective_decision: 'allow',
          reason_code: 'ALLOW',
          matches: [],
        });
      });

      for (const [house, instruction] of Object.entries(INSTRUCTIONS)) {
        const decision = house === 'softened' ? 'rewrite' : house;
        await t.test(`D18 ${house}: a request is forwarded with its instruction [${mode}]`, async (t) => {
          talker.forget();
          talker.says({ text: GOOD });
          const { heard } = await send(house, `${BAD} ${mode}`, mode);
          t.match(heard, { text: GOOD, ending: 'stop' });
          t.equal(talker.seen.length, 1);
          t.match(talker.seen[0]?.asked.system, /^Be brief\./);
          t.match(talker.seen[0]?.asked.system, instruction);
          t.match((await history(house))[0], {
            decision,
            effective_decision: decision,
            reason_code: decision.toUpperCase(),
            direction: 'request',
          });
        });

        await t.test(`D18 ${house}: an answer not yet sent is asked for once more [${mode}]`, async (t) => {
          talker.forget();
          talker.says({ text: BAD }, { text: GOOD });
          const { heard } = await send(house, `Hello ${mode}.`, mode);
          t.match(heard, { text: GOOD, ending: 'stop' });
          t.equal(talker.seen.length, 2);
          t.notMatch(talker.seen[0]?.asked.system, instruction);
          t.match(talker.seen[1]?.asked.system, instruction);
          const [event] = await history(house);
          t.match(event, { decision, effective_decision: decision, direction: 'response', denylist_hits: 1 });
          const usage = event?.['usage'] as Record<string, number>;
          t.ok(usage['input_tokens']! > INPUT_TOKENS, 'both questions are charged');
          // Of the first stream nothing was delivered; one format counts a token with its very beginning.
          const first = mode === 'whole' ? OUTPUT_TOKENS : format === 'messages' ? 1 : 0;
          t.equal(usage['output_tokens'], first + OUTPUT_TOKENS);
          t.ok(usage['credits']! > 0);
          if (heard.credits !== undefined) t.equal(heard.credits, usage['credits']);
        });

        await t.test(`D18 ${house}: a second bad answer is refused [${mode}]`, async (t) => {
          talker.forget();
          talker.says({ text: BAD });
          const { heard } = await send(house, `Hello ${mode}.`, mode);
          t.equal(heard.ending, 'refused');
          t.match(heard.text, WITHHELD);
          t.notMatch(heard.text, 'zorkmid');
          t.match(heard.refusal, /Output blocked by content filtering policy/);
          t.equal(talker.seen.length, 2, 'and there is no third');
          t.equal((await history(house))[0]?.['denylist_hits'], 1);
        });
      }

      await t.test(`D18 rewrite: also where formats differ [${mode}]`, async (t) => {
        for (const other of formats.filter((each) => each !== format)) {
          talker.forget();
          talker.says({ text: BAD }, { text: GOOD });
          const { heard } = await send('rewrite', `Hello ${mode} ${other}.`, mode, other);
          t.match(heard, { text: GOOD, ending: 'stop' }, other);
          t.match(talker.seen[1]?.asked.system, INSTRUCTIONS.rewrite);
          talker.says({ text: BEFORE + BAD });
          const late = await send('rewrite', `Hello again ${mode} ${other}.`, mode, other);
          t.match(late.heard, { ending: 'refused', text: WITHHELD }, other);
        }
      });

      await t.test(`D18 escalate: whom to ask is told, on both sides [${mode}]`, async (t) => {
        const thrown = await thrownBy(() => send('escalate', `${BAD} ${mode}`, mode));
        t.match(thrown, {
          status: 400,
          message: /content filtering policy.*To have this reviewed: ask board@/,
        });
        t.equal(thrown.headers?.get('x-policy-decision'), 'escalate');
        t.match((await history('escalate'))[0], { decision: 'escalate', reason_code: 'ESCALATE' });
        talker.says({ text: BEFORE + BAD });
        const { heard } = await send('escalate', `Hello ${mode}.`, mode);
        t.match(heard, { ending: 'refused', refusal: /To have this reviewed: ask board@example\.net/ });
        t.notMatch(heard.text, 'zorkmid');
        t.match((await history('escalate'))[0], { decision: 'escalate', direction: 'response' });
      });

      await t.test(`D18 refuse: neither side goes on [${mode}]`, async (t) => {
        t.match(await thrownBy(() => send('refuse', `${BAD} ${mode}`, mode)), { status: 400 });
        talker.forget();
        talker.says({ text: BAD });
        const { heard } = await send('refuse', `Hello ${mode}.`, mode);
        t.match(heard, { ending: 'refused', refusal: /content filtering policy/ });
        t.notMatch(heard.text, WITHHELD);
        t.equal(talker.seen.length, 1, 'it is not asked for again');
      });

      await t.test(`D18 a bad prompt that is rewritten does not taint its answer [${mode}]`, async (t) => {
        talker.forget();
        talker.says({ text: 'No.' });
        const { heard } = await send('flagged', `You idiot, nobody likes you, you moron. ${mode}`, mode);
        t.match(heard, { text: 'No.', ending: 'stop' });
        t.equal(talker.seen.length, 1);
      });
    }

    for (const mode of ['raw', 'helper'])
      await t.test(`D18 rewrite: what was cleared but has not left is not sent [${mode}]`, async (t) => {
        for (const upstream of formats) {
          talker.forget();
          talker.cuts(cutBy(24));
          talker.says({ text: 'Take one of these, a zorkmid.' }, { text: GOOD });
          const { heard } = await send('rewrite', `Hello ${mode} ${upstream}.`, mode, upstream);
          t.match(heard, { text: GOOD, ending: 'stop' }, upstream);
          t.equal(talker.seen.length, 2);
        }
        talker.cuts(cutBy(5));
      });

    for (const mode of ['raw', 'helper'])
      for (const house of ['rewrite', 'summary'])
        await t.test(`D18 ${house}: what streams already ends with a notice [${mode}]`, async (t) => {
          talker.forget();
          talker.says({ text: `${BEFORE}${BAD}` });
          const { heard } = await send(house, `Hello ${mode}.`, mode);
          t.equal(heard.ending, 'refused');
          t.match(heard.text, WITHHELD);
          t.ok(heard.text.startsWith(BEFORE.slice(0, 200)));
          t.notMatch(heard.text, 'zorkmid');
          t.equal(talker.seen.length, 1, 'nothing is asked again');
        });
  });
