import Anthropic from '@anthropic-ai/sdk';
import t from 'tap';
import { formats, openDesk, type House } from '../../support/review.js';
import { BEFORE, doors, thrownBy } from './rows.js';
import { cutBy } from './recut.js';
import { INPUT_TOKENS } from './talker.js';

const SELF_HARM = 'I am planning my suicide. The pain never stops.';
const body = (content: string, more: object = {}) => ({
  model: 'on-messages',
  max_tokens: 50,
  messages: [{ role: 'user', content }],
  ...more,
});

const houses: Readonly<Record<string, House>> = {
  plain: {},
  denying: { gateway: { rules: { denylist: ['zorkmid'] } } },
  owned: { gateway: { org_controls: { project_keys: true } } },
  shadow: { gateway: { rollout: { shadow: { enabled: true, sample_percent: 0 } } } },
  lenient: {
    gateway: {
      rules: { flagged_categories: [], allowlist: ['suicide'], rewrite_instead_of_refuse: true },
      refusal_replacement: { mode: 'rewrite' },
      rollout: { canary: { enabled: true, sample_percent: 0 } },
    },
  },
};

t.test('D25 a key of another project than the one named is a 403, on every format', async (t) => {
  const { talker, ask } = await openDesk(t, houses);
  const bodies = {
    messages: ['/v1/messages', body('Hello.')],
    chat: ['/v1/chat/completions', { ...body('Hello.'), model: 'on-chat' }],
    responses: ['/v1/responses', { model: 'on-responses', input: 'Hello.' }],
  } as const;
  for (const format of formats) {
    const [path, asked] = bodies[format];
    const refused = await ask('owned', path, asked, { 'x-policy-project': 'proj_other' });
    t.equal(refused.status, 403, format);
    t.equal(refused.headers.get('x-error-code'), 'project_mismatch');
    t.equal(talker.seen.length, 0);
    const named = await ask('owned', path, asked, { 'x-policy-project': 'proj_owned' });
    t.equal(named.status, 200, `${format}, its own`);
    t.equal((await ask('owned', path, asked)).status, 200, `${format}, none named`);
    t.equal(
      (await ask('plain', path, asked, { 'x-policy-project': 'proj_other' })).status,
      200,
      'not asked for',
    );
    talker.forget();
  }
});

t.test('D38 a blocked request that is repeated is answered the same, from memory', async (t) => {
  const { talker, ask, administer, history } = await openDesk(t, houses);
  const send = async (text: string, path = '/v1/messages', headers = {}) => {
    const reply = await ask('denying', path, body(text), headers);
    const json = (await reply.json()) as { error?: { message: string; code: string } };
    return { status: reply.status, error: json.error };
  };
  const first = await send('One zorkmid.');
  t.match(first, { status: 400, error: { code: 'policy_blocked' } });
  for (let i = 0; i < 3; i++) t.same(await send('One zorkmid.'), first);
  t.same(await send('One zorkmid.', '/v1/messages', { 'x-policy-user': 'u' }), first, 'of another user too');
  t.equal(talker.seen.length, 0);
  const events = await history('denying', '&event_type=enforcement');
  t.equal(events.length, 5, 'every one of them is on record');
  t.ok(events.every(({ denylist_hits: hits }) => hits === 1));

  await administer('denying', 'POST', '/api/policy-gateway/config', {
    config: { rules: { denylist: ['other'] } },
  });
  t.equal((await send('One zorkmid.')).status, 200, 'under other rules it is read again');
  t.equal((await send('The other one.')).status, 400);
});

t.test('D38 what one endpoint refuses another may not', async (t) => {
  const { ask } = await openDesk(t, {
    house: { policies: [{ rule: 'cel: endpoint == "/v1/chat/completions" && text.contains("alpha")' }] },
  });
  t.equal((await ask('house', '/v1/chat/completions', body('alpha'))).status, 400);
  t.equal((await ask('house', '/v1/messages', body('alpha'))).status, 200);
});

