import t from 'tap';
import { until } from '../../support/gateway.js';
import { runGateway } from '../../support/gateway.js';
import { deskOf, housesConfig, type Desk, type House } from '../../support/review.js';
import { startRedis } from '../../support/redis.js';
import { startTalker } from './talker.js';

/** Short enough to see it end, long enough to see it last. */
const COOLDOWN_MINUTES = 0.05;

const houses: Readonly<Record<string, House>> = {
  house: {
    gateway: {
      policy_id: 'spiky',
      rules: { denylist: ['zorkmid'] },
      rollout: {
        rollback_on_spike: true,
        rollback_min_requests: 10,
        rollback_threshold: 0.5,
        rollback_cooldown_minutes: COOLDOWN_MINUTES,
      },
    },
  },
};

const body = (content: string) => ({
  model: 'on-messages',
  max_tokens: 50,
  messages: [{ role: 'user', content }],
});

let asked = 0;

const send = async ({ ask }: Desk, text: string) => {
  const reply = await ask('house', '/v1/messages', body(`${text} ${asked++}`));
  await reply.arrayBuffer();
  return { status: reply.status, mode: reply.headers.get('x-policy-rollout-mode') };
};

t.test('D23 a spike on one replica stops enforcement on another, and the cooldown ends it', async (t) => {
  const redis = await startRedis();
  t.teardown(() => redis.stop());
  const talker = await startTalker();
  t.teardown(() => talker.close());
  const changes = {
    ...housesConfig(houses, talker.url),
    store: { kind: 'redis', redis: { url: redis.url, key_prefix: 'r:', command_timeout: '5s' } } as const,
    auth: { pepper: 'the-pepper-of-the-test-suite-of-32-or-more-characters' },
  };
  const [one, other] = await Promise.all(
    [1, 2].map(async () => {
      const folder = t.testdir();
      const audit = { spool: { path: `${folder}/audit-${asked++}` } };
      return deskOf((await runGateway(t, { ...changes, audit })).url, talker);
    }),
  );

  t.match(await send(one!, 'A zorkmid'), { status: 400, mode: 'enforced' });
  t.match(await send(other!, 'A zorkmid'), { status: 400, mode: 'enforced' });
  for (let i = 0; i < 12; i++) await send(one!, 'A zorkmid');
  const spikeMs = performance.now();
  await until(async () => (await send(other!, 'A zorkmid')).status === 200, 'the other replica lets go');
  t.comment(
    `enforcement stopped elsewhere after ${(performance.now() - spikeMs).toFixed(0)} ms (bound 2,000)`,
  );
  t.match(await send(other!, 'A zorkmid'), { status: 200, mode: 'rollback' });
  t.match(await send(one!, 'A zorkmid'), { status: 200, mode: 'rollback' });
  t.match((await other!.history('house', '&event_type=enforcement'))[0], {
    decision: 'refuse',
    effective_decision: 'allow',
    enforced: false,
    rollout_mode: 'rollback',
  });

  const told = async (desk: Desk) => (await desk.history('house', '&event_type=rollback')).length;
  await until(async () => (await told(one!)) + (await told(other!)) > 0, 'the rollback is on record');
  t.equal((await told(one!)) + (await told(other!)), 1, 'once, whoever found it');

  const isBack = (desk: Desk) =>
    until(async () => (await send(desk, 'A zorkmid')).status === 400, 'it is back');
  await Promise.all([isBack(one!), isBack(other!)]);
  t.pass('after the cooldown it is enforced again, on both');
});

t.test('D23 always-blocked categories and policies do not roll back', async (t) => {
  const talker = await startTalker();
  t.teardown(() => talker.close());
  const ruled: Readonly<Record<string, House>> = {
    house: { ...houses['house'], policies: [{ rule: 'cel: text.contains("alpha")' }] },
  };
  const desk = deskOf((await runGateway(t, housesConfig(ruled, talker.url))).url, talker);
  for (let i = 0; i < 12; i++) await send(desk, 'A zorkmid');
  await until(async () => (await send(desk, 'A zorkmid')).mode === 'rollback', 'it rolls back');
  t.match(await send(desk, 'I am planning my suicide. The pain never stops.'), { status: 400 });
  t.match(await send(desk, 'alpha'), { status: 400 });
});
