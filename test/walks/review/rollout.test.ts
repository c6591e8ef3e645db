import t from 'tap';
import { bucketOf } from '../../../src/rules/policy-gateway/rollout.js';
import { formats, openDesk, type House } from '../../support/review.js';
import { doors, MAIL, thrownBy } from './rows.js';

const rules = { denylist: ['zorkmid'], redact: true, flagged_categories: ['harassment'] };
const rolledOut = (rollout: object, more: object = {}): House => ({
  gateway: { policy_id: 'pol_gateway', rules, rollout, ...more },
});

const houses: Readonly<Record<string, House>> = {
  shadow: rolledOut({ shadow: { enabled: true, sample_percent: 100 } }),
  outside: rolledOut({ shadow: { enabled: true, sample_percent: 0 } }),
  canary: rolledOut({ canary: { enabled: true, sample_percent: 100 } }),
  kept: rolledOut({ canary: { enabled: true, sample_percent: 0 } }),
  targeted: rolledOut({ canary: { enabled: true, targets: ['beta'] } }),
  tenth: rolledOut({ canary: { enabled: true, sample_percent: 10 } }),
  everything: {
    gateway: {
      policy_id: 'pol_gateway',
      name: 'Main',
      rules,
      org_controls: { data_classification: 'secret' },
    },
    policies: [
      { rule: 'cel: text.contains("alpha")', name: 'alpha' },
      { rule: 'cel: text.contains("beta")', name: 'beta', mode: 'monitoring' },
      { rule: 'Nobody may speak of "operation bluebird".', name: 'bluebird', mode: 'monitoring' },
      { rule: 'cel: text.contains("gamma")', name: 'gamma', scope: 'unattached' },
    ],
  },
};

const BAD = 'One zorkmid';
const body = (content: string) => ({
  model: 'on-messages',
  max_tokens: 50,
  messages: [{ role: 'user', content }],
});

for (const format of formats)
  t.test(`${doors[format]}: rollout`, async (t) => {
    const { talker, client, history } = await openDesk(t, houses);
    const send = (house: string, prompt: string, mode: string) =>
      client(house, format).caller.begin(`on-${format}`, { prompt }).send(mode);

    for (const mode of ['whole', 'raw']) {
      await t.test(`D22 shadow records and changes nothing, on either side [${mode}]`, async (t) => {
        talker.forget();
        talker.says({ text: `${BAD} to ${MAIL} again.` });
        const { heard } = await send('shadow', `${BAD} to ${MAIL} ${mode}.`, mode);
        t.match(heard, { text: `${BAD} to ${MAIL} again.`, ending: 'stop' });
        t.equal(talker.seen[0]?.asked.prompt, `${BAD} to ${MAIL} ${mode}.`);
        const [event] = await history('shadow');
        t.match(event, {
          decision: 'refuse',
          effective_decision: 'allow',
          enforced: false,
          rollout_mode: 'shadow',
          denylist_hits: 2,
          redactions: 0,
        });
        t.same(
          (event?.['matches'] as { kind: string; direction: string }[]).map(
            ({ kind, direction }) => `${kind} ${direction}`,
          ),
          ['denylist request', 'redaction request', 'denylist response', 'redaction response'],
        );
      });

      await t.test(`D22 outside a shadow's sample nothing is decided [${mode}]`, async (t) => {
        talker.says({ text: BAD });
        t.match((await send('outside', `${BAD} ${mode}`, mode)).heard, { text: BAD, ending: 'stop' });
        t.match((await history('outside'))[0], { decision: 'allow', rollout_mode: 'shadow', matches: [] });
      });

      await t.test(`D22 a canary enforces inside its sample and records outside [${mode}]`, async (t) => {
        t.match(await thrownBy(() => send('canary', `${BAD} ${mode}`, mode)), { status: 400 });
        t.match((await history('canary'))[0], { enforced: true, rollout_mode: 'canary' });
        talker.says({ text: BAD });
        t.match((await send('kept', `${BAD} ${mode}`, mode)).heard, { text: BAD, ending: 'stop' });
        t.match((await history('kept'))[0], {
          decision: 'refuse',
          effective_decision: 'allow',
          enforced: false,
          rollout_mode: 'canary',
        });
      });
    }
  });

