import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Batch, Outcome } from '../../../src/core/sink.js';
import { entries, entry, eventsOf, openTrail, ORG, sinkOf, until } from './desk.js';

const range = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, n) => first + n);
/** Answers only when it is told to stop. */
const hang = (_: Batch, signal: AbortSignal): Promise<Outcome> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve({ kind: 'retry', reason: 'stopped' }));
  });
const seqsOf = ({ events }: Batch): number[] => events.map(({ seq }) => seq);

t.test('events arrive in order, in batches by count', async (t) => {
  const { trail, sink } = openTrail();
  await trail.setSinks([sinkOf()]);
  sink().limits.count = 10;
  trail.record(entries(25));
  await until(() => sink().taken.length === 25);
  t.same(sink().batches.map(seqsOf), [range(1, 10), range(11, 20), range(21, 25)]);
  t.same(sink().batches[0]!.events[0]!.json, JSON.stringify((await eventsOf(trail))[0]));
  await trail.close(0);
  t.equal(sink().closed, 1);
});

t.test('a batch is cut by bytes, but an event is never too large to be tried', async (t) => {
  const { trail, sink } = openTrail();
  await trail.setSinks([sinkOf()]);
  sink().limits.bytes = 2_500;
  trail.record(entries(6));
  await until(() => sink().taken.length === 6);
  const size = Buffer.byteLength(sink().batches[0]!.events[0]!.json);
  t.equal(sink().batches[0]!.events.length, Math.floor(2_500 / size));
  sink().limits.bytes = 10;
  trail.record(entries(2));
  await until(() => sink().taken.length === 8);
  t.same(sink().batches.slice(-2).map(seqsOf), [[7], [8]]);
  await trail.close(0);
});

t.test('a batch waits for more events until its first one is old enough, or it is full', async (t) => {
  const { trail, sink, time } = openTrail();
  await trail.setSinks([sinkOf()]);
  Object.assign(sink().limits, { count: 4, ageMs: 1_000 });
  trail.record(entries(2));
  await until(() => time.delaysMs.includes(1_000));
  time.advance(600);
  trail.record(entries(1));
  t.same(sink().batches, []);
  time.advance(400);
  await until(() => sink().taken.length === 3);
  t.same(sink().batches.map(seqsOf), [[1, 2, 3]]);
  trail.record(entries(4));
  await until(() => sink().taken.length === 7);
  t.same(
    sink().batches.map(seqsOf),
    [
      [1, 2, 3],
      [4, 5, 6, 7],
    ],
    'a full one leaves at once',
  );
  await trail.close(0);
});

t.test('closing sends what waits, and what cannot be sent stays', async (t) => {
  const folder = t.testdir();
  const first = openTrail({ folder });
  await first.trail.setSinks([sinkOf('sink_1'), sinkOf('sink_2')]);
  first.sink('sink_1').limits.ageMs = 60_000;
  first.sink('sink_2').answer = () => ({ kind: 'retry', reason: 'down' });
  first.trail.record(entries(3));
  await first.trail.close(5_000);
  t.same(first.sink('sink_1').taken, [1, 2, 3]);

  const second = openTrail({ folder });
  await second.trail.setSinks([sinkOf('sink_1'), sinkOf('sink_2')]);
  await until(() => second.sink('sink_2').taken.length === 3);
  t.same(second.sink('sink_1').batches, [], 'nothing is sent twice');
  await second.trail.close(0);
});

t.test('a destination that fails is tried again at growing intervals, without limit', async (t) => {
  const { trail, sink, time, told } = openTrail();
  await trail.setSinks([sinkOf()]);
  sink().answer = () => ({ kind: 'retry', reason: 'HTTP 503' });
  trail.record(entries(1));
  const delays: number[] = [];
  for (let n = 1; n <= 10; n++) {
    await until(() => sink().batches.length === n && time.delaysMs.length === 2);
    const delayMs = Math.max(...time.delaysMs);
    delays.push(delayMs);
    time.advance(delayMs);
  }
  t.same(delays, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000, 60_000]);
  t.match(told.sinks.get('sink_1'), { circuit: 'open', lastError: 'HTTP 503', queued: 1 });
  t.equal(new Set(sink().batches.map(({ id }) => id)).size, 1, 'it is the same batch each time');
  await until(() => sink().batches.length === 11 && time.delaysMs.length === 2);
  sink().answer = () => ({ kind: 'accepted' });
  time.advance(60_000);
  await until(() => sink().taken.length === 1);
  time.advance(1_000);
  t.match(told.sinks.get('sink_1'), {
    circuit: 'closed',
    queued: 0,
    oldestMs: 0,
    errorsByKind: { retry: 11 },
  });
  await trail.close(0);
});

