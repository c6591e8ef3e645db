import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { HistoryFilter } from '../../../src/rules/audit/history.js';
import type { Trail } from '../../../src/rules/audit/trail.js';
import { entries, entry, eventsOf, openTrail, ORG, said, sinkOf, until } from './desk.js';
import { verifyEvents } from './verify-events.js';

const find = async (trail: Trail, filter: Partial<HistoryFilter>) => {
  const { events, hasMore } = await trail.history(ORG, { limit: 100, ...filter });
  const parsed = events.map((json) => JSON.parse(json) as { seq: number; event_id: string });
  return { seqs: parsed.map(({ seq }) => seq), ids: parsed.map(({ event_id }) => event_id), hasMore };
};

t.test('history is newest first, of one organization, a page at a time', async (t) => {
  const { trail } = openTrail();
  trail.record([...entries(3), ...entries(2, { org_id: 'org_b' }), ...entries(1_200)]);
  const all: number[] = [];
  for (let after: string | undefined; ;) {
    const page = await find(trail, { limit: 100, ...(after !== undefined && { after }) });
    all.push(...page.seqs);
    if (!page.hasMore) break;
    after = page.ids.at(-1);
  }
  t.equal(all.length, 1_203);
  t.same(all.slice(-3), [3, 2, 1]);
  t.same(
    all,
    [...all].sort((a, b) => b - a),
  );
  t.same(await trail.history('org_none', { limit: 5 }), { events: [], hasMore: false });
  await trail.close(0);
});

t.test('history is filtered by everything that is asked for', async (t) => {
  const { trail, time } = openTrail();
  const fields = {
    event_type: 'simulation',
    decision: 'refuse',
    policy_id: 'pol_1',
    project_id: 'proj_1',
    key_id: 'key_1',
    user_id: 'Zoë "z"',
    request_id: 'req_1',
  } as const;
  trail.record([entry({ details: fields }), entry(fields), ...entries(600)]);
  time.advance(60_000);
  const laterMs = time.nowMs();
  trail.record([entry({ policy_user: 'Zoë "z"' }), entry({ decision: 'refuse' })]);
  t.same((await find(trail, { eventType: 'simulation' })).seqs, [2]);
  t.same((await find(trail, { decision: 'refuse' })).seqs, [604, 2]);
  t.same((await find(trail, { policyId: 'pol_1' })).seqs, [2]);
  t.same((await find(trail, { projectId: 'proj_1' })).seqs, [2]);
  t.same((await find(trail, { keyId: 'key_1' })).seqs, [2]);
  t.same((await find(trail, { requestId: 'req_1' })).seqs, [2]);
  t.same((await find(trail, { user: 'Zoë "z"' })).seqs, [603, 2]);
  t.same((await find(trail, { user: 'Zoë "z"', decision: 'refuse' })).seqs, [2]);
  t.same((await find(trail, { sinceMs: laterMs })).seqs, [604, 603]);
  t.same((await find(trail, { untilMs: laterMs - 1, limit: 2 })).seqs, [602, 601]);
  t.same((await find(trail, { decision: 'refuse', limit: 1 })).hasMore, true);
  t.same((await find(trail, { decision: 'refuse', limit: 2 })).hasMore, false);
  await trail.close(0);
});

t.test('a page goes on where the one before ended, although that event has left', async (t) => {
  const { trail, time } = openTrail({ retentionMs: 3_600_000 });
  trail.record(entries(5));
  const { ids } = await find(trail, { limit: 2 });
  time.leap(7_200_000);
  trail.record(entries(3));
  time.advance(10_000);
  await until(async () => (await eventsOf(trail)).length === 3);
  t.same((await find(trail, { after: ids[1]! })).seqs, []);
  t.same((await find(trail, {})).seqs, [8, 7, 6]);
  await trail.close(0);
});

t.test('erasing a user leaves the place of each event, and the chain verifies', async (t) => {
  const folder = t.testdir();
  const { trail, sink } = openTrail({ folder });
  await trail.setSinks([sinkOf()]);
  sink().answer = ({ events }) =>
    events.some(({ seq }) => seq === 2) ? { kind: 'poison', reason: 'HTTP 400' } : { kind: 'accepted' };
  trail.record([
    entry(),
    entry({ user_id: 'zoe', content: said('canary-1') }),
    entry({ policy_user: 'zoe', content: said('canary-2') }),
    entry({ user_id: 'zoe2' }),
    entry({ org_id: 'org_b', user_id: 'zoe' }),
  ]);
  await until(() => sink().taken.length === 3);
  t.equal(await trail.erase(ORG, 'zoe'), 2);
  t.equal(await trail.erase(ORG, 'zoe'), 0);
  const events = await eventsOf(trail);
  t.match(events, [{ seq: 1 }, { seq: 2, erased: true }, { seq: 3, erased: true }, { user_id: 'zoe2' }]);
  t.notMatch(JSON.stringify(events), /canary|"zoe"/);
  t.match(verifyEvents(events), { fault: null, erased: 2, events: 4 });
  t.match(await eventsOf(trail, 'org_b'), [{ user_id: 'zoe' }]);
  const letters = readFileSync(join(folder, 'dead-letters', 'sink_1.ndjson'), 'utf8');
  t.match(JSON.parse(letters), { reason: 'HTTP 400', event: { seq: 2, erased: true } });
  await trail.close(0);
  for (const file of ['spool.db', 'spool.db-wal']) {
    let bytes = '';
    try {
      bytes = readFileSync(join(folder, file), 'latin1');
    } catch {
      // closed for good, so there is no log
    }
    t.notOk(bytes.includes('canary'), `nothing is left in ${file}`);
  }
});

t.test('D28 erasing a user reaches the dead letters of sinks that are gone', async (t) => {
  const folder = t.testdir();
  const { trail, sink } = openTrail({ folder });
  await trail.setSinks([sinkOf(), sinkOf('other', { organizationId: 'org_b' })]);
  sink().answer = () => ({ kind: 'poison', reason: 'HTTP 400' });
  sink('other').answer = () => ({ kind: 'poison', reason: 'HTTP 400' });
  trail.record([entry({ user_id: 'zoe' }), entry({ org_id: 'org_b', user_id: 'zoe' })]);
  const letters = (id: string): string => {
    const file = join(folder, 'dead-letters', `${id}.ndjson`);
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  };
  await until(() => letters('sink_1') !== '' && letters('other') !== '');
  await trail.setSinks([]);
  await trail.erase(ORG, 'zoe');
  t.match(letters('sink_1'), /"erased":true/);
  t.notMatch(letters('sink_1'), /zoe/);
  t.match(letters('other'), /zoe/, 'of that organization alone');
  await trail.close(0);
});
