import { holds, type Permission } from '../../../src/core/principal.js';
import t from 'tap';
import { ADMIN_KEY, runGateway } from '../../support/gateway.js';
import { askerFor, onBoth, openDesk, settings, stores, type Answer, type Ask } from './desk.js';

const codeOf = ({ status, body }: Answer): string =>
  `${status} ${status === 200 ? body.state : body.error.code}`;

onBoth('3 a policy goes through its states as D5 says', async (t, desk) => {
  const { id } = await desk.create({ mode: 'enforcing' });
  let revision = 1;
  const act = async (verb: string, more: object = {}): Promise<Answer> => {
    const answer = await desk.ask('POST', `/policies/${id}/${verb}`, { revision, ...more });
    if (answer.status === 200) revision = answer.body.revision;
    return answer;
  };
  const edit = async (changes: object): Promise<Answer> => {
    const answer = await desk.ask('PATCH', `/policies/${id}`, { revision, ...changes });
    revision = answer.body.revision;
    return answer;
  };

  t.equal(codeOf(await act('pause')), '409 policy_not_active', 'a draft is not paused');
  t.equal(codeOf(await act('resume')), '409 policy_not_paused');
  const first = await act('publish');
  t.equal(codeOf(first), '200 enforcing');
  t.match(first.body, {
    revision: 2,
    current_version: 1,
    has_unpublished_changes: false,
    draft: { base_version: 1 },
  });
  t.match(first.body.published, {
    version: 1,
    current: true,
    mode: 'enforcing',
    object: 'organization.policy.version',
  });
  t.equal(codeOf(await act('publish')), '409 no_unpublished_changes');
  t.equal(codeOf(await act('resume')), '409 policy_not_paused');

  const edited = await edit({ mode: 'monitoring', rule: 'Another rule.' });
  t.match(edited.body, { state: 'enforcing', has_unpublished_changes: true, current_version: 1 });
  t.same(
    edited.body.published,
    first.body.published,
    '2.3 a published version never changes when the draft does',
  );
  t.equal(codeOf(await act('pause')), '200 paused');
  t.equal(codeOf(await act('pause')), '409 policy_not_active');
  const second = await act('publish');
  t.equal(codeOf(second), '200 paused', 'a publication while paused cuts a version and stays paused');
  t.equal(second.body.current_version, 2);
  t.equal(codeOf(await act('resume')), '200 monitoring', 'the mode of the published version');

  const restored = await act('restore', { version: 1 });
  t.match(restored.body.draft, { rule: first.body.draft.rule, mode: 'enforcing', base_version: 1 });
  t.match(restored.body, { has_unpublished_changes: true, current_version: 2, state: 'monitoring' });
  t.equal(
    (await act('restore', { version: 1 })).body.revision,
    restored.body.revision,
    'nothing new to restore',
  );
  t.equal(codeOf(await act('restore', { version: 3 })), '404 not_found');
  t.equal(codeOf(await act('publish')), '200 enforcing');

  const { body: versions } = await desk.ask('GET', `/policies/${id}/versions`);
  t.same(
    versions.data.map(({ version, current }) => [version, current]),
    [
      [1, false],
      [2, false],
      [3, true],
    ],
  );
  t.equal(versions.data[2]!.rule, versions.data[0]!.rule);
  const newest = await desk.ask('GET', `/policies/${id}/versions?order=desc&limit=1`);
  t.match(newest.body, { has_more: true, first_id: versions.data[2]!.id });
  t.same(
    (await desk.ask('GET', `/policies/${id}/versions?after=${versions.first_id!}&limit=2`)).body.data,
    versions.data.slice(1),
  );
  t.equal(
    (await desk.ask('GET', `/policies/${id}/versions?after=${id}`)).status,
    400,
    'a cursor of another kind',
  );

  t.equal(
    codeOf(await desk.ask('DELETE', `/policies/${id}?revision=${revision - 1}`)),
    '409 revision_conflict',
  );
  t.equal((await desk.ask('DELETE', `/policies/${id}?revision=${revision}`)).status, 200);
  for (const path of ['', '/versions'])
    t.equal((await desk.ask('GET', `/policies/${id}${path}`)).status, 404);
  t.equal((await desk.ask('DELETE', `/policies/${id}?revision=${revision}`)).status, 404, 'a second time');
});

