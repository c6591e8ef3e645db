import t from 'tap';
import { silentLog } from '../../../src/core/log.js';
import { createPolicy, deletePolicy, type NewPolicy } from '../../../src/rules/policies/change.js';
import { createRuleCompiler } from '../../../src/rules/policies/compiler.js';
import { pausePolicy, publishDraft, resumePolicy, updateDraft } from '../../../src/rules/policies/edit.js';
import { POLICIES } from '../../../src/rules/policies/layout.js';
import { createLivePolicies } from '../../../src/rules/policies/live-policies.js';
import { ManualClock } from '../../support/manual-clock.js';
import { MemoryRecords } from '../../support/memory-records.js';
import { piece, subject } from './published-policies.js';

const ORG = 'org_a';
const zebra: NewPolicy = {
  name: 'No zebras',
  description: '',
  rule: 'cel:text.contains("zebra")',
  direction: 'both',
  mode: 'enforcing',
  scope: 'organization',
  project_ids: [],
  match_threshold_basis_points: null,
};

t.test(
  'D32 what is published, paused or deleted on one replica acts on another with its next request',
  async (t) => {
    const clock = new ManualClock();
    const records = new MemoryRecords(clock);
    const book = { records, clock, maxPolicies: 500 };
    const compiler = createRuleCompiler();
    const faults: string[] = [];
    const live = createLivePolicies({
      records: records.opener(),
      compiler,
      clock,
      log: silentLog,
      onFault: (id) => faults.push(id),
    });
    t.teardown(async () => {
      live.close();
      await compiler.close();
    });
    const names = async (text: string): Promise<string[]> =>
      (await live.get(ORG)).evaluate(subject, piece(text)).map(({ name, version }) => `${name} ${version}`);

    const drafted = await createPolicy(book, ORG, zebra);
    t.strictSame(await names('a zebra'), [], 'a draft does nothing');
    const target = (revision: number) => ({ organizationId: ORG, id: drafted.id, revision });
    await publishDraft(book, target(1));
    t.strictSame(await names('a zebra'), ['No zebras 1']);
    await updateDraft(book, target(2), { rule: 'cel:text.contains("yak")' });
    t.strictSame(await names('a zebra, a yak'), ['No zebras 1']);
    t.strictSame(await names('a yak'), []);
    await publishDraft(book, target(3));
    t.strictSame(await names('a yak'), ['No zebras 2']);
    await pausePolicy(book, target(4));
    t.strictSame(await names('a yak'), []);
    await resumePolicy(book, target(5));
    t.strictSame(await names('a yak'), ['No zebras 2']);

    await records.commit(ORG, [
      { op: 'put', collection: POLICIES, id: 'pol_broken', value: {}, expect: 'absent' },
    ]);
    t.strictSame(await names('a yak'), ['No zebras 2'], 'one that cannot be read harms no other');
    t.strictSame(faults, ['pol_broken']);
    await deletePolicy(book, target(6));
    t.strictSame(await names('a yak'), []);
  },
);

t.test('D32 all policies of an organization are loaded, however many pages they fill', async (t) => {
  const clock = new ManualClock();
  const records = new MemoryRecords(clock);
  const compiler = createRuleCompiler();
  for (let n = 0; n < 230; n++)
    await createPolicy(
      { records, clock, maxPolicies: 500 },
      ORG,
      { ...zebra, rule: `Prose ${n}.` },
      { publish: true },
    );
  const live = createLivePolicies({ records, compiler, clock, log: silentLog });
  t.equal((await live.get(ORG)).size, 230);
  live.close();
  await compiler.close();
});
