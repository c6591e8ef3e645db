import t from 'tap';
import { formats, openDesk } from '../../support/review.js';

const RUSSIAN = 'Комитет встретится в понедельник, чтобы обсудить новые правила для садов и парков города. ';
const ENGLISH = 'The committee will meet on Monday, and you can read the minutes that they have sent. ';

const houses = {
  plain: {},
  strict: { gateway: { rules: { flagged_categories: ['unsupported_language'] } } },
  cel: { policies: [{ rule: 'cel: categories["unsupported_language"] >= 0.5', direction: 'both' }] },
};

t.test('D18 a text the classifier cannot read is refused where that is named', async (t) => {
  const { talker, client, ask, history } = await openDesk(t, houses);
  const send = async (house: string, content: string) => {
    const response = await ask(house, '/v1/messages', {
      model: 'on-messages',
      max_tokens: 100,
      messages: [{ role: 'user', content }],
    });
    return { status: response.status, body: await response.json() };
  };
  t.equal((await send('plain', RUSSIAN)).status, 200, 'nobody named it');
  for (const house of ['strict', 'cel']) {
    t.equal((await send(house, ENGLISH)).status, 200, house);
    t.equal((await send(house, RUSSIAN)).status, 400, house);
  }
  t.match((await history('strict'))[0], {
    decision: 'refuse',
    triggered_categories: ['unsupported_language'],
    matches: [{ kind: 'category', name: 'unsupported_language', direction: 'request' }],
  });

  for (const format of formats)
    for (const house of ['strict', 'cel', 'plain'])
      for (const mode of ['whole', 'raw']) {
        talker.says({ text: RUSSIAN.repeat(20) });
        const { heard } = await client(house, format)
          .caller.begin(`on-${format}`, { prompt: 'Tell me about the committee.' })
          .send(mode);
        const about = `${house}, ${format}, ${mode}`;
        t.equal(heard.ending, house === 'plain' ? 'stop' : 'refused', about);
        if (house !== 'plain') t.ok(heard.text.length < RUSSIAN.length * 20, about);
      }
  talker.says({ text: ENGLISH.repeat(20) });
  const { heard } = await client('strict', 'messages')
    .caller.begin('on-messages', { prompt: 'Hi' })
    .send('raw');
  t.equal(heard.text, ENGLISH.repeat(20));
});