onBoth('D6 has_unpublished_changes compares by value, and undoing an edit takes it back', async (t, desk) => {
  const { id } = await desk.create({ scope: 'projects', project_ids: ['a', 'b'] });
  const path = `/policies/${id}`;
  await desk.ask('POST', `${path}/publish`, { revision: 1 });
  const edit = async (revision: number, changes: object) =>
    (await desk.ask('PATCH', path, { revision, ...changes })).body;
  t.match(await edit(2, { project_ids: ['b', 'a', 'b'] }), { revision: 2 }, 'the same set is no change');
  const edits = [
    { rule: 'Other.' },
    { direction: 'request' },
    { mode: 'enforcing' },
    { scope: 'unattached' },
    { project_ids: ['a'] },
    { match_threshold_basis_points: 1 },
  ];
  const { published } = (await desk.ask('GET', path)).body;
  let revision = 2;
  for (const changes of edits) {
    const changed = await edit(revision, changes);
    t.match(changed, { revision: revision + 1, has_unpublished_changes: true }, JSON.stringify(changes));
    const undo = Object.fromEntries(Object.keys(changes).map((key) => [key, published![key as 'rule']]));
    const undone = await edit(revision + 1, undo);
    t.match(undone, { revision: revision + 2, has_unpublished_changes: false });
    revision = undone.revision;
  }
  const renamed = await edit(revision, { name: 'New name', description: 'New words' });
  t.match(renamed, { has_unpublished_changes: false, revision: revision + 1 }, 'D7 names are not versioned');
});

onBoth('D7 scope and project_ids must agree at publication, not before', async (t, desk) => {
  for (const draft of [
    { scope: 'projects', project_ids: [] },
    { scope: 'organization', project_ids: ['a'] },
    { scope: 'unattached', project_ids: ['a'] },
  ]) {
    const { id } = await desk.create(draft);
    const refused = await desk.ask('POST', `/policies/${id}/publish`, { revision: 1 });
    t.equal(refused.status, 422);
    t.equal(refused.body.error.param, 'project_ids');
    t.equal((await desk.ask('GET', `/policies/${id}`)).body.revision, 1);
  }
  const { id } = await desk.create({ scope: 'projects', project_ids: ['proj_that_nobody_made'] });
  t.equal((await desk.ask('POST', `/policies/${id}/publish`, { revision: 1 })).status, 200);
});

onBoth(
  'D29 a rule that is no expression is refused where it is wrong, before anything is kept',
  async (t, desk) => {
    const { id } = await desk.create();
    const refused = await desk.ask('PATCH', `/policies/${id}`, { revision: 1, rule: 'cel:text ==\n  nope' });
    t.equal(refused.status, 422);
    t.match(refused.body.error, { param: 'rule', message: 'rule: line 2, column 3: unknown name nope.' });
    t.equal((await desk.ask('POST', '/policies', { name: 'n', rule: 'cel:size(' })).body.error.param, 'rule');
    t.equal(
      (await desk.ask('PATCH', `/policies/${id}`, { revision: 1, rule: 'cel:categories.hate' })).status,
      200,
    );
  },
);

