import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import { readMember, shrinkEvent, timeOf, withMembers } from '../../../src/rules/sinks/event-text.js';
import { gzipBytes } from '../../../src/rules/sinks/gzip.js';
import { CREATED_AT, eventOf } from '../../support/sinks/batches.js';

t.test('D28 a member is found at the top of an event, whatever lies below or before', async (t) => {
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.string({ maxLength: 8 }).filter((key) => key !== 'created_at' && key !== '__proto__'),
        fc.jsonValue({ maxDepth: 2 }),
        { maxKeys: 4 },
      ),
      fc.string({ unit: 'binary' }),
      (others, time) => {
        const nested = { 'created_at":"x': [{ created_at: 'nested' }], text: '\\"created_at":"' };
        const json = JSON.stringify({ ...others, nested, created_at: time });
        t.equal(readMember(json, 'created_at'), (JSON.parse(json) as { created_at: string }).created_at);
        t.equal(readMember(JSON.stringify({ ...others, nested }), 'created_at'), null);
      },
    ),
  );
  t.equal(timeOf(eventOf(1).json, 'other'), CREATED_AT);
  t.equal(timeOf('{"created_at":7}', 'other'), 'other');
});

t.test('D28 members join an event without touching its own text', async (t) => {
  const { json } = eventOf(1);
  const joined = withMembers('"@timestamp":"now"', json);
  t.ok(joined.endsWith(json.slice(1)));
  t.strictSame(JSON.parse(joined), { '@timestamp': 'now', ...(JSON.parse(json) as object) });
});

t.test('4.1 a large event loses its largest members and says so, and keeps who it is', async (t) => {
  const { json } = eventOf(1, { content: 'x'.repeat(5_000), matches: ['y'.repeat(2_000)] });
  t.equal(shrinkEvent(json, 10_000), json);
  const once = JSON.parse(shrinkEvent(json, 4_000)) as Record<string, unknown>;
  t.strictSame(once['export_truncated'], ['content']);
  t.ok(once['matches']);
  const twice = JSON.parse(shrinkEvent(json, 600)) as Record<string, unknown>;
  t.strictSame(twice['export_truncated'], ['content', 'matches']);
  for (const name of ['event_id', 'created_at', 'seq', 'instance_id']) t.ok(name in twice, name);
});

t.test('4.1 compressed bytes depend on the content alone', async (t) => {
  const [one, two] = [await gzipBytes('the same'), await gzipBytes(Buffer.from('the same'))];
  t.strictSame(one, two);
  t.equal(one.readUInt32LE(4), 0, 'no time');
  t.equal(one[9], 255, 'no system');
  t.equal(gunzipSync(one).toString(), 'the same');
});
