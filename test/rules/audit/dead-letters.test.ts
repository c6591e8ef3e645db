import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { DeadLetters } from '../../../src/rules/audit/dead-letters.js';

t.test('dead letters are bounded: two files for each sink, readable by their owner alone', async (t) => {
  const folder = t.testdir();
  const letters = new DeadLetters(folder, 1_000);
  for (let seq = 1; seq <= 100; seq++)
    letters.add(
      'a/b',
      [{ item: { seq, eventId: `evt_${seq}`, json: `{"seq":${seq}}` }, reason: 'HTTP "400"' }],
      'now',
    );
  const files = readdirSync(join(folder, 'dead-letters')).sort();
  t.same(files, ['a%2Fb.ndjson', 'a%2Fb.ndjson.old']);
  for (const file of files) {
    const { size, mode } = statSync(join(folder, 'dead-letters', file));
    t.ok(size < 1_200);
    t.equal(mode & 0o777, 0o600);
  }
  const last = readFileSync(join(folder, 'dead-letters', files[0]!), 'utf8')
    .trim()
    .split('\n')
    .at(-1)!;
  t.same(JSON.parse(last), { at: 'now', sink_id: 'a/b', reason: 'HTTP "400"', event: { seq: 100 } });
});
