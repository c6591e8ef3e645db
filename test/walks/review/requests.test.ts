import t from 'tap';
import { formats, openDesk } from '../../support/review.js';
import { BEFORE, CARD, doors, houses, MAIL, rows, thrownBy } from './rows.js';

const MODES = ['whole', 'raw', 'helper'] as const;

for (const format of formats)
  t.test(`${doors[format]}: what happens to requests`, async (t) => {
    const { talker, client, history } = await openDesk(t, houses);
    const model = `on-${format}`;

    for (const row of rows)
      for (const mode of MODES)
        await t.test(`D38 ${row.name} refuses a request [${mode}]`, async (t) => {
          talker.forget();
          const { caller, sent } = client(row.house, format);
          const prompt = `${BEFORE}${row.bad} ${mode}`;
          const thrown = await thrownBy(() => caller.begin(model, { prompt }).send(mode));
          t.equal(thrown.status, 400, thrown.message);
          t.match(thrown.message, /Output blocked by content filtering policy/);
          t.equal(thrown.headers?.get('x-policy-decision'), 'refuse');
          t.equal(thrown.headers?.get('x-error-code'), row.code);
          t.equal(sent(), 1, 'the library does not repeat it');
          t.equal(talker.seen.length, 0, 'the upstream never hears of it');
          const [event] = await history(row.house);
          t.match(event, {
            event_type: 'enforcement',
            decision: 'refuse',
            effective_decision: 'refuse',
            enforced: true,
            direction: 'request',
            usage: null,
            matches: [{ ...row.match, direction: 'request', enforcing: true }],
          });
        });

    for (const mode of MODES) {
      await t.test(`D19 the allowlist refuses what names none of its terms [${mode}]`, async (t) => {
        talker.forget();
        const { caller, sent } = client('listing', format);
        const ask = { prompt: `Tell me about gardens ${mode}.`, system: 'You know about insurance.' };
        const thrown = await thrownBy(() => caller.begin(model, ask).send(mode));
        t.match(thrown, { status: 400, message: /Output blocked by content filtering policy/ });
        t.equal(sent(), 1);
        t.equal(talker.seen.length, 0);
        t.match((await history('listing'))[0], {
          decision: 'refuse',
          allowlist_hits: 0,
          matches: [{ kind: 'allowlist', name: 'no_listed_term' }],
        });
      });

      await t.test(`D19 the allowlist lets pass what names one [${mode}]`, async (t) => {
        const { caller } = client('listing', format);
        talker.says({ text: 'It depends on gardens.' });
        const ask = { prompt: `My INSURANCE, please ${mode}.` };
        const { heard } = await caller.begin(model, ask).send(mode);
        t.match(heard, { text: 'It depends on gardens.', ending: 'stop' });
        t.match((await history('listing'))[0], { decision: 'allow', allowlist_hits: 1 });
      });

      await t.test(`D19 redaction masks what the upstream gets [${mode}]`, async (t) => {
        talker.forget();
        talker.says({ text: 'I have noted it.' });
        const { caller } = client('redacting', format);
        const ask = { prompt: `Write to ${MAIL} about ${CARD}, then ${MAIL} again.`, system: `Be ${MAIL}.` };
        const { heard } = await caller.begin(model, ask).send(mode);
        t.match(heard, { text: 'I have noted it.', ending: 'stop' });
        t.match(talker.seen[0]?.asked, {
          prompt: 'Write to [EMAIL_1] about [CARD_1], then [EMAIL_1] again.',
          system: 'Be [EMAIL_1].',
        });
        t.notMatch(talker.seen[0]?.body, MAIL);
        t.match((await history('redacting'))[0], { decision: 'allow', redactions: 4 });
      });
    }
  });