t.test('Retry-After is honoured, up to five minutes', async (t) => {
  const { trail, sink, time } = openTrail({ random: () => 0 });
  await trail.setSinks([sinkOf()]);
  const asked = [90_000, 3_600_000, 0];
  sink().answer = () => ({
    kind: 'retry',
    reason: 'HTTP 429',
    retryAfterMs: asked[sink().batches.length - 1]!,
  });
  trail.record(entries(1));
  for (const [n, delayMs] of [90_000, 300_000, 500].entries()) {
    await until(() => sink().batches.length === n + 1 && time.delaysMs.includes(delayMs));
    time.advance(delayMs);
  }
  await until(() => sink().batches.length === 4);
  t.equal(new Set(sink().batches.map(({ id }) => id)).size, 1);
  await trail.close(0);
});

t.test('wrong credentials hold the cursor, and a corrected configuration acts at once', async (t) => {
  const { trail, sink, time, told } = openTrail();
  await trail.setSinks([sinkOf()]);
  sink().answer = () => ({ kind: 'held', reason: 'HTTP 401' });
  trail.record(entries(3));
  const delays: number[] = [];
  for (let n = 1; n <= 8; n++) {
    await until(() => sink().batches.length === n && time.delaysMs.length === 2);
    delays.push(Math.max(...time.delaysMs));
    time.advance(delays.at(-1)!);
  }
  t.same(delays, [5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
  t.match(told.sinks.get('sink_1'), { lastError: 'HTTP 401', queued: 3, deadLetters: 0 });
  sink().answer = () => ({ kind: 'accepted' });
  await trail.setSinks([sinkOf('sink_1', { config: { token: 'right' } })]);
  await until(() => sink().taken.length === 3);
  t.equal(sink().closed, 1, 'the sender of the old configuration is closed');
  await trail.setSinks([sinkOf('sink_1', { config: { token: 'right' } })]);
  t.equal(sink().closed, 1, 'the same configuration again changes nothing');
  await trail.close(0);
});

t.test('a batch that is too large is sent in halves, in order', async (t) => {
  const { trail, sink } = openTrail();
  await trail.setSinks([sinkOf()]);
  sink().answer = ({ events }) =>
    events.length > 3 ? { kind: 'split', reason: 'HTTP 413' } : { kind: 'accepted' };
  trail.record(entries(10));
  await until(() => sink().taken.length === 10);
  t.same(sink().taken, range(1, 10));
  t.same(
    sink().batches.map(({ events }) => events.length),
    [10, 5, 2, 3, 5, 2, 3],
  );
  await trail.close(0);
});

t.test('a destination that takes less than is said of it is soon sent no more than that', async (t) => {
  const { trail, sink } = openTrail();
  await trail.setSinks([sinkOf()]);
  const sizes: number[] = [];
  let tooLarge = 0;
  sink().answer = ({ events }) => {
    const bytes = events.reduce((sum, { json }) => sum + json.length, 0);
    if (bytes > 200_000) {
      tooLarge++;
      return { kind: 'split', reason: 'HTTP 413' };
    }
    sizes.push(bytes);
    return { kind: 'accepted' };
  };
  const large = entry({ details: { text: 'x'.repeat(8_000) } });
  for (let n = 0; n < 10; n++) trail.record(Array.from({ length: 300 }, () => large));
  await until(() => sink().taken.length === 3_000);
  t.ok(tooLarge <= 12, `${tooLarge} batches of ${sizes.length} were too large`);
  t.ok(sizes.filter((bytes) => bytes > 100_000).length > sizes.length * 0.7, 'and not much less');
  await trail.close(0);
});

t.test('one poisonous event is found, set aside with its reason, and the others arrive', async (t) => {
  const folder = t.testdir();
  const { trail, sink, time, told } = openTrail({ folder });
  await trail.setSinks([sinkOf()]);
  sink().answer = (batch) =>
    seqsOf(batch).some((seq) => seq === 7 || seq === 12)
      ? { kind: 'poison', reason: 'HTTP 400' }
      : { kind: 'accepted' };
  trail.record(entries(20));
  await until(() => sink().taken.length === 18);
  t.same(
    sink().taken,
    range(1, 20).filter((seq) => seq !== 7 && seq !== 12),
  );
  time.advance(1_000);
  t.match(told.sinks.get('sink_1'), { deadLetters: 2, queued: 0, lastError: 'HTTP 400' });
  const letters = readFileSync(join(folder, 'dead-letters', 'sink_1.ndjson'), 'utf8')
    .trim()
    .split('\n');
  t.match(
    letters.map((line) => JSON.parse(line) as object),
    [
      { sink_id: 'sink_1', reason: 'HTTP 400', event: { seq: 7 } },
      { sink_id: 'sink_1', reason: 'HTTP 400', event: { seq: 12 } },
    ],
  );
  await trail.close(0);
});

t.test('results per event are kept apart: taken, tried again, set aside', async (t) => {
  const folder = t.testdir();
  const { trail, sink, time } = openTrail({ folder });
  await trail.setSinks([sinkOf()]);
  let times = 0;
  sink().answer = ({ events }): Outcome => ({
    kind: 'partly',
    items: events.map(({ seq }) => {
      if (seq === 2) return { kind: 'poison', reason: 'mapping' };
      if (seq > 3 && times === 0) return { kind: 'retry', reason: 'busy' };
      return { kind: 'accepted' };
    }),
  });
  trail.record(entries(5));
  await until(() => sink().batches.length === 1 && time.delaysMs.length === 2);
  times = 1;
  time.advance(60_000);
  await until(() => sink().taken.length === 4);
  t.same(sink().batches.map(seqsOf), [
    [1, 2, 3, 4, 5],
    [4, 5],
  ]);
  t.ok(existsSync(join(folder, 'dead-letters', 'sink_1.ndjson')));
  await trail.close(0);
});

t.test('an answer that does not fit the batch counts as none', async (t) => {
  const { trail, sink, time, told } = openTrail();
  await trail.setSinks([sinkOf()]);
  sink().answer = () => ({ kind: 'partly', items: [{ kind: 'accepted' }] });
  trail.record(entries(2));
  await until(() => time.delaysMs.length === 2);
  sink().answer = () => Promise.reject(new Error('a secret'));
  time.advance(1_000);
  t.match(told.sinks.get('sink_1'), { queued: 2, errorsByKind: { retry: 1 } });
  await until(() => sink().batches.length === 2 && time.delaysMs.length === 2);
  time.advance(10_000);
  t.match(told.sinks.get('sink_1'), { lastError: 'The destination could not be reached.' });
  await trail.close(0);
});

t.test('after a restart the identical batch is sent again, whatever came meanwhile', async (t) => {
  const folder = t.testdir();
  const first = openTrail({ folder });
  await first.trail.setSinks([sinkOf()]);
  first.sink().answer = ({ events }) =>
    events.length > 4 ? { kind: 'split', reason: 'HTTP 413' } : { kind: 'retry', reason: 'down' };
  first.trail.record(entries(6));
  await until(() => first.sink().batches.length === 2 && first.time.delaysMs.length === 2);
  first.trail.record(entries(6));
  await first.trail.close(0);

  const second = openTrail({ folder });
  await second.trail.setSinks([sinkOf()]);
  await until(() => second.sink().taken.length === 12);
  const [before, after] = [first.sink().batches.at(-1)!, second.sink().batches[0]!];
  t.same(after, before);
  t.same(second.sink().taken, range(1, 12));
  await second.trail.close(0);
});

t.test('one destination that is down holds up no other', async (t) => {
  const { trail, sink } = openTrail();
  await trail.setSinks([sinkOf('down'), sinkOf('up'), sinkOf('other', { organizationId: 'org_b' })]);
  sink('down').answer = hang;
  trail.record([...entries(5), ...entries(5, { org_id: 'org_b' })]);
  await until(() => sink('up').taken.length === 5 && sink('other').taken.length === 5);
  t.same(sink('other').taken, range(6, 10), 'and each gets the events of its organization alone');
  await trail.close(0);
});

t.test('a new sink starts with the next event', async (t) => {
  const { trail, sink } = openTrail();
  trail.record(entries(5));
  const set = trail.setSinks([sinkOf()]);
  trail.record(entries(2));
  await set;
  await until(() => sink().taken.length === 2);
  t.same(sink().taken, [6, 7]);
  await trail.close(0);
});

t.test('a disabled sink keeps its place for a day, then the trail tells what it missed', async (t) => {
  const { trail, sink, time } = openTrail();
  await trail.setSinks([sinkOf()]);
  trail.record([entry()]);
  await until(() => sink().taken.length === 1);
  await trail.setSinks([sinkOf('sink_1', { enabled: false })]);
  trail.record(entries(2));
  time.leap(23 * 3_600_000);
  await trail.setSinks([sinkOf()]);
  await until(() => sink().taken.length === 4); // with the anchor of the day
  await trail.setSinks([sinkOf('sink_1', { enabled: false })]);
  trail.record(entries(4));
  time.leap(25 * 3_600_000);
  const [gap] = (await eventsOf(trail)).filter((event) => event['reason_code'] === 'audit_gap');
  t.match(gap, {
    event_type: 'admin',
    reason_code: 'audit_gap',
    details: { reason: 'sink_detached', sink_id: 'sink_1', events: 4, after_seq: 4 },
  });
  await trail.setSinks([sinkOf()]);
  trail.record([entry()]);
  await until(() => sink().taken.length === 5);
  t.same(sink().taken, [1, 2, 3, 4, 11], 'switched on again it starts with the next event');
  await trail.close(0);
});

t.test('what waits for a disabled sink is told as long as it waits', async (t) => {
  const { trail, sink, time, told } = openTrail();
  await trail.setSinks([sinkOf()]);
  trail.record([entry()]);
  await until(() => sink().taken.length === 1);
  await trail.setSinks([sinkOf('sink_1', { enabled: false })]);
  trail.record(entries(7));
  time.advance(5_000);
  t.match(told.sinks.get('sink_1'), { queued: 7, oldestMs: 5_000 });
  await trail.setSinks([sinkOf()]);
  await until(() => sink().taken.length === 8);
  time.advance(1_000);
  t.match(told.sinks.get('sink_1'), { queued: 0, oldestMs: 0 });
  await trail.close(0);
});

t.test('a deleted sink is forgotten at once, also in the midst of sending', async (t) => {
  const { trail, sink } = openTrail();
  await trail.setSinks([sinkOf()]);
  sink().answer = hang;
  trail.record(entries(3));
  await until(() => sink().batches.length === 1);
  await trail.setSinks([]);
  t.equal(sink().closed, 1);
  sink().answer = () => ({ kind: 'accepted' });
  await trail.setSinks([sinkOf()]);
  trail.record(entries(1));
  await until(() => sink().taken.length > 0);
  t.same(sink().taken, [4]);
  await trail.close(0);
});

t.test('a sink whose sender cannot be made is held, and says so', async (t) => {
  const { trail, time, told } = openTrail({
    createSender: () => {
      throw new Error('token abc');
    },
  });
  await trail.setSinks([sinkOf()]);
  trail.record(entries(1));
  await until(() => time.delaysMs.length === 2);
  time.advance(1_000);
  t.match(told.sinks.get('sink_1'), {
    organizationId: ORG,
    lastError: 'The configuration of this sink cannot be used.',
    queued: 1,
    errorsByKind: { held: 1 },
  });
  await trail.close(0);
});

t.test('a try of a sink sends one event of no chain and gives what the destination said', async (t) => {
  const { trail, sink } = openTrail();
  sink().answer = () => ({ kind: 'held', reason: 'HTTP 403' });
  t.same(await trail.trySink(sinkOf()), { kind: 'held', reason: 'HTTP 403' });
  t.match(JSON.parse(sink().batches[0]!.events[0]!.json), {
    reason_code: 'sink_test',
    instance_id: 'test',
    seq: 0,
    org_id: ORG,
  });
  t.equal(sink().closed, 1);
  t.same(await eventsOf(trail), []);
  await trail.close(0);
});
