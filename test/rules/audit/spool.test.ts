import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { openDatabase } from '../../../src/io/records/sqlite.js';
import { hashOf, seal, sorted, writeBody } from '../../../src/rules/audit/event.js';
import { isDamage } from '../../../src/rules/audit/spool-file.js';
import { verifyEvents } from './verify-events.js';
import { entries, entry, eventsOf, facts, openTrail, ORG, said, sinkOf, until } from './desk.js';

t.test('D28 an event has every field, its place, and a hash that links it to the one before', async (t) => {
  const { trail } = openTrail();
  trail.record([
    entry({
      matches: [
        {
          kind: 'policy',
          direction: 'request',
          name: 'pol_1',
          policyName: 'P',
          policyVersion: 2,
          enforcing: true,
        },
      ],
      usage: { output: 2, input: 1 },
      details: { b: [{ z: 1, a: null }], a: 'x' },
    }),
    entry(),
    entry({ org_id: 'org_b' }),
    entry(),
  ]);
  const [first, second, fourth] = await eventsOf(trail);
  t.match(first, {
    event_type: 'enforcement',
    source: 'policy_gateway',
    org_id: ORG,
    decision: 'allow',
    matches: [{ policy_name: 'P', policy_version: 2 }],
    seq: 1,
    prev_hash: '0'.repeat(64),
    instance_id: trail.instanceId,
  });
  t.equal(second!['prev_hash'], first!['hash']);
  t.equal(fourth!['prev_hash'], second!['hash'], 'the chain is of one organization');
  t.equal(fourth!['seq'], 4, 'the order is of the instance');
  t.notOk('content' in first!);
  await trail.close(0);
});

t.test('a hash can be checked after any store has moved keys about and added its own', async (t) => {
  const shuffled = (value: unknown): unknown => {
    if (value === null || typeof value !== 'object') return value;
    if (Array.isArray(value)) return value.map(shuffled);
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([key, one]) => [key, shuffled(one)]),
    );
  };
  const details = fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true });
  fc.assert(
    fc.property(details, fc.string(), fc.option(fc.double()), (more, user, latency) => {
      const given = facts({ details: more, user_id: user, latency_ms: latency });
      const place = { eventId: 'e', createdAt: 'c', instanceId: 'i', seq: 1, prevHash: 'p' };
      const { json, hash } = seal(writeBody(given), place);
      const event = shuffled({ ...(JSON.parse(json) as object), '@timestamp': 'now' }) as Record<
        string,
        unknown
      >;
      return hashOf(event) === hash && hashOf({ ...event, user_id: `${user}!` }) !== hash;
    }),
  );
  t.same(
    JSON.stringify(sorted({ b: 1, a: { d: 1, c: [{ f: 1, e: 2 }] } })),
    '{"a":{"c":[{"e":2,"f":1}],"d":1},"b":1}',
  );
});

t.test('an event too large for any destination leaves its content behind', async (t) => {
  const body = writeBody(facts({ content: said('x'.repeat(300_000)) }));
  t.match(JSON.parse(body), { content: { omitted_characters: Number }, decision: 'allow' });
  t.ok(body.length < 2_000);
});

t.test('order, chain and instance go on after a restart', async (t) => {
  const folder = t.testdir();
  const first = openTrail({ folder });
  first.trail.record(entries(3));
  await first.trail.close(0);
  const second = openTrail({ folder });
  t.equal(second.trail.instanceId, first.trail.instanceId);
  second.trail.record(entries(2));
  const events = await eventsOf(second.trail);
  t.same(
    events.map(({ seq }) => seq),
    [1, 2, 3, 4, 5],
  );
  t.match(verifyEvents(events), { fault: null, events: 5 });
  await second.trail.close(0);
  for (const file of readdirSync(folder)) t.equal(statSync(join(folder, file)).mode & 0o777, 0o600, file);
});

t.test('an event that is told twice is recorded once', async (t) => {
  const { trail } = openTrail();
  const twice = entry({ event_id: 'evt_1', created_at: '2031-01-01T00:00:00.000Z' });
  t.ok(trail.record([twice, entry(), twice]));
  t.ok(trail.record([twice]));
  const events = await eventsOf(trail);
  t.same(
    events.map(({ seq }) => seq),
    [1, 2],
  );
  t.match(events[0], { event_id: 'evt_1', created_at: '2031-01-01T00:00:00.000Z' });
  await trail.close(0);
});

