import type { Test } from 'tap';
import { newId } from '../../../src/core/ids.js';
import { GLOBAL } from '../../../src/io/records/records.js';
import type { Change, Records, Stored } from '../../../src/io/records/records.js';
import { until } from '../../support/redis.js';

/** What every store of records must do. `open` gives another opener of the same store each time. */
export function keepTheContract(t: Test, open: () => Promise<Records>): void {
  let first: Records;
  let second: Records;
  let org: string;

  t.before(async () => {
    [first, second] = [await open(), await open()];
  });
  t.beforeEach(() => {
    org = newId('org');
  });
  t.teardown(async () => {
    await Promise.all([first.close(), second.close()]);
  });

  const put = (id: string, n: number, expect: number | 'absent' | 'any' = 'any') =>
    ({ op: 'put', collection: 'things', id, value: { n }, expect }) as const;
  const ids = (items: readonly Stored[]) => items.map(({ id }) => id);

  t.test('D8 a record begins at revision 1 and grows by one with each change', async (t) => {
    t.equal(await first.get(org, 'things', 'a'), null);
    t.strictSame(await first.commit(org, [put('a', 1, 'absent')]), { ok: true, revisions: [1] });
    t.strictSame(await second.commit(org, [put('a', 2, 1)]), { ok: true, revisions: [2] });
    t.strictSame(await first.commit(org, [put('a', 3)]), { ok: true, revisions: [3] });
    t.strictSame(await second.get(org, 'things', 'a'), { id: 'a', revision: 3, value: { n: 3 } });
    t.equal(await first.get(org, 'others', 'a'), null, 'another collection');
    t.equal(await first.get(newId('org'), 'things', 'a'), null, 'another partition');
  });

  t.test('D8 a stale, missing or unexpected record refuses the commit and shows what is there', async (t) => {
    await first.commit(org, [put('a', 1), put('b', 1)]);
    const current = { id: 'a', revision: 1, value: { n: 1 } };
    t.strictSame(await first.commit(org, [put('a', 2, 'absent')]), {
      ok: false,
      step: 0,
      reason: 'exists',
      current,
    });
    t.strictSame(await first.commit(org, [put('b', 2), put('a', 2, 7)]), {
      ok: false,
      step: 1,
      reason: 'revision',
      current,
    });
    t.strictSame(await first.commit(org, [put('c', 2, 1)]), {
      ok: false,
      step: 0,
      reason: 'missing',
      current: null,
    });
    t.match(await first.get(org, 'things', 'b'), { revision: 1 }, 'the step before was not applied');
  });

  t.test('D8 of 64 racing writers with one revision exactly one wins', async (t) => {
    await first.commit(org, [put('a', 0)]);
    const outcomes = await Promise.all(
      Array.from({ length: 64 }, (_, n) => (n % 2 ? first : second).commit(org, [put('a', n + 1, 1)])),
    );
    t.equal(outcomes.filter(({ ok }) => ok).length, 1);
    const now = await first.get(org, 'things', 'a');
    t.equal(now?.revision, 2);
    for (const outcome of outcomes)
      if (!outcome.ok)
        t.strictSame(outcome, { ok: false, step: outcome.step, reason: 'revision', current: now });
  });

  t.test('a commit applies all of its steps or none', async (t) => {
    await first.commit(org, [put('keep', 1)]);
    const refused = await first.commit(org, [
      put('new', 1),
      { op: 'delete', collection: 'things', id: 'keep', expect: 1 },
      { op: 'point', digest: `all-${org}`, to: { partition: org, collection: 'things', id: 'new' } },
      put('missing', 1, 5),
    ]);
    t.match(refused, { ok: false, step: 3, reason: 'missing' });
    t.equal(await first.get(org, 'things', 'new'), null);
    t.match(await first.get(org, 'things', 'keep'), { revision: 1 });
    t.equal(await first.find(`all-${org}`), null);
    t.strictSame(ids((await first.list(org, 'things', { limit: 10 })).items), ['keep']);
    t.equal(await first.generation(org), 1);
  });

  t.test('a step sees what the steps before it did', async (t) => {
    const done = await first.commit(org, [
      put('a', 1, 'absent'),
      put('a', 2, 1),
      { op: 'room', collection: 'things', max: 2 },
      put('b', 1, 'absent'),
      { op: 'delete', collection: 'things', id: 'a', expect: 2 },
      { op: 'room', collection: 'things', max: 2 },
      put('a', 3, 'absent'),
    ]);
    t.strictSame(done, { ok: true, revisions: [1, 2, 0, 1, 0, 0, 1] });
    t.strictSame(await first.get(org, 'things', 'a'), { id: 'a', revision: 1, value: { n: 3 } });
    t.match(await first.commit(org, [{ op: 'room', collection: 'things', max: 2 }]), {
      ok: false,
      step: 0,
      reason: 'full',
      current: null,
    });
  });

  t.test('D14 a full collection takes no more, however many try at once', async (t) => {
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        (n % 2 ? first : second).commit(org, [
          { op: 'room', collection: 'things', max: 5 },
          put(`t${n}`, n, 'absent'),
        ]),
      ),
    );
    t.equal(outcomes.filter(({ ok }) => ok).length, 5);
    t.equal((await first.list(org, 'things', { limit: 40 })).items.length, 5);
    await first.commit(org, [
      {
        op: 'delete',
        collection: 'things',
        id: ids((await first.list(org, 'things', { limit: 1 })).items)[0]!,
        expect: 'any',
      },
    ]);
    t.match(await first.commit(org, [{ op: 'room', collection: 'things', max: 5 }, put('again', 1)]), {
      ok: true,
    });
  });

  t.test('a delete obeys what it expects, and is no fault where nothing is there', async (t) => {
    const remove = (expect: number | 'any' | 'absent') =>
      first.commit(org, [{ op: 'delete', collection: 'things', id: 'a', expect }]);
    t.strictSame(await remove('any'), { ok: true, revisions: [0] });
    t.match(await remove(1), { ok: false, reason: 'missing' });
    await first.commit(org, [put('a', 1)]);
    t.match(await remove('absent'), { ok: false, reason: 'exists' });
    t.match(await remove(2), { ok: false, reason: 'revision' });
    t.strictSame(await remove(1), { ok: true, revisions: [0] });
    t.equal(await second.get(org, 'things', 'a'), null);
    t.strictSame(await second.list(org, 'things', { limit: 5 }), { items: [], hasMore: false });
  });

  t.test('D2 a list goes in id order, up or down, page by page', async (t) => {
    const names = Array.from({ length: 25 }, (_, n) => `t${String(n).padStart(2, '0')}`);
    await first.commit(
      org,
      [...names].reverse().map((id, n) => put(id, n)),
    );
    for (const order of ['asc', 'desc'] as const) {
      const seen: string[] = [];
      for (let after: string | undefined; ;) {
        const page = await second.list(org, 'things', { limit: 10, order, ...(after ? { after } : {}) });
        seen.push(...ids(page.items));
        t.equal(page.hasMore, seen.length < 25);
        if (!page.hasMore) break;
        after = ids(page.items).at(-1)!;
      }
      t.strictSame(seen, order === 'asc' ? names : [...names].reverse());
    }
    t.match(await first.list(org, 'things', { limit: 25 }), { hasMore: false });
    t.match(await first.list(org, 'things', { limit: 24 }), { hasMore: true });
  });

  t.test('D2 a cursor stays good when its object is deleted, and when it never was', async (t) => {
    await first.commit(
      org,
      ['a', 'b', 'c', 'd'].map((id) => put(id, 1)),
    );
    await first.commit(org, [{ op: 'delete', collection: 'things', id: 'b', expect: 'any' }]);
    t.strictSame(ids((await first.list(org, 'things', { after: 'b', limit: 9 })).items), ['c', 'd']);
    t.strictSame(ids((await first.list(org, 'things', { after: 'b', limit: 9, order: 'desc' })).items), [
      'a',
    ]);
    t.strictSame(ids((await first.list(org, 'things', { after: 'bb', limit: 1 })).items), ['c']);
    t.strictSame(ids((await first.list(org, 'things', { after: 'z', limit: 1 })).items), []);
  });

  t.test('D2 pages neither skip nor repeat what stays while objects come and go', async (t) => {
    const stay = Array.from({ length: 30 }, (_, n) => `t${String(n).padStart(3, '0')}-stay`);
    const go = stay.map((id) => id.replace('stay', 'go'));
    await first.commit(
      org,
      [...stay, ...go].map((id) => put(id, 1)),
    );
    const seen: string[] = [];
    for (let after: string | undefined, round = 0; ; round++) {
      const page = await first.list(org, 'things', { limit: 7, ...(after ? { after } : {}) });
      seen.push(...ids(page.items));
      await second.commit(org, [
        { op: 'delete', collection: 'things', id: go[round]!, expect: 'any' },
        put(`t${String(round * 3).padStart(3, '0')}-new`, 1),
      ]);
      if (!page.hasMore) break;
      after = ids(page.items).at(-1)!;
    }
    t.strictSame(
      seen.filter((id) => id.endsWith('stay')),
      stay,
    );
    t.equal(new Set(seen).size, seen.length);
    t.strictSame(seen, [...seen].sort());
  });

  t.test('D10 a record with a ttl vanishes in time and never stands in a list', async (t) => {
    const brief = { op: 'put', collection: 'things', id: 'brief', value: {}, expect: 'absent' } as const;
    await first.commit(org, [{ ...brief, ttlMs: 600_000 }]);
    t.match(await second.get(org, 'things', 'brief'), { revision: 1 });
    t.match(await second.commit(org, [{ ...brief, ttlMs: 1 }]), { ok: false, reason: 'exists' });
    t.strictSame((await second.list(org, 'things', { limit: 5 })).items, []);
    t.match(await first.commit(org, [{ op: 'room', collection: 'things', max: 1 }]), { ok: true });

    await first.commit(org, [{ ...brief, expect: 1, ttlMs: 40 }]);
    await until(async () => (await second.get(org, 'things', 'brief')) === null);
    t.strictSame(await second.commit(org, [brief]), { ok: true, revisions: [1] }, 'free for a new one');
    t.strictSame(ids((await first.list(org, 'things', { limit: 5 })).items), ['brief'], 'which stays');

    await first.commit(org, [{ ...brief, expect: 1, ttlMs: 600_000 }]);
    t.strictSame((await first.list(org, 'things', { limit: 5 })).items, [], 'a ttl takes it off the list');
    t.match(await first.commit(org, [{ op: 'room', collection: 'things', max: 1 }]), { ok: true });
    await first.commit(org, [{ op: 'delete', collection: 'things', id: 'brief', expect: 2 }]);
    t.equal(await first.get(org, 'things', 'brief'), null);
  });

  t.test('D3 a digest leads to its record until it is unpointed', async (t) => {
    const digest = `digest-${org}`;
    const to = { partition: org, collection: 'things', id: 'key' };
    t.equal(await first.find(digest), null);
    t.strictSame(await first.commit(org, [put('key', 1, 'absent'), { op: 'point', digest, to }]), {
      ok: true,
      revisions: [1, 0],
    });
    t.strictSame(await second.find(digest), to);
    t.match(await second.commit(org, [{ op: 'point', digest, to }]), { ok: true }, 'the same once more');
    const other = { ...to, id: 'other' };
    t.strictSame(await second.commit(org, [put('other', 1), { op: 'point', digest, to: other }]), {
      ok: false,
      step: 1,
      reason: 'exists',
      current: null,
    });
    t.strictSame(await first.find(digest), to);
    await first.commit(org, [
      { op: 'delete', collection: 'things', id: 'key', expect: 'any' },
      { op: 'unpoint', digest },
    ]);
    t.equal(await second.find(digest), null);
  });

  t.test('D3 a digest that leads to nothing gives way', async (t) => {
    const digest = `digest-${org}`;
    const to = { partition: org, collection: 'things', id: 'key' };
    await first.commit(org, [put('key', 1), { op: 'point', digest, to }]);
    await first.commit(org, [{ op: 'delete', collection: 'things', id: 'key', expect: 'any' }]);
    const next = { ...to, id: 'next' };
    t.match(await second.commit(org, [put('next', 1), { op: 'point', digest, to: next }]), { ok: true });
    t.strictSame(await first.find(digest), next);
  });

  t.test('D3 replicas that create one key at once leave it working', async (t) => {
    const digest = `digest-${org}`;
    const to = { partition: org, collection: 'things', id: 'key' };
    const outcomes = await Promise.all(
      Array.from({ length: 16 }, (_, n) =>
        (n % 2 ? first : second).commit(org, [put('key', n, 'absent'), { op: 'point', digest, to }]),
      ),
    );
    t.equal(outcomes.filter(({ ok }) => ok).length, 1);
    t.strictSame(await first.find(digest), to);
  });

  t.test(
    'a name is claimed by one of many, given back by its holder only, and free after its time',
    async (t) => {
      const name = `claim-${org}`;
      const claims = await Promise.all(
        Array.from({ length: 40 }, (_, n) => (n % 2 ? first : second).claim(name, 600_000)),
      );
      t.equal(claims.filter(Boolean).length, 1);
      const [holder, other] = claims.indexOf(true) % 2 ? [first, second] : [second, first];
      await other.unclaim(name);
      t.equal(await other.claim(name, 40), false);
      await holder.unclaim(name);
      t.equal(await other.claim(name, 40), true);
      await until(() => holder.claim(name, 600_000));
      t.equal(await holder.claim(name, 1), false);
      await holder.unclaim(name);
    },
  );

  t.test('D32 the generation grows with every commit of its partition and with no other', async (t) => {
    t.equal(await first.generation(org), 0);
    await first.commit(org, [put('a', 1)]);
    await second.commit(org, [put('a', 2), put('b', 1)]);
    await first.commit(org, [put('a', 3, 'absent')]);
    await first.commit(GLOBAL, [put(org, 1)]);
    t.equal(await first.generation(org), 2);
    t.equal(await second.generation(org), 2);
  });

  t.test('D32 every opener hears of every change, its own included', async (t) => {
    const heard: [Change[], Change[]] = [[], []];
    const unwatch = [first, second].map((records, i) => records.watch((change) => heard[i]!.push(change)));
    const stopped: Change[] = [];
    first.watch((change) => stopped.push(change))();
    await first.commit(org, [put('a', 1), { op: 'delete', collection: 'others', id: 'b', expect: 'any' }]);
    const told = (changes: readonly Change[]) =>
      ['things a', 'others b'].every((place) =>
        changes.some(
          (change) =>
            change === null || (change.partition === org && `${change.collection} ${change.id}` === place),
        ),
      );
    await until(() => told(heard[0]) && told(heard[1]));
    // In a Cluster notices of an earlier test may still be on their way.
    const own = heard[0].filter((change) => change === null || change.partition === org);
    t.match(own.slice(0, 2), [
      { partition: org, collection: 'things', id: 'a' },
      { partition: org, collection: 'others', id: 'b' },
    ]);
    t.strictSame(stopped, []);
    for (const stop of unwatch) stop();
  });

  t.test('D32 a listener that throws harms nobody', async (t) => {
    const heard: Change[] = [];
    const unwatch = [
      first.watch(() => {
        throw new Error('a bug of the listener');
      }),
      first.watch((change) => heard.push(change)),
    ];
    t.match(await first.commit(org, [put('a', 1)]), { ok: true });
    await until(() => heard.length > 0);
    for (const stop of unwatch) stop();
  });

  t.test('last uses keep the latest, leave the record alone and go with it', async (t) => {
    await first.commit(org, [put('a', 1)]);
    await first.noteUses(
      org,
      new Map([
        ['a', 2000],
        ['b', 5],
      ]),
    );
    await second.noteUses(
      org,
      new Map([
        ['a', 1000],
        ['b', 6],
      ]),
    );
    await second.noteUses(org, new Map());
    t.strictSame(await first.lastUses(org, ['b', 'none', 'a']), [6, null, 2000]);
    t.strictSame(await first.lastUses(org, []), []);
    t.equal(await first.generation(org), 1);
    t.match(await first.get(org, 'things', 'a'), { revision: 1 });
    await first.commit(org, [{ op: 'delete', collection: 'others', id: 'a', expect: 'absent' }]);
    t.strictSame(await second.lastUses(org, ['a']), [2000]);
    await first.commit(org, [{ op: 'delete', collection: 'things', id: 'a', expect: 'any' }]);
    t.strictSame(await second.lastUses(org, ['a']), [null]);
  });

  t.test('values come back as they were given, whatever they hold', async (t) => {
    const value = {
      text: 'grüße, 日本語, 🜁, \u0000, \ud800, "\\\n',
      large: 'x€'.repeat(350_000),
      deep: { list: [1, -0.5, 1e300, Number.MAX_SAFE_INTEGER, null, true, [], {}] },
      ...(JSON.parse('{"__proto__":{"polluted":1},"constructor":2}') as object),
    };
    await first.commit(org, [{ op: 'put', collection: 'things', id: 'v', value, expect: 'absent' }]);
    const back = await second.get(org, 'things', 'v');
    t.equal(JSON.stringify(back?.value), JSON.stringify(value));
    t.equal(({} as { polluted?: unknown }).polluted, undefined);
  });

  t.test('odd ids are ids like others, in the order of their bytes', async (t) => {
    const odd = [
      '__proto__',
      'constructor',
      'toString',
      'a b',
      'a:b',
      'a{b}c',
      '(a',
      '[a',
      '-',
      '+',
      '\n',
      'ü',
      '日',
      '\uffee',
      '🜁',
    ];
    await first.commit(
      org,
      odd.map((id, n) => put(id, n)),
    );
    const sorted = [...odd].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    t.strictSame(ids((await second.list(org, 'things', { limit: 50 })).items), sorted);
    for (const [n, id] of odd.entries()) t.strictSame((await second.get(org, 'things', id))?.value, { n });
    for (const id of odd) {
      const { items } = await second.list(org, 'things', { after: id, limit: 1 });
      t.equal(ids(items)[0], sorted[sorted.indexOf(id) + 1]);
    }
  });

  t.test('names that no store could keep apart are refused', async (t) => {
    await t.rejects(first.get('a}b', 'things', 'a'), RangeError);
    await t.rejects(first.get('', 'things', 'a'), RangeError);
    await t.rejects(first.get(org, 'a:b', 'a'), RangeError);
    await t.rejects(first.get(org, 'things', ''), RangeError);
    await t.rejects(first.get(org, 'things', '\ud800'), RangeError);
    await t.rejects(first.commit('{a}', [put('a', 1)]), RangeError);
    await t.rejects(first.commit(org, [{ ...put('a', 1), ttlMs: 0 }]), RangeError);
  });

  t.test('an open store answers a ping', async () => {
    await first.ping();
  });
}
