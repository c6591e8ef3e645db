import t from 'tap';
import type { Heard } from '../../clients/scenarios.js';
import { formats, openDesk } from '../../support/review.js';
import { AFTER, BEFORE, doors, houses, MAIL, rows } from './rows.js';
import { cutBy } from './recut.js';

const PROMPT = 'Tell me something about gardens.';

for (const stream of ['adaptive', 'hold', 'buffer', 'async'] as const)
  t.test(`D38 moderation.stream ${stream}: rules hold in a stream`, async (t) => {
    const { talker, client } = await openDesk(t, houses, { moderation: { stream } });
    talker.cuts(cutBy(7));
    for (const format of formats) {
      const send = async (house: string, text: string): Promise<Heard> => {
        talker.says({ text });
        const { caller } = client(house, format);
        return (await caller.begin(`on-${format}`, { prompt: PROMPT }).send('raw')).heard;
      };

      for (const row of rows)
        for (const [place, text] of [
          ['beginning', `${row.bad} ${BEFORE}${BEFORE}${AFTER}`],
          ['middle', `${BEFORE}${row.bad} ${BEFORE}${AFTER}`],
          ['end', `${BEFORE}${BEFORE}${row.bad}`],
        ] as const)
          await t.test(`${doors[format]} ${row.name}, at its ${place}`, async (t) => {
            const heard = await send(row.house, text);
            t.equal(heard.ending, 'refused');
            t.match(heard.refusal, /Output blocked by content filtering policy/);
            t.ok(text.startsWith(heard.text));
            if (stream !== 'async' && row.never) t.notMatch(heard.text, row.never);
            if (stream === 'buffer') t.equal(heard.text, '', 'nothing leaves before all is judged');
          });

      await t.test(`${doors[format]} a call is masked, and read by what it says`, async (t) => {
        const call = async (house: string, input: Record<string, unknown>): Promise<Heard> => {
          talker.says({ calls: [{ id: 'call_1', name: 'pay', input }] });
          const { caller } = client(house, format);
          return (await caller.begin(`on-${format}`, { prompt: PROMPT }).send('raw')).heard;
        };
        const heard = await call('redacting', { to: MAIL, card: 4111111111111111, [MAIL]: 1 });
        t.match(heard.calls, [{ input: { to: '[EMAIL_1]', card: '[CARD_1]', '[EMAIL_1]': 1 } }]);
        t.notMatch(JSON.stringify(heard), MAIL);
        // Without a hold part of the call has left by then, which not every library reads.
        if (stream !== 'async') t.equal((await call('denying', { q: 'forbidden\nfruit' })).ending, 'refused');
      });

      await t.test(`${doors[format]} data is masked, and nothing else is changed`, async (t) => {
        const heard = await send('redacting', `${MAIL} ${BEFORE}${MAIL} ${BEFORE}${MAIL}`);
        t.match(heard, { ending: 'stop', text: `[EMAIL_1] ${BEFORE}[EMAIL_1] ${BEFORE}[EMAIL_1]` });
        t.match(await send('prose', BEFORE + AFTER), { ending: 'stop', text: BEFORE + AFTER });
      });
    }
  });