t.test('a full spool takes no event, counts them, tells of them once a minute, and recovers', async (t) => {
  const { trail, time, told, sink } = openTrail({ maxBytes: 300_000 });
  await trail.setSinks([sinkOf()]);
  sink().answer = () => ({ kind: 'retry', reason: 'down' });
  let recorded = 0;
  while (trail.record(entries(10))) recorded += 10;
  t.ok(recorded > 100);
  t.notOk(trail.open);
  t.same(told.room, [false]);
  trail.record(entries(5));
  time.advance(1_000);
  trail.record(entries(4));
  time.advance(30_000);
  const gaps = async () => (await eventsOf(trail)).filter((event) => event['reason_code'] === 'audit_gap');
  t.match(await gaps(), [{ details: { reason: 'not_recorded', missed: 15 } }], 'one gap event');
  time.advance(60_000);
  t.match(await gaps(), [{ details: { missed: 15 } }, { details: { missed: 4 } }]);
  t.match(told.trail, { missed: 19, open: false });

  sink().answer = () => ({ kind: 'accepted' });
  time.advance(60_000);
  await until(() => sink().taken.length === recorded + 2);
  await until(() => {
    time.advance(1_000);
    return trail.open;
  });
  t.same(told.room, [false, true]);
  t.ok(trail.record(entries(1)));
  await until(() => sink().taken.length === recorded + 3);
  t.match(
    verifyEvents(
      sink().batches.flatMap(({ events }) => events.map(({ json }) => JSON.parse(json) as object)),
    ),
    {
      fault: null,
      missed: 19,
    },
  );
  await trail.close(0);
});

t.test('a disk with too little room left closes the trail until there is more', async (t) => {
  let free = 100;
  const { trail, time } = openTrail({ minFreeBytes: 1_000, freeBytes: () => free });
  t.notOk(trail.open);
  t.notOk(trail.record([entry(), entry({ event_id: 'evt_1' })]));
  t.same(trail.untold(), [[ORG, 1]], 'what the outbox still has is not missing');
  free = 5_000;
  time.advance(1_000);
  t.ok(trail.open);
  t.ok(trail.record(entries(1)));
  await trail.close(0);
});

t.test('history that every sink has makes room before anything new is refused', async (t) => {
  const { trail, told, time, sink } = openTrail({ maxBytes: 400_000 });
  await trail.setSinks([sinkOf()]);
  for (let n = 1; n <= 100; n++) {
    t.ok(trail.record(entries(20)));
    await until(() => sink().taken.length === 20 * n);
  }
  time.advance(1_000);
  t.match(told.trail, { missed: 0, recorded: 2_000 });
  t.ok(told.trail!.droppedEarly > 1_000);
  const events = await eventsOf(trail);
  t.equal(events.at(-1)!['seq'], 2_000);
  t.match(verifyEvents(events), { fault: null });
  await trail.close(0);
});

const isOfARequest = (event: Readonly<Record<string, unknown>>): boolean =>
  event['event_type'] === 'enforcement';

t.test('history leaves when its time has passed and every sink has it', async (t) => {
  const { trail, time, sink } = openTrail({ retentionMs: 86_400_000 });
  await trail.setSinks([sinkOf()]);
  trail.record([...entries(1_200), ...entries(600, { org_id: 'org_b' })]);
  await until(() => sink().taken.length === 1_200);
  sink().answer = () => ({ kind: 'retry', reason: 'down' });
  trail.record(entries(5));
  time.leap(86_400_000 - 60_000);
  const kept = async (org?: string) => (await eventsOf(trail, org)).filter(isOfARequest);
  t.equal((await kept()).length, 1_205);
  time.advance(120_000);
  await until(async () => (await kept()).length === 5 && (await kept('org_b')).length === 0);
  trail.record(entries(1, { org_id: 'org_b' }));
  const [next] = await kept('org_b');
  t.equal(next!['seq'], 1_808, 'order goes on, after the anchors of two chains');
  t.not(next!['prev_hash'], '0'.repeat(64), 'and so does the chain');
  await trail.close(0);
});

t.test('an event whose text was changed on disk is skipped, counted and told of', async (t) => {
  const folder = t.testdir();
  const first = openTrail({ folder });
  await first.trail.setSinks([sinkOf()]);
  first.sink().answer = () => ({ kind: 'retry', reason: 'down' });
  first.trail.record(entries(5));
  await first.trail.close(0);
  const database = openDatabase(join(folder, 'spool.db'));
  database.exec(`UPDATE events SET json = replace(json, 'enforcement', 'enforcemens') WHERE seq = 3`);
  database.close();

  const { trail, sink, time, told } = openTrail({ folder });
  await trail.setSinks([sinkOf()]);
  await until(() => sink().taken.length === 5);
  t.same(sink().taken, [1, 2, 4, 5, 6]);
  t.match(JSON.parse(sink().batches.at(-1)!.events[0]!.json), {
    reason_code: 'audit_gap',
    details: { reason: 'damaged', events: 1, first_seq: 3, last_seq: 3 },
  });
  time.advance(1_000);
  t.match(told.trail, { damaged: 1 });
  await trail.close(0);
});

