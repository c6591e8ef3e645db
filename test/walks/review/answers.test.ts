import t, { type Test } from 'tap';
import type { Heard } from '../../clients/scenarios.js';
import { formats, openDesk } from '../../support/review.js';
import { AFTER, BEFORE, CARD, doors, houses, MAIL, rows, type Row } from './rows.js';
import { cuts } from './recut.js';
import { OUTPUT_TOKENS } from './talker.js';

const PROMPT = 'Tell me something about gardens.';

const checkRefused = (t: Test, heard: Heard, row: Row, about: string): void => {
  t.equal(heard.ending, 'refused', about);
  t.match(heard.refusal, /Output blocked by content filtering policy/, about);
  t.notMatch(heard.text, 'the very last sentence', about);
  if (row.never) t.notMatch(heard.text, row.never, about);
  t.ok(BEFORE.startsWith(heard.text) || `${BEFORE}${row.bad}${AFTER}`.startsWith(heard.text), about);
};

for (const format of formats)
  t.test(`${doors[format]}: what happens to answers`, async (t) => {
    const { talker, client, history } = await openDesk(t, houses);
    const model = `on-${format}`;

    for (const row of rows) {
      const text = `${BEFORE}${row.bad}${AFTER}`;
      const expected = {
        event_type: 'enforcement',
        decision: 'refuse',
        effective_decision: 'refuse',
        enforced: true,
        direction: 'response',
        matches: [{ ...row.match, direction: 'response', enforcing: true }],
      };

      await t.test(`D38 ${row.name} refuses an answer [whole]`, async (t) => {
        talker.says({ text });
        const { caller, sent } = client(row.house, format);
        const { heard } = await caller.begin(model, { prompt: PROMPT }).send('whole');
        checkRefused(t, heard, row, 'whole');
        t.equal(heard.text, '', 'nothing of it is given');
        t.equal(sent(), 1);
        t.equal(heard.usage?.output, OUTPUT_TOKENS, 'a whole answer costs what the upstream took');
        t.match((await history(row.house))[0], expected);
      });

      for (const mode of ['raw', 'helper'])
        for (const [size, cut] of cuts)
          await t.test(`D38 ${row.name} refuses an answer [${mode}, deltas of ${size}]`, async (t) => {
            talker.says({ text });
            talker.cuts(cut);
            const { caller, sent } = client(row.house, format);
            const { heard } = await caller.begin(model, { prompt: PROMPT }).send(mode);
            checkRefused(t, heard, row, mode);
            t.equal(sent(), 1);
            t.match((await history(row.house))[0], expected);
          });
    }

    for (const mode of ['whole', 'raw', 'helper'])
      for (const [size, cut] of mode === 'whole' ? cuts.slice(0, 1) : cuts)
        await t.test(`D19 redaction masks what the client gets [${mode}, deltas of ${size}]`, async (t) => {
          talker.says({ text: `${BEFORE}Write to ${MAIL}, card ${CARD}, or ${MAIL}.${AFTER}` });
          talker.cuts(cut);
          const { caller } = client('redacting', format);
          const { heard, events } = await caller.begin(model, { prompt: PROMPT }).send(mode);
          t.equal(heard.text, `${BEFORE}Write to [EMAIL_1], card [CARD_1], or [EMAIL_1].${AFTER}`);
          t.equal(heard.ending, 'stop');
          t.notMatch(JSON.stringify(events), MAIL);
          t.match((await history('redacting'))[0], {
            decision: 'allow',
            redactions: 3,
            matches: [
              { kind: 'redaction', name: 'email', direction: 'response' },
              { kind: 'redaction', name: 'card', direction: 'response' },
            ],
          });
        });
  });
