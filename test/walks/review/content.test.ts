import t from 'tap';
import { formats, openDesk, type Json } from '../../support/review.js';
import { BEFORE, doors, houses, MAIL, rows } from './rows.js';

const SECRET = 'sk-ant-api03-Zq8Xv2Lw9Rt4Yp6Ks1Dm3Nb5Hc7Jf0GaQeUiOxTzWyVrBnMl';
const PROMPT = `Write to ${MAIL} about gardens.`;
const MASKED = 'Write to [EMAIL_1] about gardens.';
const keeping = { audit: { capture_content: true, spool: { path: ':memory:' } } };
const all = { ...houses, plain: {} };

interface Content {
  readonly request: readonly Json[];
  readonly response: readonly Json[];
}

t.test('D28 content is kept where it is asked for', async (t) => {
  const { talker, client, ask, history, administer } = await openDesk(t, all, keeping);
  const latest = async (house: string): Promise<Content> => (await history(house))[0]!['content'] as Content;

  for (const format of formats)
    for (const mode of ['whole', 'raw'])
      await t.test(`D28 ${doors[format]}: both sides are in the event, masked [${mode}]`, async (t) => {
        talker.says({ text: `Done, ${MAIL} was told. The key is ${SECRET}.` });
        const { heard } = await client('plain', format)
          .caller.begin(`on-${format}`, { prompt: PROMPT })
          .send(mode);
        t.match(heard.text, MAIL, 'the client gets what nobody asked to be masked');
        const content = await latest('plain');
        t.match(content.request.at(-1), { role: 'user', text: MASKED, at: /^(messages|input)/ });
        t.match(content.response, [
          { attempt: 1, kind: 'text', text: /^Done, \[EMAIL_1\] was told\. The key is \[/ },
        ]);
        t.notMatch(JSON.stringify(content), MAIL);
        t.notMatch(JSON.stringify(content), SECRET);
      });

  t.test('D28 calls of tools are kept as the JSON they are, with their name', async (t) => {
    talker.says({ calls: [{ id: 'call_1', name: 'send_mail', input: { to: MAIL } }] });
    await ask('plain', '/v1/chat/completions', {
      model: 'on-chat',
      messages: [{ role: 'user', content: 'Send it.' }],
      tools: [{ type: 'function', function: { name: 'send_mail', parameters: { type: 'object' } } }],
    });
    t.match((await latest('plain')).response, [
      { attempt: 1, kind: 'tool', name: 'send_mail', text: '{"to":"[EMAIL_1]"}' },
    ]);
  });

  t.test(
    'D28 a refused request is kept with what made it refused, an answer up to where it was stopped',
    async (t) => {
      const row = rows[0]!;
      talker.says({ text: 'All is well.' });
      for (const times of [1, 2]) {
        await ask(row.house, '/v1/messages', {
          model: 'on-messages',
          max_tokens: 100,
          messages: [{ role: 'user', content: row.bad }],
        });
        t.match((await latest(row.house)).request, [{ text: row.bad }], `refused ${times} times`);
      }
      talker.says({ text: `${BEFORE}${row.bad}` });
      const { heard } = await client(row.house, 'messages')
        .caller.begin('on-messages', { prompt: 'Hi' })
        .send('raw');
      t.equal(heard.ending, 'refused');
      const [said] = (await latest(row.house)).response;
      t.match(said, { attempt: 1, kind: 'text', text: row.bad.slice(0, 10) });
    },
  );

  t.test('D28 an answer that was asked for twice is kept twice', async (t) => {
    await administer('plain', 'POST', '/api/policy-gateway/config', {
      config: { rules: { denylist: ['gravel'] }, refusal_replacement: { mode: 'rewrite' } },
    });
    talker.says({ text: 'Take gravel.' }, { text: 'Take sand.' });
    await ask('plain', '/v1/messages', {
      model: 'on-messages',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'What for the path?' }],
    });
    t.match((await latest('plain')).response, [
      { attempt: 1, text: 'Take gravel.' },
      { attempt: 2, text: 'Take sand.' },
    ]);
  });

  t.test('D20 a simulation that is kept holds its text, masked', async (t) => {
    for (const direction of ['request', 'response']) {
      await administer('plain', 'POST', '/api/policy-gateway/simulate', {
        scenario: { text: PROMPT, direction },
        persist: true,
      });
      const [event] = await history('plain', '&event_type=simulation');
      t.match(event!['content'], { [direction]: [{ text: MASKED }] });
    }
  });

  t.test(
    'D28 of a long conversation the last turns are kept, and what is not there is counted',
    async (t) => {
      talker.says({ text: 'y'.repeat(40_000) });
      const turn = (content: string, n: number) => ({ role: n % 2 === 0 ? 'user' : 'assistant', content });
      await ask('plain', '/v1/messages', {
        model: 'on-messages',
        max_tokens: 100,
        messages: ['first', 'x'.repeat(50_000), 'last'].map(turn),
      });
      const content = (await latest('plain')) as Content & Json;
      t.match(content.request, [{ text: /^x+$/ }, { text: 'last' }]);
      t.equal(content['request_omitted_characters'], 'first'.length + 50_000 + 4 - 16_384);
      t.equal(content['response_omitted_characters'], 40_000 - 16_384);
    },
  );
});

t.test('D28 no word of anybody is in an event unless that is asked for', async (t) => {
  const { talker, ask, history } = await openDesk(t, all);
  talker.says({ text: 'An answer with quokkas.' });
  await ask('plain', '/v1/messages', {
    model: 'on-messages',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'A prompt with numbats.' }],
  });
  const [event] = await history('plain');
  t.notOk('content' in event!);
  t.notMatch(JSON.stringify(event), /quokkas|numbats/);
});
