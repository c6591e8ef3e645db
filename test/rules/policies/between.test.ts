import t from 'tap';
import type { Records } from '../../../src/io/records/records.js';
import { listVersions, type PolicyBook } from '../../../src/rules/policies/book.js';
import { createPolicy, deletePolicy } from '../../../src/rules/policies/change.js';
import { publishDraft, restoreVersion, updateDraft } from '../../../src/rules/policies/edit.js';
import { POLICIES } from '../../../src/rules/policies/layout.js';
import { ManualClock } from '../../support/manual-clock.js';
import { MemoryRecords } from '../../support/memory-records.js';

const ORG = 'org_a';

const terms = {
  name: 'n',
  description: '',
  rule: 'r',
  direction: 'both',
  mode: 'monitoring',
  scope: 'organization',
  project_ids: [],
  match_threshold_basis_points: null,
} as const;

/** A book whose next reading of a policy is followed by what somebody else does. */
const setting = async () => {
  const clock = new ManualClock();
  const records = new MemoryRecords(clock);
  const plain: PolicyBook = { records, clock, maxPolicies: 10 };
  let meanwhile: (() => Promise<unknown>) | null = null;
  const seen: Records = new Proxy<Records>(records, {
    get: (target, name: keyof Records) =>
      name !== 'get'
        ? (target[name].bind(target) as unknown)
        : async (partition: string, collection: string, id: string) => {
            const stored = await target.get(partition, collection, id);
            const act = collection === POLICIES ? meanwhile : null;
            if (act) meanwhile = null;
            await act?.();
            return stored;
          },
  });
  const { id } = await createPolicy(plain, ORG, terms);
  return {
    clock,
    records,
    plain,
    book: { ...plain, records: seen },
    target: (revision: number) => ({ organizationId: ORG, id, revision }),
    between: (act: () => Promise<unknown>) => (meanwhile = act),
  };
};

t.test(
  'D8 who comes between the reading and the commit wins, and the other learns the revision',
  async (t) => {
    const { book, plain, target, between } = await setting();
    between(() => updateDraft(plain, target(1), { name: 'theirs' }));
    await t.rejects(publishDraft(book, target(1)), { code: 'revision_conflict', message: /revision 2\b/ });
    between(() => deletePolicy(plain, target(2)));
    await t.rejects(updateDraft(book, target(2), { name: 'mine' }), { code: 'not_found' });
  },
);

t.test('2.3 a list of versions names exactly one current, also while another is being cut', async (t) => {
  const { book, plain, target, between } = await setting();
  await publishDraft(plain, target(1));
  for (const order of ['asc', 'desc'] as const) {
    const revision = order === 'asc' ? 2 : 4;
    between(async () => {
      await updateDraft(plain, target(revision), { rule: `Rule ${revision}.` });
      await publishDraft(plain, target(revision + 1));
    });
    const { items, hasMore } = await listVersions(book, ORG, target(1).id, { limit: 5, order });
    t.equal(items.filter(({ current }) => current).length, 1);
    t.equal(items.length, order === 'asc' ? 1 : 2, 'as it was when the policy was read');
    t.equal(hasMore, false);
  }
});

t.test('D10 a joined step that does not hold undoes the change it came with', async (t) => {
  const { plain, records, target } = await setting();
  const kept = { op: 'put', collection: 'kept', id: 'k', value: {}, expect: 'absent' } as const;
  await records.commit(ORG, [kept]);
  const before = await records.get(ORG, POLICIES, target(1).id);
  const also = () => [kept];
  await t.rejects(updateDraft(plain, target(1), { name: 'x' }, { also }), { name: 'AlsoRefused' });
  await t.rejects(updateDraft(plain, target(1), {}, { also }), { name: 'AlsoRefused' });
  await t.rejects(publishDraft(plain, target(1), { also }), { name: 'AlsoRefused' });
  await t.rejects(deletePolicy(plain, target(1), { also }), { name: 'AlsoRefused' });
  await t.rejects(createPolicy(plain, ORG, terms, { also }), { name: 'AlsoRefused' });
  t.same(await records.get(ORG, POLICIES, target(1).id), before);
  t.equal((await records.list(ORG, POLICIES, { limit: 5 })).items.length, 1);
});

t.test('2.1 updated_at moves with changes only, and never back', async (t) => {
  const { clock, plain, target } = await setting();
  clock.advance(5_000);
  const changed = await updateDraft(plain, target(1), { name: 'x' });
  t.equal(changed.updated_at, changed.created_at + 5);
  clock.advance(-60_000);
  t.equal((await publishDraft(plain, target(2))).updated_at, changed.updated_at, 'a clock that steps back');
  clock.advance(600_000);
  t.equal((await updateDraft(plain, target(3), { name: 'x' })).updated_at, changed.updated_at, 'no change');
  t.equal((await restoreVersion(plain, target(3), 1)).updated_at, changed.updated_at, 'nothing to restore');
});
