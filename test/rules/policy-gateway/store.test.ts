import t, { type Test } from 'tap';
import { openEmbeddedRecords } from '../../../src/io/records/embedded.js';
import { AlsoRefused } from '../../../src/io/records/join.js';
import { openRedisRecords } from '../../../src/io/records/redis.js';
import type { Records } from '../../../src/io/records/records.js';
import { compileConfig } from '../../../src/rules/policy-gateway/compile.js';
import { defaultConfig, readConfig } from '../../../src/rules/policy-gateway/config.js';
import { CONFIG_ID, GATEWAY, MOST_REVISIONS } from '../../../src/rules/policy-gateway/layout.js';
import {
  getConfig,
  listConfigHistory,
  saveConfig,
  seedConfig,
  type ConfigBook,
} from '../../../src/rules/policy-gateway/store.js';
import { ManualClock } from '../../support/manual-clock.js';
import { MemoryRecords } from '../../support/memory-records.js';
import { startRedis, type RedisServer } from '../../support/redis.js';

const ORG = 'org_test';
let redis: Promise<RedisServer> | null = null;
let prefixes = 0;

const opened = async (t: Test, records: Records): Promise<Records> => {
  t.teardown(() => records.close());
  return records;
};

const stores: Readonly<Record<string, (t: Test) => Promise<Records>>> = {
  embedded: async (t) => opened(t, await openEmbeddedRecords({ path: ':memory:' })),
  Redis: async (t) => {
    redis ??= startRedis();
    const { url } = await redis;
    return opened(t, await openRedisRecords({ url, keyPrefix: `t${prefixes++}:`, commandTimeoutMs: 10_000 }));
  },
};
t.teardown(async () => (await redis)?.stop());

interface Setting {
  readonly clock: ManualClock;
  readonly book: ConfigBook;
}

const onBoth = (name: string, run: (t: Test, setting: Setting) => Promise<void>): void => {
  for (const [store, open] of Object.entries(stores))
    t.test(`${name} (${store})`, async (t) => {
      const clock = new ManualClock();
      await run(t, { clock, book: { records: await open(t), clock } });
    });
};

const named = (name: string) => readConfig({ name, rules: { denylist: [name] }, x_kept: { deep: [name] } });
const all = { limit: 100 } as const;

onBoth('4.7 what was never stored is the defaults, without dates', async (t, { book }) => {
  t.strictSame(await getConfig(book, ORG), {
    revision: 0,
    config: defaultConfig,
    created_at: null,
    updated_at: null,
  });
  t.strictSame(await listConfigHistory(book, ORG, all), { items: [], hasMore: false });
});

onBoth('4.7 what is saved is read again, unknown keys included, with the dates of D1', async (t, setting) => {
  const { book, clock } = setting;
  const first = await saveConfig(book, ORG, named('one'));
  t.strictSame(first, {
    revision: 1,
    config: named('one'),
    created_at: '2031-01-31T12:00:00.000Z',
    updated_at: '2031-01-31T12:00:00.000Z',
  });
  t.strictSame(await getConfig(book, ORG), first);
  clock.advance(1_500);
  const second = await saveConfig(book, ORG, named('two'));
  t.match(second, { revision: 2, created_at: first.created_at, updated_at: '2031-01-31T12:00:01.500Z' });
  clock.advance(-60_000);
  t.equal(
    (await saveConfig(book, ORG, named('three'))).updated_at,
    second.updated_at,
    'time never runs back',
  );
  t.strictSame((await getConfig(book, 'org_other')).config, defaultConfig, 'each organization has its own');
});

onBoth('every saved configuration stays in the history, up to a bound', async (t, { book, clock }) => {
  for (let i = 1; i <= MOST_REVISIONS + 3; i++) {
    clock.advance(1_000);
    await saveConfig(book, ORG, named(`c${i}`));
  }
  const { items, hasMore } = await listConfigHistory(book, ORG, all);
  t.notOk(hasMore);
  t.strictSame(
    items.map(({ revision, config }) => [revision, config.name]),
    Array.from({ length: MOST_REVISIONS }, (_, i) => [i + 4, `c${i + 4}`]),
  );
  t.match(items.at(-1), {
    object: 'policy_gateway.config.revision',
    config: named(`c${MOST_REVISIONS + 3}`),
  });
  const page = await listConfigHistory(book, ORG, { limit: 2, order: 'desc', after: items[10]!.id });
  t.strictSame(
    page.items.map(({ revision }) => revision),
    [13, 12],
  );
  t.ok(page.hasMore);
});