t.test('a damaged page costs the events on it, not the trail', async (t) => {
  const folder = t.testdir();
  const first = openTrail({ folder });
  await first.trail.setSinks([sinkOf()]);
  first.sink().answer = () => ({ kind: 'retry', reason: 'down' });
  first.trail.record(entries(400));
  await first.trail.close(0);
  const database = openDatabase(join(folder, 'spool.db'));
  const [page] = database
    .prepare(
      `SELECT pageno FROM dbstat WHERE name = 'events' AND pagetype = 'leaf' ORDER BY pageno LIMIT 1 OFFSET 20`,
    )
    .all() as { pageno: number }[];
  database.close();
  const file = openSync(join(folder, 'spool.db'), 'r+');
  writeSync(file, Buffer.alloc(4_096), 0, 4_096, (page!.pageno - 1) * 4_096);
  closeSync(file);

  const { trail, sink } = openTrail({ folder });
  await trail.setSinks([sinkOf()]);
  await until(() => sink().taken.includes(400));
  t.ok(sink().taken.length > 380, `${sink().taken.length} arrive`);
  t.ok(trail.record(entries(1)), 'and new ones are taken');
  await trail.close(0);
});

t.test('a file that is no spool is set aside, and the new one begins by telling so', async (t) => {
  const folder = t.testdir({ 'spool.db': 'no database'.repeat(1_000) });
  t.throws(() => openTrail({ folder }), /not a database/);
  const { trail, sink } = openTrail({ folder });
  await trail.setSinks([sinkOf()]);
  trail.record(entries(1));
  await until(() => sink().taken.length === 2);
  t.match(await eventsOf(trail), [
    {
      seq: 1,
      reason_code: 'audit_gap',
      details: { reason: 'spool_damaged', set_aside: /spool\.db\.damaged-/ },
    },
    { seq: 2, decision: 'allow' },
  ]);
  await trail.close(0);
});

t.test(
  'whichever page is damaged, the trail opens: in what is left of the file, or in a new one',
  async (t) => {
    const pages = await (async () => {
      const folder = t.testdir({ one: {} });
      const { trail } = openTrail({ folder: join(folder, 'one') });
      trail.record(entries(50));
      await trail.close(0);
      return readFileSync(join(folder, 'one', 'spool.db'));
    })();
    for (let page = 1; page < Math.min(12, pages.length / 4_096); page++) {
      const folder = join(t.testdirName, `page-${page}`);
      mkdirSync(folder);
      const damaged = Buffer.from(pages);
      damaged.fill(0, page * 4_096, (page + 1) * 4_096);
      writeFileSync(join(folder, 'spool.db'), damaged);
      let opened: ReturnType<typeof openTrail> | null = null;
      for (let tries = 0; tries < 2 && opened === null; tries++)
        try {
          opened = openTrail({ folder });
        } catch (error) {
          t.ok(isDamage(error), `page ${page}: ${String(error)}`);
        }
      t.ok(opened?.trail.record(entries(1)), `page ${page}`);
      await opened?.trail.close(0);
    }
  },
);

t.test('a spool of a newer version is refused, not set aside', async (t) => {
  const folder = t.testdir();
  const first = openTrail({ folder });
  await first.trail.close(0);
  const database = openDatabase(join(folder, 'spool.db'));
  database.exec(`INSERT INTO migrations VALUES (99, '099-later', 'x', 0)`);
  database.close();
  t.throws(() => openTrail({ folder }), /newer Sluice/);
  t.notOk(readdirSync(folder).some((name) => name.includes('damaged')));
});

t.test('a write that fails breaks the trail, which is then opened anew', async (t) => {
  const folder = t.testdir();
  const { trail, told } = openTrail({ folder });
  trail.record(entries(1));
  const database = openDatabase(join(folder, 'spool.db'));
  database.exec('DROP TABLE events');
  database.close();
  t.notOk(trail.record(entries(2)));
  t.equal(told.broken, 1);
  t.notOk(trail.open);
  t.same(trail.untold(), [[ORG, 2]]);
  await trail.close(0);
});
