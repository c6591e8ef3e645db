import t from 'tap';
import { GatewayError } from '../../../src/core/errors.js';
import { commitWith, type Also } from '../../../src/io/records/join.js';
import { GLOBAL } from '../../../src/io/records/records.js';
import { once, type Answer, type Attempt } from '../../../src/rules/idempotency/once.js';
import { ManualClock } from '../../support/manual-clock.js';
import { MemoryRecords } from '../../support/memory-records.js';

const pepper = Buffer.from('0123456789abcdef0123456789abcdef');
const attempt = { organizationId: 'org_a', key: 'k', request: ['POST', '/x', { a: 1, b: 2 }] };

const setting = () => {
  const clock = new ManualClock();
  const records = new MemoryRecords(clock);
  let acts = 0;
  /** A change that commits with the kept answer. */
  const actIn = async (organizationId: string, also: Also<Answer>): Promise<Answer> => {
    const answer = { status: 200, body: { turn: ++acts } };
    await commitWith(records, organizationId, [], also(answer));
    return answer;
  };
  const act = (also: Also<Answer>): Promise<Answer> => actIn('org_a', also);
  return { clock, records, parts: { records, pepper }, act, actIn, acts: () => acts };
};

t.test('D10 the answer is kept with the change and replayed for a day', async (t) => {
  const { clock, parts, act, actIn, acts } = setting();
  t.same(await once(parts, attempt, act), { result: { status: 200, body: { turn: 1 } }, replayed: false });
  const shuffled = { ...attempt, request: ['POST', '/x', { b: 2, a: 1 }] };
  t.same(await once(parts, shuffled, act), { answer: { status: 200, body: { turn: 1 } }, replayed: true });
  await t.rejects(once(parts, { ...attempt, request: ['POST', '/x', { a: 2 }] }, act), {
    code: 'idempotency_key_reuse',
  });
  t.equal(
    (await once(parts, { ...attempt, organizationId: 'org_b' }, (also) => actIn('org_b', also))).replayed,
    false,
    'keys are per organization',
  );
  clock.advance(24 * 60 * 60 * 1_000 + 1);
  t.equal((await once(parts, attempt, act)).replayed, false);
  t.equal(acts(), 3);
});

t.test('D10 a key is one key wherever its change is committed', async (t) => {
  const { parts, actIn, acts } = setting();
  const local: Attempt = attempt;
  const global: Attempt = { ...attempt, partition: GLOBAL, request: ['POST', '/payments', {}] };
  for (const [first, second] of [
    [local, global],
    [global, local],
  ] as const) {
    const key = `k${acts()}`;
    const send = (one: Attempt, organizationId = 'org_a') =>
      once(parts, { ...one, key, organizationId }, (also) => actIn(one.partition ?? organizationId, also));
    t.equal((await send(first)).replayed, false);
    await t.rejects(send(second), { code: 'idempotency_key_reuse', status: 409 });
    t.equal((await send(first)).replayed, true);
    t.equal((await send(second, 'org_b')).replayed, false, 'of one organization');
  }
  t.equal(acts(), 4);
});

t.test('D10 an answer that becomes whole after the commit is replayed whole', async (t) => {
  const { records, parts, act } = setting();
  const partly = (also: Also<Answer>) => act((answer) => also({ ...answer, body: null, provisional: true }));
  const whole = { status: 200, body: { turn: 'whole' } };
  await once(parts, attempt, async (keep, settle) => {
    await partly(keep);
    await t.rejects(once(parts, attempt, act), { code: 'idempotency_key_in_flight' }, 'not yet');
    await settle(whole);
  });
  t.same(await once(parts, attempt, act), { replayed: true, answer: whole });

  const other = { ...attempt, key: 'other' };
  await once(parts, other, async (keep, settle) => {
    await partly(keep);
    records.down = true;
    await settle(whole);
    records.down = false;
  });
  t.same(
    await once(parts, other, act),
    { replayed: true, answer: { status: 200, body: null } },
    'what was committed with the change stands where the rest is lost',
  );

  const plain = { ...attempt, key: 'plain' };
  await once(parts, plain, async (keep, settle) => {
    await act(keep);
    await settle(whole);
  });
  t.notSame(await once(parts, plain, act), { replayed: true, answer: whole }, 'a whole answer is left alone');
});

t.test('D10 while one acts the other is told so, and a failure frees the key', async (t) => {
  const { parts, act } = setting();
  let finish = (): void => undefined;
  const first = once(parts, attempt, async (also) => {
    await new Promise<void>((resolve) => (finish = resolve));
    return act(also);
  });
  await t.rejects(once(parts, attempt, act), {
    code: 'idempotency_key_in_flight',
    status: 409,
    retryAfterS: 1,
  });
  finish();
  t.equal((await first).replayed, false);
  t.equal((await once(parts, attempt, act)).replayed, true);

  const other = { ...attempt, key: 'other' };
  await t.rejects(
    once(parts, other, () => Promise.reject(new GatewayError('revision_conflict', 'stale'))),
    {
      code: 'revision_conflict',
    },
  );
  t.equal((await once(parts, other, act)).replayed, false, 'nothing was kept');
});

t.test('D10 who outlives the lease and comes second replays what the first one did', async (t) => {
  const { clock, parts, act, acts } = setting();
  for (const ending of [
    async (also: Also<Answer>) => act(also),
    () => Promise.reject(new GatewayError('revision_conflict', 'by the quicker one')),
  ]) {
    const mine = { ...attempt, key: `lease-${acts()}` };
    const slow = await once(parts, mine, async (also) => {
      clock.advance(60_001);
      t.equal((await once(parts, mine, act)).replayed, false, 'the lease has run out');
      return ending(also);
    });
    t.equal(slow.replayed, true);
  }
});

t.test('D10 a store that is away is never taken for an unused key', async (t) => {
  const { records, parts, act, acts } = setting();
  records.down = true;
  await t.rejects(once(parts, attempt, act), { name: 'StoreUnavailable' });
  t.equal(acts(), 0);
});

t.test('D10 neither the request nor the key of the house can be read in the store', async (t) => {
  const { records, parts, act } = setting();
  await once(parts, { ...attempt, request: ['POST', '/x', { token: 'very-secret' }] }, act);
  t.notMatch(records.dump(), /very-secret/);
});
