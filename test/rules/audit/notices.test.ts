import t from 'tap';
import { entries, eventsOf, openTrail, sinkOf, until } from './desk.js';
import { verifyEvents } from './verify-events.js';

t.test('D28 once a day every chain is told how far it has come, also where nothing happened', async (t) => {
  const folder = t.testdir();
  const first = openTrail({ folder });
  await first.trail.setSinks([sinkOf()]);
  first.trail.record([...entries(3), ...entries(1, { org_id: 'org_b' })]);
  first.time.advance(11 * 3_600_000);
  t.equal((await eventsOf(first.trail)).length, 3, 'not on the day on which it began');
  first.time.leap(3 * 3_600_000);
  const [, , last, anchor] = await eventsOf(first.trail);
  t.match(anchor, {
    event_type: 'admin',
    reason_code: 'audit_anchor',
    details: { events: 3, last_seq: 3, head: last!['hash'] },
    prev_hash: last!['hash'],
  });
  t.equal((await eventsOf(first.trail, 'org_b')).length, 2, 'each chain has its own');
  await until(() => first.sink().taken.length === 4);
  first.time.advance(3_600_000);
  t.equal((await eventsOf(first.trail)).length, 4, 'once a day');
  await first.trail.close(0);

  const second = openTrail({ folder, clock: first.time, alarm: first.time.alarm });
  first.time.advance(60_000);
  t.equal((await eventsOf(second.trail)).length, 4, 'also over a restart');
  first.time.leap(86_400_000);
  const events = await eventsOf(second.trail);
  t.match(events.at(-1), { reason_code: 'audit_anchor', details: { events: 4, last_seq: 5 } });
  t.match(verifyEvents(events), { fault: null, events: 5 });
  await second.trail.close(0);
});

t.test('D28 an operator is warned when what waits for a sink takes 80 % of the room', async (t) => {
  const { trail, time, told, sink } = openTrail({ maxBytes: 1_000_000 });
  await trail.setSinks([sinkOf()]);
  sink().answer = () => ({ kind: 'retry', reason: 'down' });
  const fillTo = (share: number): void => {
    do {
      trail.record(entries(10));
      time.advance(1_000);
    } while (told.trail!.waitingBytes < share * 1_000_000);
  };
  fillTo(0.7);
  t.same(told.warnings, []);
  t.ok(Math.abs(told.trail!.waitingBytes / told.trail!.usedBytes - 1) < 0.15, 'what waits is what is used');
  fillTo(0.85);
  t.match(told.warnings, [/destinations are far behind/], 'once');
  t.ok(trail.open, 'while there is still room');
  sink().answer = () => ({ kind: 'accepted' });
  await until(() => {
    time.advance(1_000);
    return told.trail!.waitingBytes === 0;
  });
  t.equal(told.warnings.length, 1);

  sink().answer = () => ({ kind: 'retry', reason: 'down' });
  while (told.warnings.length === 1) fillTo(0);
  t.ok(told.trail!.waitingBytes >= 800_000, 'history that nobody waits for is no reason');
  await trail.close(0);
});