const needs: readonly (readonly [Permission, (ask: Ask, id: string) => Promise<Answer>])[] = [
  ['policies.read', (ask) => ask('GET', '/policies')],
  ['policies.read', (ask, id) => ask('GET', `/policies/${id}`)],
  ['policies.read', (ask, id) => ask('GET', `/policies/${id}/versions`)],
  ['policies.write', (ask) => ask('POST', '/policies', { name: 'n', rule: 'r' })],
  ['policies.write', (ask, id) => ask('PATCH', `/policies/${id}`, { revision: 1 })],
  ['policies.write', (ask, id) => ask('POST', `/policies/${id}/restore`, { revision: 1, version: 1 })],
  ['policies.publish', (ask, id) => ask('POST', `/policies/${id}/publish`, { revision: 9 })],
  ['policies.publish', (ask, id) => ask('POST', `/policies/${id}/pause`, { revision: 9 })],
  ['policies.publish', (ask, id) => ask('POST', `/policies/${id}/resume`, { revision: 9 })],
  ['policies.delete', (ask, id) => ask('DELETE', `/policies/${id}?revision=9`)],
];

t.test('D4 each operation wants its own permission, and a 403 names it', async (t) => {
  const permissions = [
    'policies.read',
    'policies.write',
    'policies.publish',
    'policies.delete',
    'audit.read',
  ] as const;
  const keyFor = (permission: string): string => `sk-test-admin-key-with-${permission}`;
  const { url } = await runGateway(t, {
    ...settings,
    bootstrap: {
      organizations: [
        {
          id: 'org_test',
          name: 'Test',
          admin_keys: [
            { name: 'root', value: ADMIN_KEY },
            ...permissions.map((permission) => ({
              name: permission,
              value: keyFor(permission),
              permissions: [permission],
            })),
          ],
        },
      ],
    },
  });
  const { id } = (await askerFor(url)('POST', '/policies', { name: 'n', rule: 'r' })).body;
  for (const held of permissions)
    for (const [needed, act] of needs) {
      const answer = await act(askerFor(url, keyFor(held)), id);
      const allowed = holds({ permissions: new Set([held]) } as never, needed);
      if (allowed) t.not(answer.status, 403, `${held} may do what needs ${needed}`);
      else
        t.match(
          [answer.status, answer.body.error],
          [403, { code: 'insufficient_permissions', type: 'permission_error', param: needed }],
          `${held} may not do what needs ${needed}`,
        );
    }
});

const bootstrapped = (policies: readonly object[]) => ({
  ...settings,
  bootstrap: {
    organizations: [
      {
        id: 'org_test',
        name: 'Test',
        admin_keys: [{ name: 'root', value: ADMIN_KEY }],
        policies: policies as never,
      },
    ],
  },
});

for (const each of stores)
  t.test(
    `D46 configured policies are made once, published where asked, and left alone after [${each.name}]`,
    async (t) => {
      const store =
        each.name === 'embedded' ? { kind: 'embedded' as const, path: t.testdir() } : await each.store(t);
      const given = bootstrapped([
        { id: 'pol_live', name: 'Live', rule: 'cel:tokens > 5', mode: 'enforcing' },
        { id: 'pol_draft', name: 'Draft', rule: 'Something.', publish: false },
      ]);
      const first = await openDesk(t, store, given);
      const live = (await first.ask('GET', '/policies/pol_live')).body;
      t.match(live, { state: 'enforcing', revision: 1, current_version: 1, has_unpublished_changes: false });
      t.equal((await first.ask('GET', '/policies/pol_live/versions')).body.data.length, 1);
      t.match((await first.ask('GET', '/policies/pol_draft')).body, {
        state: 'draft',
        current_version: null,
      });
      await first.ask('PATCH', '/policies/pol_live', { revision: 1, name: 'Renamed' });
      await first.close();
      const second = await openDesk(t, store, given);
      t.match((await second.ask('GET', '/policies/pol_live')).body, { name: 'Renamed', revision: 2 });
    },
  );

t.test('D46 a configured policy with a broken rule stops the start and says which', async (t) => {
  const given = bootstrapped([{ id: 'pol_bad', name: 'Bad', rule: 'cel:nope' }]);
  await t.rejects(runGateway(t, given), { message: /pol_bad.*unknown name nope/ });
});
