import t from 'tap';
import { GatewayError } from '../../../src/core/errors.js';
import { commitWith, type Also } from '../../../src/io/records/join.js';
import { once, type Answer } from '../../../src/rules/idempotency/once.js';
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
