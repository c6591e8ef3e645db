import t, { type Test } from 'tap';
import type { Ask, Heard } from '../../clients/scenarios.js';
import { formats, openDesk } from '../../support/review.js';
import type { Answer } from '../../support/upstreams/model.js';
import { AFTER, BEFORE, CARD, doors, houses, MAIL, rows } from './rows.js';
import { cuts } from './recut.js';

const PROMPT = 'Tell me something about gardens.';
const MODES = ['whole', 'raw', 'helper'];
const denied = rows.find(({ house }) => house === 'denying')!;
const TERM = /forbidden\s+fruit/i;

const tools: Ask['tools'] = [
  {
    name: 'send_mail',
    description: 'Sends a mail.',
    parameters: {
      type: 'object',
      properties: { to: { type: 'string' }, body: { type: 'string' } },
      required: ['to', 'body'],
      additionalProperties: false,
    },
  },
];
const call = (input: Record<string, unknown>): Partial<Answer> => ({
  text: 'I will send it. ',
  calls: [{ id: 'toolu_1', name: 'send_mail', input }],
});

const checkRefused = (t: Test, heard: Heard): void => {
  t.equal(heard.ending, 'refused');
  t.match(heard.refusal, /Output blocked by content filtering policy/);
  t.notMatch([heard.text, heard.reasoning, heard.refusal].join(), TERM);
  t.same(heard.calls, []);
};

for (const format of formats)
  t.test(`${doors[format]}: every place of an answer is read`, async (t) => {
    const { talker, client } = await openDesk(t, houses);
    const model = `on-${format}`;
    const ask: Ask = { prompt: PROMPT, effort: 'high', tools: [...tools] };

    for (const mode of MODES)
      for (const [size, cut] of mode === 'whole' ? cuts.slice(0, 1) : cuts) {
        const how = `[${mode}, deltas of ${size}]`;
        const send = async (house: string, line: Partial<Answer>) => {
          talker.says(line);
          talker.cuts(cut);
          return client(house, format).caller.begin(model, ask).send(mode);
        };

        await t.test(`D38 a denied term in the reasoning ends the answer ${how}`, async (t) => {
          const { heard, events } = await send('denying', { thinking: BEFORE + denied.bad, text: AFTER });
          checkRefused(t, heard);
          t.notMatch(JSON.stringify(events), 'the very last sentence');
        });

        await t.test(`D38 a denied term in a call ends the answer before the call ${how}`, async (t) => {
          const { heard, events } = await send('denying', call({ to: 'you', body: `A forbidden fruit.` }));
          checkRefused(t, heard);
          t.notMatch(JSON.stringify(events), 'send_mail');
        });

        await t.test(`D38 a denied term in the model's own refusal does not leave ${how}`, async (t) => {
          const { heard } = await send('denying', { refusal: `I know nothing of a ${denied.bad}` });
          checkRefused(t, heard);
        });

        await t.test(`D19 personal data in reasoning and calls is masked ${how}`, async (t) => {
          const { heard, events } = await send('redacting', {
            thinking: `They mean ${MAIL}.`,
            ...call({ to: MAIL, body: `Card ${CARD}, "quoted" \\ and 😀` }),
          });
          t.equal(heard.ending, 'tools');
          t.same(
            heard.calls.map(({ name, input }) => ({ name, input })),
            [{ name: 'send_mail', input: { to: '[EMAIL_1]', body: 'Card [CARD_1], "quoted" \\ and 😀' } }],
          );
          if (heard.reasoning !== null) t.equal(heard.reasoning, 'They mean [EMAIL_1].');
          t.equal(heard.text, 'I will send it. ');
          t.notMatch(JSON.stringify(events), MAIL);
        });
      }
  });

for (const format of formats)
  for (const upstream of formats.filter((each) => each !== format))
    t.test(`${doors[format]}: rules hold for an upstream of ${upstream}`, async (t) => {
      const { talker, client } = await openDesk(t, houses);
      const model = `on-${upstream}`;

      for (const mode of MODES)
        for (const [size, cut] of mode === 'whole' ? cuts.slice(0, 1) : [cuts[2]!, cuts[5]!]) {
          const how = `[${mode}, deltas of ${size}]`;
          for (const row of rows)
            await t.test(`D38 ${row.name} refuses an answer ${how}`, async (t) => {
              talker.says({ text: `${BEFORE}${row.bad}${AFTER}` });
              talker.cuts(cut);
              const { heard } = await client(row.house, format)
                .caller.begin(model, { prompt: PROMPT })
                .send(mode);
              t.equal(heard.ending, 'refused');
              t.match(heard.refusal, /Output blocked by content filtering policy/);
              t.notMatch(heard.text, 'the very last sentence');
              if (row.never) t.notMatch(heard.text, row.never);
            });

          await t.test(`D19 redaction masks both directions ${how}`, async (t) => {
            talker.forget();
            talker.says({ text: `${BEFORE}Write to ${MAIL}, card ${CARD}.${AFTER}` });
            talker.cuts(cut);
            const { caller } = client('redacting', format);
            const { heard } = await caller.begin(model, { prompt: `I am ${MAIL}.` }).send(mode);
            t.equal(talker.seen[0]?.asked.prompt, 'I am [EMAIL_1].');
            t.equal(heard.text, `${BEFORE}Write to [EMAIL_1], card [CARD_1].${AFTER}`);
            t.equal(heard.ending, 'stop');
          });

          await t.test(`D38 calls and reasoning are read ${how}`, async (t) => {
            const ask: Ask = { prompt: PROMPT, effort: 'high', tools: [...tools] };
            talker.cuts(cut);
            talker.says(call({ to: 'you', body: 'A forbidden fruit.' }));
            const stopped = await client('denying', format).caller.begin(model, ask).send(mode);
            checkRefused(t, stopped.heard);
            // A client of chat has no way to ask that upstream for its reasoning.
            if (format !== 'chat' || upstream !== 'responses') {
              talker.says({ thinking: denied.bad, text: AFTER });
              const silenced = await client('denying', format).caller.begin(model, ask).send(mode);
              checkRefused(t, silenced.heard);
            }
            talker.says({ refusal: denied.bad });
            const unsaid = await client('denying', format).caller.begin(model, ask).send(mode);
            checkRefused(t, unsaid.heard);
            talker.says(call({ to: MAIL, body: 'Hi' }));
            const { heard } = await client('redacting', format).caller.begin(model, ask).send(mode);
            t.match(heard, { ending: 'tools', calls: [{ input: { to: '[EMAIL_1]', body: 'Hi' } }] });
          });
        }
    });