onBoth('a history of great configurations is short, and the latest is always in it', async (t, { book }) => {
  const large = (name: string) =>
    readConfig({
      name,
      rules: { denylist: Array.from({ length: 30_000 }, (_, i) => `${'x'.repeat(190)}${i}`) },
    });
  for (const name of ['one', 'two', 'three']) await saveConfig(book, ORG, large(name));
  const names = async () => (await listConfigHistory(book, ORG, all)).items.map(({ config }) => config.name);
  t.strictSame(await names(), ['two', 'three'], '16 MiB hold two of them');
  await saveConfig(book, ORG, named('small'));
  t.strictSame(await names(), ['two', 'three', 'small']);
});

onBoth('those who save at once all succeed, and nobody’s revision is lost', async (t, { book }) => {
  const saved = await Promise.all(Array.from({ length: 8 }, (_, i) => saveConfig(book, ORG, named(`c${i}`))));
  t.strictSame(saved.map(({ revision }) => revision).toSorted(), [1, 2, 3, 4, 5, 6, 7, 8]);
  const { items } = await listConfigHistory(book, ORG, all);
  t.strictSame(
    items.map(({ config }) => config.name).toSorted(),
    saved.map(({ config }) => config.name).toSorted(),
  );
  const last = saved.find(({ revision }) => revision === 8)!;
  t.strictSame((await getConfig(book, ORG)).config, last.config);
});

onBoth('what joins the commit is there with it, or nothing is', async (t, { book }) => {
  const put = { op: 'put', collection: 'notes', id: 'n', value: { a: 1 }, expect: 'absent' } as const;
  await saveConfig(book, ORG, named('one'), { also: ({ revision }) => [{ ...put, value: { revision } }] });
  t.match(await book.records.get(ORG, 'notes', 'n'), { value: { revision: 1 } });
  await t.rejects(saveConfig(book, ORG, named('two'), { also: () => [put] }), AlsoRefused);
  t.match(await getConfig(book, ORG), { revision: 1, config: { name: 'one' } });
});

onBoth('D46 bootstrap stores a configuration where there is none, once', async (t, { book }) => {
  const given = { name: 'seed', rules: { redact: true } };
  const made = await Promise.all([1, 2, 3].map(() => seedConfig(book, ORG, given)));
  t.equal(made.filter(Boolean).length, 1);
  await saveConfig(book, ORG, named('edited'));
  t.notOk(await seedConfig(book, ORG, given));
  t.equal((await getConfig(book, ORG)).config.name, 'edited');
  t.equal((await listConfigHistory(book, ORG, all)).items.length, 2);
  await t.rejects(seedConfig(book, 'org_b', { rules: { redact: 1 } }), /org_b.*rules\.redact/);
});

t.test(
  'a configuration that nobody can read is a fault of the store, mended by saving another',
  async (t) => {
    const records = new MemoryRecords();
    const book = { records, clock: new ManualClock() };
    await saveConfig(book, ORG, named('one'));
    const stored = await records.get(ORG, GATEWAY, CONFIG_ID);
    const value = { ...stored!.value, config: { rules: [] } };
    await records.commit(ORG, [{ op: 'put', collection: GATEWAY, id: CONFIG_ID, value, expect: 'any' }]);
    await t.rejects(getConfig(book, ORG), /cannot be read at config\.rules/);
    await saveConfig(book, ORG, named('two'));
    t.match(await getConfig(book, ORG), { revision: 3, config: { name: 'two' } });
  },
);

t.test('D19 a configuration is compiled once: its lists, the categories that fire, its mode', async (t) => {
  const plain = await compileConfig(defaultConfig);
  t.match(plain, { config: defaultConfig, allowlist: null, denylist: null, mode: 'refuse' });
  t.strictSame(
    [...plain.blocked],
    ['self-harm', 'self-harm/intent', 'self-harm/instructions', 'sexual/minors'],
  );
  const config = readConfig({
    rules: { allowlist: ['Billing'], denylist: ['red fox', 'blue'], flagged_categories: ['hate'] },
    refusal_replacement: { mode: 'summarize' },
  });
  const compiled = await compileConfig(config);
  t.ok(compiled.allowlist?.find('about BILLING.').length === 1);
  t.strictSame(
    compiled.denylist?.find('A red  fox, bluer').map(({ term, from, to }) => [term, from, to]),
    [['red fox', 2, 10]],
  );
  t.ok(compiled.blocked.has('hate/threatening'));
  t.equal(compiled.mode, 'summary');
});
