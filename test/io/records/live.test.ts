import t from 'tap';
import { createLive, type LiveOptions } from '../../../src/io/records/live.js';
import { ManualClock } from '../../support/manual-clock.js';
import { MemoryRecords } from '../../support/memory-records.js';

const ORG = 'org_a';

/** What a collection holds, as a live value; `put` is another replica's commit. */
const open = (changes: Partial<LiveOptions<readonly string[]>> = {}) => {
  const clock = new ManualClock();
  const elsewhere = new MemoryRecords(clock);
  const records = elsewhere.opener();
  const loads: string[] = [];
  const staleness: [string, boolean][] = [];
  const live = createLive<readonly string[]>({
    records,
    clock,
    load: async (partition) => {
      loads.push(partition);
      const { items } = await records.list(partition, 'things', { limit: 100 });
      return items.map(({ id }) => id);
    },
    touches: ({ collection }) => collection === 'things',
    onStale: (partition, stale) => staleness.push([partition, stale]),
    ...changes,
  });
  const put = (id: string, { partition = ORG, collection = 'things' } = {}) =>
    elsewhere.commit(partition, [{ op: 'put', collection, id, value: {}, expect: 'any' }]);
  return { clock, records, live, loads, staleness, put };
};

/** Until what runs in the background has come to rest. */
const rest = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
};

t.test(
  'D32 a value is loaded when first asked for, once for all who ask, and then given at once',
  async (t) => {
    const { live, loads, put } = open();
    await put('one');
    const [first, second] = [live.get(ORG), live.get(ORG)];
    t.ok(first instanceof Promise);
    t.strictSame(await Promise.all([first, second]), [['one'], ['one']]);
    t.strictSame(live.get(ORG), ['one'], 'no promise any more');
    t.strictSame(loads, [ORG]);
    await live.ready('org_b');
    t.strictSame(live.get('org_b'), []);
    live.close();
  },
);

t.test('D32 a change told by the store acts on the very next reader', async (t) => {
  const { live, put, loads } = open();
  await live.ready(ORG);
  await put('one');
  t.strictSame(await live.get(ORG), ['one']);
  await put('two', { collection: 'others' });
  await put('three', { partition: 'org_b' });
  t.strictSame(live.get(ORG), ['one'], 'what does not touch it is no reason to wait');
  await rest();
  t.equal(loads.length, 2);
  live.close();
});

t.test('D32 a change that was not told acts within a second', async (t) => {
  const { live, records, clock, put, loads } = open();
  await live.ready(ORG);
  records.deaf = true;
  await put('one');
  t.strictSame(live.get(ORG), []);
  clock.advance(800);
  void live.get(ORG);
  await rest();
  t.strictSame(live.get(ORG), ['one']);
  clock.advance(800);
  void live.get(ORG);
  await rest();
  t.equal(loads.length, 2, 'nothing changed, nothing is loaded');
  live.close();
});

t.test('D32 after an interruption of the feed everything is confirmed before it serves', async (t) => {
  const { live, records, put } = open();
  await live.ready(ORG);
  await live.ready('org_b');
  records.deaf = true;
  await put('one');
  await put('two', { partition: 'org_b' });
  records.deaf = false;
  records.tell(null);
  t.strictSame(await live.get(ORG), ['one']);
  t.strictSame(await live.get('org_b'), ['two']);
  live.close();
});

t.test('D32 while the store is away what is there serves, and says that it is stale', async (t) => {
  const { live, records, clock, put, staleness } = open();
  await put('one');
  await live.ready(ORG);
  records.down = true;
  await put('two');
  t.strictSame(await live.get(ORG), ['one']);
  t.equal(live.stale(ORG), true);
  t.strictSame(live.get(ORG), ['one'], 'and nobody waits for the store');
  clock.advance(800);
  t.strictSame(live.get(ORG), ['one']);
  await rest();
  t.strictSame(staleness, [[ORG, true]]);
  records.down = false;
  clock.advance(800);
  void live.get(ORG);
  await rest();
  t.strictSame(live.get(ORG), ['one', 'two']);
  t.equal(live.stale(ORG), false);
  t.strictSame(staleness, [
    [ORG, true],
    [ORG, false],
  ]);
  live.close();
});

t.test('D32 only the first load can fail, and the next reader tries again', async (t) => {
  const { live, records } = open();
  records.down = true;
  await t.rejects(live.ready(ORG), { name: 'StoreUnavailable' });
  t.equal(live.stale(ORG), false);
  records.down = false;
  t.strictSame(await live.get(ORG), []);
  live.close();
});

t.test('D32 a change during a load is not lost', async (t) => {
  const { live, records, put } = open();
  const held: (() => void)[] = [];
  records.delay = () => new Promise((resolve) => held.push(resolve));
  const release = async (): Promise<void> => {
    held.shift()?.();
    await rest();
  };
  const first = live.get(ORG);
  await release(); // the generation
  const before = held.length;
  t.equal(before, 1, 'the list is being read');
  await put('late');
  records.delay = () => Promise.resolve();
  await release();
  await first;
  t.strictSame(await live.get(ORG), ['late']);
  live.close();
});

t.test('D32 a reader does not wait long for a load that takes long', async (t) => {
  let finish: () => void = () => {};
  let loads = 0;
  const { live, put } = open({
    waitMs: 5,
    load: async () => {
      if (loads++ > 0) await new Promise<void>((resolve) => (finish = resolve));
      return [`load ${loads}`];
    },
  });
  await live.ready(ORG);
  await put('one');
  t.strictSame(await live.get(ORG), ['load 1']);
  finish();
  await rest();
  t.strictSame(live.get(ORG), ['load 2']);
  live.close();
});

t.test('D32 a load is given what it made before, and the number of values is bounded', async (t) => {
  const previous: (readonly string[] | null)[] = [];
  const { live, put } = open({
    max: 2,
    load: async (partition, before) => {
      previous.push(before);
      return [partition];
    },
  });
  await live.ready(ORG);
  await put('one');
  await live.get(ORG);
  t.strictSame(previous, [null, [ORG]]);
  await live.ready('org_b');
  await live.ready('org_c');
  t.ok(live.get(ORG) instanceof Promise, 'the one that was not asked for longest has gone');
  live.close();
});