t.test('D26 replies say what was decided, also where it was only recorded', async (t) => {
  const { talker, ask } = await openDesk(t, houses);
  talker.says({ text: 'Fine.' });
  const headersOf = async (house: string, text: string, headers = {}) => {
    const reply = await ask(house, '/v1/messages', body(text), headers);
    await reply.arrayBuffer();
    return {
      status: reply.status,
      decision: reply.headers.get('x-policy-decision'),
      reason: reply.headers.get('x-policy-reason-code'),
      mode: reply.headers.get('x-policy-rollout-mode'),
    };
  };
  t.same(await headersOf('shadow', BAD), {
    status: 200,
    decision: 'refuse',
    reason: 'REFUSE',
    mode: 'shadow',
  });
  t.same(await headersOf('canary', BAD), {
    status: 400,
    decision: 'refuse',
    reason: 'REFUSE',
    mode: 'canary',
  });
  t.same(await headersOf('kept', BAD), { status: 200, decision: 'refuse', reason: 'REFUSE', mode: 'canary' });
  t.same(await headersOf('canary', 'Hello.'), { status: 200, decision: null, reason: null, mode: null });
  t.match(await headersOf('targeted', BAD), { status: 200 });
  t.match(await headersOf('targeted', BAD, { 'x-policy-target': 'beta' }), { status: 400 });
  t.notMatch(talker.seen.map(({ headers }) => Object.keys(headers).join()).join(), 'x-policy');
});

t.test('D28 one event of an exchange lists everything that matched', async (t) => {
  const { ask, history } = await openDesk(t, houses);
  const content = [
    { type: 'text', text: 'You are such an idiot, nobody likes you, you moron.' },
    { type: 'text', text: `${BAD} alpha beta gamma operation bluebird ${MAIL}.` },
  ];
  const asked = { ...body(''), messages: [{ role: 'user', content }] };
  const reply = await ask('everything', '/v1/messages', asked, {
    'x-policy-user': 'u_1',
    'x-policy-target': 'chat',
  });
  t.equal(reply.status, 400);
  const events = await history('everything', '&event_type=enforcement');
  t.equal(events.length, 1);
  const [event] = events;
  t.match(event, {
    endpoint: '/v1/messages',
    model: 'on-messages',
    user_id: 'u_1',
    policy_user: 'u_1',
    policy_target: 'chat',
    data_classification: 'secret',
    policy_id: 'pol_everything_0',
    policy_name: 'alpha',
    policy_version: 1,
    decision: 'refuse',
    triggered_categories: ['harassment'],
    denylist_hits: 1,
    redactions: 1,
    request_id: reply.headers.get('x-request-id'),
  });
  t.same(
    (event?.['matches'] as { kind: string; name: string; enforcing: boolean; at: string }[]).map(
      ({ kind, name, enforcing, at }) => [kind, name, enforcing, at],
    ),
    [
      ['category', 'harassment', true, 'messages.0.content.0.text'],
      ['policy', 'pol_everything_0', true, 'messages.0.content.1.text'],
      ['policy', 'pol_everything_1', false, 'messages.0.content.1.text'],
      ['policy', 'pol_everything_2', false, 'messages.0.content.1.text'],
      ['denylist', 'zorkmid', true, 'messages.0.content.1.text'],
      ['redaction', 'email', true, 'messages.0.content.1.text'],
    ],
  );
  t.notMatch(JSON.stringify(event), /idiot|jane/, 'the text is not in it');
});

t.test('D22 a canary of 10 % hits a tenth of the subjects, and always the same ones', async (t) => {
  const inside = (user: string): boolean => bucketOf('pol_gateway', user) < 1_000;
  const subjects = Array.from({ length: 10_000 }, (_, i) => `user-${i}`);
  const hit = subjects.filter(inside).length;
  t.ok(hit >= 900 && hit <= 1_100, `${hit} of 10,000`);
  t.same(subjects.filter(inside), subjects.filter(inside));

  const { talker, ask } = await openDesk(t, houses);
  talker.says({ text: 'Fine.' });
  const users = subjects.slice(0, 200);
  const refusedNow = async (): Promise<readonly string[]> => {
    const refused: string[] = [];
    for (let at = 0; at < users.length; at += 20)
      await Promise.all(
        users.slice(at, at + 20).map(async (user) => {
          const reply = await ask('tenth', '/v1/messages', body(BAD), { 'x-policy-user': user });
          await reply.arrayBuffer();
          if (reply.status === 400) refused.push(user);
        }),
      );
    return refused.sort();
  };
  const first = await refusedNow();
  t.same(first, users.filter(inside).sort(), `${first.length} of 200 through the door`);
  t.same(await refusedNow(), first);
});
