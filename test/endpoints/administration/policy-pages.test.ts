import t, { type Test } from 'tap';
import { systemClock } from '../../../src/core/clock.js';
import { openEmbeddedRecords } from '../../../src/io/records/embedded.js';
import { openRedisRecords } from '../../../src/io/records/redis.js';
import type { Page, Records } from '../../../src/io/records/records.js';
import { listPolicies, listVersions, type PolicyBook } from '../../../src/rules/policies/book.js';
import { createPolicy, deletePolicy } from '../../../src/rules/policies/change.js';
import {
  MOST_VERSIONS,
  POLICIES,
  versionId,
  versionsOf,
  type PolicyRecord,
} from '../../../src/rules/policies/layout.js';
import { plainClient, startRedis } from '../../support/redis.js';

const ORG = 'org_many';
const MANY = 10_000;

const policy = {
  name: 'One of many',
  description: '',
  rule: 'A rule.',
  direction: 'both',
  mode: 'monitoring',
  scope: 'organization',
  project_ids: [],
  match_threshold_basis_points: null,
} as const;

const bookOn = (records: Records): PolicyBook => ({ records, clock: systemClock, maxPolicies: 2 * MANY });

const fill = async (book: PolicyBook): Promise<void> => {
  for (let made = 0; made < MANY; made += 500)
    await Promise.all(Array.from({ length: 500 }, () => createPolicy(book, ORG, policy)));
};

/** What a list asks of the store, page by page: all that its cost can come from. */
const watched = (records: Records) => {
  const asked: { readonly limit: number; readonly got: number }[] = [];
  let others = 0;
  const watch = new Proxy(records, {
    get: (target, name: keyof Records) => {
      if (name !== 'list') {
        others++;
        return target[name].bind(target) as unknown;
      }
      return async (partition: string, collection: string, page: Page) => {
        const result = await target.list(partition, collection, page);
        asked.push({ limit: page.limit, got: result.items.length });
        return result;
      };
    },
  });
  return { records: watch, asked, others: () => others };
};

const walk = async (t: Test, book: PolicyBook): Promise<string[]> => {
  const { records, asked, others } = watched(book.records);
  const ids: string[] = [];
  for (let after: string | undefined; ;) {
    const { items, hasMore } = await listPolicies({ ...book, records }, ORG, {
      limit: 100,
      ...(after !== undefined && { after }),
    });
    ids.push(...items.map(({ id }) => id));
    after = ids.at(-1);
    if (!hasMore) break;
  }
  t.equal(asked.length, MANY / 100, 'one question a page');
  t.ok(
    asked.every(({ limit, got }) => limit === 100 && got === 100),
    'and no row that is not shown',
  );
  t.equal(others(), 0, 'nothing else is asked');
  return ids;
};

const cursorStaysGood = async (t: Test, book: PolicyBook): Promise<void> => {
  const first = await listPolicies(book, ORG, { limit: 50 });
  const last = first.items.at(-1)!;
  await deletePolicy(book, { organizationId: ORG, id: last.id, revision: 1 });
  await deletePolicy(book, { organizationId: ORG, id: first.items[3]!.id, revision: 1 });
  const late = await createPolicy(book, ORG, policy);
  const second = await listPolicies(book, ORG, { limit: 50, after: last.id });
  t.ok(
    second.items.every(({ id }) => id > last.id),
    'the cursor outlives its object',
  );
  t.equal(second.items.length, 50);
  const end = await listPolicies(book, ORG, { limit: 1, order: 'desc' });
  t.equal(end.items[0]!.id, late.id, 'what came meanwhile stands at the end, so no page repeats or skips');
};

/** A policy with a long history, written as its publications would have left it. */
const writeHistory = async ({ records }: PolicyBook, id: string): Promise<void> => {
  const { name, description, ...terms } = policy;
  const cut = (version: number) => ({ ...terms, project_ids: [], version, published_at: 1 });
  for (let from = 1; from <= MOST_VERSIONS; from += 1_000)
    await records.commit(
      ORG,
      Array.from({ length: 1_000 }, (_, i) => ({
        op: 'put' as const,
        collection: versionsOf(id),
        id: versionId(id, from + i),
        value: cut(from + i),
        expect: 'absent' as const,
      })),
    );
  const record: PolicyRecord = {
    name,
    description,
    state: 'monitoring',
    draft: { ...terms, rule: 'Newer.', project_ids: [], base_version: MOST_VERSIONS },
    published: cut(MOST_VERSIONS),
    created_at: 1,
    updated_at: 1,
  };
  await records.commit(ORG, [{ op: 'put', collection: POLICIES, id, value: record, expect: 'absent' }]);
};

const endHistory = async (t: Test, book: PolicyBook): Promise<void> => {
  const { publishDraft } = await import('../../../src/rules/policies/edit.js');
  const target = { organizationId: ORG, id: 'pol_zz', revision: 1 };
  await writeHistory(book, target.id);
  await t.rejects(publishDraft(book, target), { code: 'resource_limit_exceeded' }, 'the history has an end');
  const page = await listVersions(book, ORG, target.id, { limit: 2, order: 'desc' });
  t.same(
    page.items.map(({ version, current }) => [version, current]),
    [
      [MOST_VERSIONS, true],
      [MOST_VERSIONS - 1, false],
    ],
  );
  await deletePolicy(book, target);
  const left = await book.records.list(ORG, versionsOf(target.id), { limit: 1 });
  t.equal(left.items.length, 0, 'all versions went with it');
};

t.test('4.1 ten thousand policies list at one question a page, embedded', async (t) => {
  const records = await openEmbeddedRecords({ path: ':memory:' });
  t.teardown(() => records.close());
  const book = bookOn(records);
  await fill(book);
  const ids = await walk(t, book);
  t.equal(new Set(ids).size, MANY);
  t.same(ids, [...ids].sort());
  await cursorStaysGood(t, book);
  await endHistory(t, book);
});

t.test('4.1 ten thousand policies list at constant cost a page, on Redis', async (t) => {
  const redis = await startRedis();
  t.teardown(() => redis.stop());
  const records = await openRedisRecords({ url: redis.url, keyPrefix: 'many:' });
  t.teardown(() => records.close());
  const book = bookOn(records);
  await fill(book);
  const client = plainClient(redis.port);
  t.teardown(() => client.disconnect());
  /** Reads of data only: pings and subscriptions are not the list's. */
  const commands = async (): Promise<number> => {
    const stats = await client.info('commandstats');
    return [...stats.matchAll(/^cmdstat_(?:hget|get|z\w+|h\w+):calls=(\d+)/gm)].reduce(
      (sum, [, calls]) => sum + Number(calls),
      0,
    );
  };
  const costOf = async (page: Page): Promise<number> => {
    const before = await commands();
    await listPolicies(book, ORG, page);
    return (await commands()) - before;
  };
  const ids = await walk(t, book);
  t.equal(new Set(ids).size, MANY);
  const costs = [
    await costOf({ limit: 100 }),
    await costOf({ limit: 100, after: ids[MANY / 2]! }),
    await costOf({ limit: 100, after: ids[MANY - 200]! }),
  ];
  t.ok(costs[0]! > 100, 'the count sees the reads');
  t.same(
    new Set(costs).size,
    1,
    `the first, a middle and a late page cost the same: ${costs.join(', ')} commands`,
  );
  await cursorStaysGood(t, book);
  await endHistory(t, book);
});