t.test('D18 what is always blocked cannot be switched off', async (t) => {
  const off = {
    engine: 'off' as const,
    thresholds: { 'self-harm': 1, 'sexual/minors': 1, 'self-harm/intent': 1 },
  };
  const { talker, client, ask, history } = await openDesk(t, houses, { moderation: off });
  for (const house of ['plain', 'shadow', 'lenient'])
    for (const format of formats)
      for (const mode of ['whole', 'raw', 'helper'])
        await t.test(`${doors[format]} ${house} [${mode}]`, async (t) => {
          talker.forget();
          const { caller } = client(house, format);
          const model = `on-${format}`;
          const thrown = await thrownBy(() =>
            caller.begin(model, { prompt: `${SELF_HARM} ${mode}` }).send(mode),
          );
          t.match(thrown, { status: 400, message: /\(self-harm\).*findahelpline\.com/ });
          t.equal(thrown.headers?.get('x-error-code'), 'content_blocked');
          t.equal(talker.seen.length, 0);
          talker.says({ text: `${SELF_HARM} ${SELF_HARM}` });
          talker.cuts(cutBy(7));
          const { heard } = await caller.begin(model, { prompt: 'What now?' }).send(mode);
          t.match(heard, { ending: 'refused', refusal: /\(self-harm\).*findahelpline\.com/ });
          t.match((await history(house))[0], { decision: 'refuse', enforced: true, direction: 'response' });
        });
  const rude = await ask(
    'plain',
    '/v1/messages',
    body('You idiot, nobody likes you, you moron.', {
      flagged_categories: ['harassment'],
    }),
  );
  t.equal(rude.status, 200, 'an engine that is off finds nothing else');
});

t.test("D18 the request's own flagged_categories are refused, whatever the rollout", async (t) => {
  const { ask } = await openDesk(t, houses);
  const rude = 'You idiot, nobody likes you, you moron.';
  for (const house of ['plain', 'shadow']) {
    t.equal((await ask(house, '/v1/messages', body(`${rude} 1`))).status, 200);
    const refused = await ask(house, '/v1/messages', body(rude, { flagged_categories: ['harassment'] }));
    t.equal(refused.status, 400);
    t.match(await refused.json(), { error: { code: 'content_blocked', message: /\(harassment\)/ } });
  }
});

const PIECE = 5;

for (const format of formats)
  t.test(`D38 ${doors[format]}: a stopped stream costs what was delivered`, async (t) => {
    const { talker, client, history } = await openDesk(t, houses);
    talker.cuts(cutBy(PIECE));
    talker.says({ text: `${BEFORE}One zorkmid. ${BEFORE.repeat(3)}` });
    for (const upstream of formats)
      await t.test(`from an upstream of ${upstream}`, async (t) => {
        const { caller } = client('denying', format);
        const { heard } = await caller.begin(`on-${upstream}`, { prompt: `Hello ${upstream}.` }).send('raw');
        t.equal(heard.ending, 'refused');
        const [event] = await history('denying');
        const usage = event?.['usage'] as Record<string, number>;
        const delivered = Math.ceil(heard.text.length / PIECE);
        t.equal(usage['output_tokens'], delivered, `${heard.text.length} characters in pieces of ${PIECE}`);
        t.ok(usage['input_tokens']! > 0);
        if (upstream === 'messages') t.equal(usage['input_tokens'], INPUT_TOKENS);
        t.match(heard.usage, { output: delivered });
        t.equal(heard.credits, usage['credits']);
        t.ok(usage['credits']! > 0);
      });
  });

t.test('D38 a client that reads events by hand sees no error event in a refusal', async (t) => {
  const { talker, url, auth } = await openDesk(t, houses);
  talker.says({ text: `${BEFORE}One zorkmid.` });
  talker.cuts(cutBy(PIECE));
  const apiKey = auth('denying')['authorization']!.slice('Bearer '.length);
  const stream = await new Anthropic({ baseURL: url, apiKey }).messages.create({
    ...body('Hello.'),
    messages: [{ role: 'user', content: 'Hello.' }],
    stream: true,
  });
  const types: string[] = [];
  for await (const event of stream) types.push(event.type);
  t.equal(types[0], 'message_start');
  t.same(types.slice(-3), ['content_block_stop', 'message_delta', 'message_stop']);
});
