import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { GENESIS, erased, seal, writeBody } from '../../src/rules/audit/event.js';
import { facts } from '../rules/audit/desk.js';
import { sluiceHere } from './sluice.js';

type Event = Record<string, unknown>;

const first = { orgId: 'org_a', instanceId: 'inst_1', firstSeq: 1, day: '2031-01-01' };

/** Events as sinks export them, of one organization and instance. */
function chainOf(count: number, over: Partial<typeof first> = {}): string[] {
  const { orgId, instanceId, firstSeq, day } = { ...first, ...over };
  let prevHash = GENESIS;
  return Array.from({ length: count }, (_, n) => {
    const place = {
      eventId: `evt_${orgId}_${n}`,
      createdAt: `${day}T00:00:${String(n % 60).padStart(2, '0')}Z`,
    };
    const body = writeBody(facts({ org_id: orgId, details: { b: n, a: 'ä' } }));
    const { json, hash } = seal(body, { ...place, instanceId, seq: firstSeq + n * 2, prevHash });
    prevHash = hash;
    return json;
  });
}

const changed = (json: string, over: Event): string =>
  JSON.stringify({ ...(JSON.parse(json) as Event), ...over });

const filesOf = (t: Test, files: Readonly<Record<string, readonly string[] | Buffer>>): string[] => {
  const folder = t.testdir();
  return Object.entries(files).map(([name, content]) => {
    writeFileSync(join(folder, name), Buffer.isBuffer(content) ? content : `${content.join('\n')}\n`);
    return join(folder, name);
  });
};

const verify = (...words: string[]) => sluiceHere(['audit', 'verify', ...words]);

t.test('D28 audit verify proves a whole export, from any part of the trail on', async (t) => {
  const events = chainOf(50);
  const [plain, gzip] = filesOf(t, {
    'a.ndjson': events,
    'b.ndjson.gz': gzipSync(events.slice(20).join('\n')),
  });
  t.match(await verify(plain!), {
    code: 0,
    out: '50 events in 1 chain: whole, in order and unchanged.',
  });
  t.match(await verify(gzip!), { code: 0, out: /^30 events in 1 chain/ });
});

t.test(
  'D28 audit verify takes files in any order, several chains, and batches that were sent again',
  async (t) => {
    const [a, b] = [chainOf(30), chainOf(30, { orgId: 'org_b', firstSeq: 2 })];
    const files = filesOf(t, {
      '10.ndjson': [...a.slice(20), ...b.slice(20)],
      '9.ndjson': [...a.slice(10, 20), ...b.slice(5, 20)],
      'a.ndjson': [...a.slice(0, 15), ...b.slice(0, 10)],
    });
    t.match(await verify(...files, '--json'), {
      code: 0,
      out: /"ok": true,\s+"events": 60,\s+"duplicates": 10,/,
    });
  },
);

t.test('D28 audit verify reads events inside of what a destination wraps around them', async (t) => {
  const events = chainOf(8).map((json) => JSON.parse(json) as Event);
  const lines = [
    { time: 1, event: events[0] },
    { create: { _id: 'x' } },
    { _index: 'logs', _source: { '@timestamp': 'x', ...events[1] } },
    { result: { _raw: JSON.stringify({ event: events[2] }) } },
    [{ TimeGenerated: 'x', ...events[3] }, events[4]],
    { id: 'x', attributes: { attributes: events[5] } },
    { message: JSON.stringify(events[6]), ddsource: 'x' },
    Object.fromEntries(
      Object.entries(events[7]!)
        .filter(([, value]) => value !== null)
        .reverse(),
    ),
  ];
  const [file] = filesOf(t, { 'mixed.ndjson': lines.map((line) => JSON.stringify(line)) });
  t.match(await verify(file!), { code: 0, out: /^8 events.*\n  1 line without an event\n$/ });
});

t.test('D28 audit verify names the first bad event', async (t) => {
  const events = chainOf(20);
  const other = chainOf(20, { orgId: 'org_a', instanceId: 'inst_1' }).map((json) =>
    changed(json, { user_id: 'x' }),
  );
  const cases: Readonly<Record<string, readonly [readonly string[] | Buffer, RegExp]>> = {
    tampered: [events.with(7, changed(events[7]!, { decision: 'refuse' })), /:8: evt_org_a_7: tampered/],
    rehashed: [events.with(7, other[7]!), /:8: evt_org_a_7: tampered/],
    removed: [events.toSpliced(7, 2), /:8: evt_org_a_9: gap\. Events are missing between seq 13 and seq 19/],
    swapped: [events.with(7, events[8]!).with(8, events[7]!), /:8: evt_org_a_8: gap/],
    late: [[...events.slice(10), events[3]!], /:11: evt_org_a_3: order/],
    cut: [[...events.slice(0, 5), events[5]!.slice(0, 90)], /:6: an event: unreadable/],
    bare: [[...events.slice(0, 5), changed(events[5]!, { seq: 'x' })], /:6: evt_org_a_5: unreadable/],
    gzip: [gzipSync(events.join('\n')).subarray(0, 700), /compression is damaged or cut off.*unreadable/],
  };
  for (const [name, [content, message]] of Object.entries(cases)) {
    const [file] = filesOf(t, { [`${name}.ndjson`]: content });
    const { code, err } = await verify(file!);
    t.equal(code, 1, name);
    t.match(err, message, name);
  }
});

t.test('D28 audit verify accepts an erased event in its place, and says how many there are', async (t) => {
  const events = chainOf(5);
  const [file] = filesOf(t, { 'erased.ndjson': events.with(2, erased(events[2]!)) });
  t.match(await verify(file!), { code: 0, out: /1 event erased on request/ });
  const [moved] = filesOf(t, {
    'moved.ndjson': events.with(2, changed(erased(events[2]!), { hash: GENESIS })),
  });
  t.match(await verify(moved!), { code: 1, err: /evt_org_a_3: gap/ });
});

t.test('D28 audit verify names chains that end a day before the others', async (t) => {
  const early = chainOf(3, { orgId: 'org_quiet' });
  const late = chainOf(2, { orgId: 'org_busy', day: '2031-01-03' });
  const [file] = filesOf(t, { 'a.ndjson': [...early, ...late] });
  const { code, out } = await verify(file!);
  t.equal(code, 0);
  t.match(out, /1 chain without an event of the last day/);
  t.match(out, /org_quiet, inst_1: last event 2031-01-01T00:00:02.000Z/);
  t.notMatch(out, /org_busy/);
});

t.test('D45 audit verify says when there is nothing to verify', async (t) => {
  const [empty] = filesOf(t, { 'empty.ndjson': [''] });
  t.match(await verify(empty!), { code: 1, err: /no audit event/ });
  t.match(await verify(), { code: 2, err: /missing FILE\.\.\./ });
  t.match(await verify(join(t.testdir(), 'none')), { code: 2, err: /ENOENT/ });
});
