import t from 'tap';
import { APP_KEY } from '../../support/gateway.js';
import { exchange } from '../../support/raw.js';
import { askerFor, onBoth, openDesk, OTHER_KEY, stores, type Answer } from './desk.js';

const pair = '\u{1f600}'; // one character, two units of UTF-16

/** Every row of table 4.2: what is taken, at its edges too, and what is not. */
const fields: Readonly<
  Record<string, { readonly good: readonly unknown[]; readonly bad: readonly unknown[] }>
> = {
  name: {
    good: ['a', 'x'.repeat(80), pair.repeat(80)],
    bad: ['', 'x'.repeat(81), pair.repeat(81), 1, true, {}, []],
  },
  description: { good: ['', 'x'.repeat(240)], bad: ['x'.repeat(241), 1, false, {}, []] },
  rule: {
    good: ['r', 'r'.repeat(20_000), 'cel:tokens > 3'],
    bad: ['', 'r'.repeat(20_001), 'cel:', 'cel:1', 1, {}, []],
  },
  direction: { good: ['request', 'response', 'both'], bad: ['', 'Both', 'all', 1, {}, []] },
  mode: { good: ['enforcing', 'monitoring'], bad: ['', 'paused', 'draft', 1, {}, []] },
  scope: { good: ['projects', 'unattached', 'organization'], bad: ['', 'project', 1, {}, []] },
  project_ids: {
    good: [[], ['proj_a'], Array.from({ length: 1_000 }, (_, i) => `proj_${i}`)],
    bad: [Array.from({ length: 1_001 }, (_, i) => `proj_${i}`), 'proj_a', {}, [1], [null], ['a', ['b']]],
  },
  match_threshold_basis_points: { good: [1, 9_999], bad: [0, 10_000, -1, 1.5, '5', true, {}, []] },
};

const revisions = { bad: [0, -1, 2_147_483_648, 1.5, '1', null, true, {}, []] };

const isInvalid = ({ status, body }: Answer, param: string): boolean =>
  status === 422 && body.error.code === 'invalid_parameter' && (body.error.param ?? '').startsWith(param);

onBoth(
  '4.2 every field takes its bounds and nothing beyond them, on PATCH and on creation',
  async (t, desk) => {
    const { id } = await desk.create();
    let revision = 1;
    for (const [field, { good, bad }] of Object.entries(fields)) {
      for (const value of good) {
        const { status, body } = await desk.ask('PATCH', `/policies/${id}`, { revision, [field]: value });
        t.equal(status, 200, `${field} takes ${JSON.stringify(value).slice(0, 60)}`);
        revision = body.revision;
        const shown = { ...body, ...body.draft } as unknown as Record<string, unknown>;
        t.same(shown[field], value);
        const made = await desk.ask('POST', '/policies', { name: 'n', rule: 'r', [field]: value });
        t.equal(made.status, 200, 'creation does too');
      }
      for (const value of bad) {
        const refused = await desk.ask('PATCH', `/policies/${id}`, { revision, [field]: value });
        t.ok(isInvalid(refused, field), `${field} refuses ${JSON.stringify(value).slice(0, 60)}`);
        t.ok(isInvalid(await desk.ask('POST', '/policies', { name: 'n', rule: 'r', [field]: value }), field));
      }
    }
    t.equal((await desk.ask('GET', `/policies/${id}`)).body.revision, revision, 'a refusal changes nothing');
  },
);

onBoth('D7 null and omitted leave a field as it is, but a null threshold clears it', async (t, desk) => {
  const made = await desk.create({ description: 'd', match_threshold_basis_points: 7_000 });
  const path = `/policies/${made.id}`;
  for (const field of Object.keys(fields).filter((name) => name !== 'match_threshold_basis_points')) {
    const { status, body } = await desk.ask('PATCH', path, { revision: 1, [field]: null });
    t.equal(status, 200, field);
    t.same(body, made, 'nothing changes, the revision stays');
  }
  t.same((await desk.ask('PATCH', path, { revision: 1 })).body, made, 'nothing but a revision');
  const same = { revision: 1, name: made.name, ...made.draft, base_version: undefined };
  t.same((await desk.ask('PATCH', path, same)).body, made, 'only values that are there already');
  const cleared = await desk.ask('PATCH', path, { revision: 1, match_threshold_basis_points: null });
  t.equal(cleared.body.draft.match_threshold_basis_points, null);
  t.equal(cleared.body.revision, 2);
  const again = await desk.ask('PATCH', path, { revision: 2, match_threshold_basis_points: null });
  t.equal(again.body.revision, 2);
});

onBoth('D12 creation fills in what is omitted or null', async (t, desk) => {
  const bare = await desk.create({ name: 'n', rule: 'r' });
  t.match(bare, {
    object: 'organization.policy',
    description: '',
    state: 'draft',
    revision: 1,
    current_version: null,
    has_unpublished_changes: true,
    published: null,
    draft: {
      rule: 'r',
      direction: 'both',
      mode: 'monitoring',
      scope: 'organization',
      project_ids: [],
      match_threshold_basis_points: null,
      base_version: null,
    },
  });
  t.match(bare.id, /^pol_[0-9A-Z]{26}$/);
  t.ok(
    Number.isInteger(bare.created_at) && Math.abs(bare.created_at - Date.now() / 1_000) < 600,
    'D1 seconds',
  );
  const nothing = Object.fromEntries(
    Object.keys(fields)
      .filter((field) => field !== 'name' && field !== 'rule')
      .map((field) => [field, null]),
  );
  t.same((await desk.create({ name: 'n', rule: 'r', ...nothing })).draft, bare.draft);
  for (const body of [{ rule: 'r' }, { name: null, rule: 'r' }])
    t.ok(isInvalid(await desk.ask('POST', '/policies', body), 'name'));
  for (const body of [{ name: 'n' }, { name: 'n', rule: null }])
    t.ok(isInvalid(await desk.ask('POST', '/policies', body), 'rule'));
});

onBoth('4.2-4.5 the revision is required and bounded wherever something changes', async (t, desk) => {
  const { id } = await desk.create();
  const doors = [
    ['PATCH', '', {}],
    ['POST', '/publish', {}],
    ['POST', '/pause', {}],
    ['POST', '/resume', {}],
    ['POST', '/restore', { version: 1 }],
  ] as const;
  for (const [method, path, more] of doors) {
    const ask = (body: unknown) => desk.ask(method, `/policies/${id}${path}`, body);
    t.ok(isInvalid(await ask(more), 'revision'), `${path} without one`);
    for (const revision of revisions.bad)
      t.ok(isInvalid(await ask({ ...more, revision }), 'revision'), `${path} ${JSON.stringify(revision)}`);
    const stale = await ask({ ...more, revision: 2_147_483_647 });
    if (path === '/restore') t.equal(stale.status, 404, 'no version yet');
    else t.equal(stale.body.error.code, 'revision_conflict', `${path} takes the largest`);
    t.ok(isInvalid(await ask({ ...more, revision: 1, surprise: 1 }), 'surprise'), 'an unknown property');
    for (const body of [[], 'null', '"text"', '7'])
      t.ok(isInvalid(await ask(body), 'body'), `${path} ${JSON.stringify(body)} is no object`);
  }
  for (const version of revisions.bad)
    t.ok(isInvalid(await desk.ask('POST', `/policies/${id}/restore`, { revision: 1, version }), 'version'));
  t.ok(isInvalid(await desk.ask('POST', `/policies/${id}/restore`, { revision: 1 }), 'version'));

  for (const query of [
    '',
    '?revision=',
    '?revision=0',
    '?revision=2147483648',
    '?revision=1.5',
    '?revision=x',
    '?revision=1&revision=1',
  ])
    t.ok(isInvalid(await desk.ask('DELETE', `/policies/${id}${query}`), 'revision'), `DELETE ${query}`);
  t.equal(
    (await desk.ask('DELETE', `/policies/${id}?revision=2147483647`)).body.error.code,
    'revision_conflict',
  );
  t.same((await desk.ask('DELETE', `/policies/${id}?revision=1`)).body, {
    id,
    object: 'organization.policy.deleted',
    deleted: true,
  });
});

onBoth('4.1 the page size and the cursor have their bounds (D2)', async (t, desk) => {
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) ids.push((await desk.create()).id);
  const list = (query: string) => desk.ask('GET', `/policies${query}`);
  const { body } = await list('');
  t.same(
    body.data.map(({ id }) => id),
    ids,
  );
  t.match(body, { object: 'list', has_more: false, first_id: ids[0], last_id: ids[2] });
  for (const item of body.data) t.notOk('draft' in item || 'published' in item, 'a list item has neither');
  for (const query of ['?limit=1', '?limit=100', '?surprise=1', '?limit=2&order=asc'])
    t.equal((await list(query)).status, 200);
  for (const limit of ['0', '101', '-1', '1.5', 'x', '', '1e1', ' 1'])
    t.ok(isInvalid(await list(`?limit=${encodeURIComponent(limit)}`), 'limit'), `limit=${limit}`);
  t.ok(isInvalid(await list('?order=up'), 'order'));
  for (const after of [
    '',
    'x',
    'key_1',
    'pol_',
    `pol_${'a'.repeat(197)}`,
    'pol_a b',
    'pol_%00'.slice(0, 4),
  ]) {
    const refused = await list(`?after=${encodeURIComponent(after)}`);
    t.equal(refused.status, 400, `after=${after.slice(0, 20)}`);
    t.match(refused.body.error, { code: 'invalid_cursor', param: 'after', type: 'validation_error' });
  }
  t.equal((await list(`?after=pol_${'a'.repeat(196)}`)).status, 200, 'a cursor of 200 characters');
  const second = await list(`?limit=1&after=${ids[0]}`);
  t.match(second.body, { first_id: ids[1], last_id: ids[1], has_more: true });
  t.same(
    (await list('?order=desc')).body.data.map(({ id }) => id),
    [...ids].reverse(),
  );
  const empty = (await list(`?after=${ids[2]}`)).body;
  t.same(empty, { object: 'list', data: [], has_more: false }, 'an empty page has no first and no last');
});

onBoth('7.2 each status of a mutation comes as the contract says', async (t, desk) => {
  const { id } = await desk.create();
  const path = `/policies/${id}`;
  const statusOf = ({ status, body: { error } }: Answer): string => `${status} ${error.code} ${error.type}`;

  t.equal(statusOf(await desk.ask('PATCH', path, '{')), '400 invalid_json validation_error');
  t.equal(statusOf(await desk.ask('PATCH', path, '')), '400 invalid_json validation_error');
  t.equal(
    statusOf(await desk.ask('PATCH', path, '{}', { 'content-type': 'text/plain' })),
    '400 invalid_content_type validation_error',
  );
  for (const key of ['', 'nobody-knows-this-key-at-all', APP_KEY]) {
    const refused = await askerFor(desk.url, key)('PATCH', path, { revision: 1 });
    t.equal(refused.status, 401, key);
    t.match(refused.headers.get('www-authenticate'), /^Bearer realm="sluice"/);
  }
  const browser = await desk.ask('PATCH', path, { revision: 1 }, { origin: 'https://example.com' });
  t.equal(statusOf(browser), '403 browser_use_forbidden permission_error');
  t.equal(
    statusOf(await desk.ask('PATCH', '/policies/pol_none', { revision: 1 })),
    '404 not_found not_found_error',
  );
  t.equal(statusOf(await desk.ask('PATCH', path, { revision: 9 })), '409 revision_conflict conflict_error');
  t.match((await desk.ask('PATCH', path, { revision: 9 })).body.error.message, /revision 1\b/);
  t.equal(statusOf(await desk.ask('PATCH', path, { revision: 0 })), '422 invalid_parameter validation_error');

  const padded = (bytes: number): string => {
    const bare = JSON.stringify({ revision: 1 });
    return bare + ' '.repeat(bytes - bare.length);
  };
  t.equal((await desk.ask('PATCH', path, padded(65_536))).status, 200, '64 KiB fit');
  t.equal(statusOf(await desk.ask('PATCH', path, padded(65_537))), '413 request_too_large validation_error');
  const unending = await exchange(
    Number(new URL(desk.url).port),
    `PATCH /v1/organization${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sk-test-admin-key-of-the-suite\r\n` +
      `Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n10001\r\n${' '.repeat(65_537)}`,
    (text) => text.includes('request_too_large'),
  );
  t.match(unending, /^HTTP\/1\.1 413 /, 'decided while reading, before the body ends');
});

onBoth('4.2 an id in the path has 1 to 200 characters', async (t, desk) => {
  for (const [method, path, body] of [
    ['GET', '', undefined],
    ['PATCH', '', { revision: 1 }],
    ['POST', '/publish', { revision: 1 }],
    ['POST', '/pause', { revision: 1 }],
    ['POST', '/resume', { revision: 1 }],
    ['POST', '/restore', { revision: 1, version: 1 }],
    ['DELETE', '?revision=1', undefined],
    ['GET', '/versions', undefined],
  ] as const) {
    const ask = (id: string) => desk.ask(method, `/policies/${encodeURIComponent(id)}${path}`, body);
    for (const id of ['x', `pol_${'a'.repeat(196)}`, 'pol_\u{e9}', pair.repeat(200), '..pol'])
      t.equal((await ask(id)).status, 404, `${method} ${path} ${id.slice(0, 8)}`);
    for (const id of [`pol_${'a'.repeat(197)}`, pair.repeat(201)])
      t.ok(isInvalid(await ask(id), 'policy_id'), `${method} ${path} is too long`);
  }
});

onBoth("7.2 another organization's policy is answered as one that never existed", async (t, desk) => {
  const { id } = await desk.create();
  const other = askerFor(desk.url, OTHER_KEY);
  const never = `pol_${'0'.repeat(26)}`;
  const calls = [
    ['GET', '', undefined],
    ['PATCH', '', { revision: 1, name: 'mine' }],
    ['POST', '/publish', { revision: 1 }],
    ['POST', '/pause', { revision: 1 }],
    ['POST', '/resume', { revision: 1 }],
    ['POST', '/restore', { revision: 1, version: 1 }],
    ['DELETE', '?revision=1', undefined],
    ['GET', '/versions', undefined],
  ] as const;
  for (const [method, path, body] of calls) {
    const [theirs, nobodys] = await Promise.all(
      [id, never].map((each) => other(method, `/policies/${each}${path}`, body)),
    );
    t.equal(theirs!.status, 404);
    t.same(
      { ...theirs!.body.error, request_id: '' },
      { ...nobodys!.body.error, request_id: '' },
      `${method} ${path}`,
    );
  }
  t.equal((await desk.ask('GET', `/policies/${id}`)).body.revision, 1, 'and is untouched');
});

for (const each of stores)
  t.test(`D14 an organization holds so many policies and no more [${each.name}]`, async (t) => {
    const desk = await openDesk(t, await each.store(t), { policies: { max_per_organization: 2 } });
    const [first] = [await desk.create(), await desk.create()];
    const refused = await desk.ask('POST', '/policies', { name: 'n', rule: 'r' });
    t.equal(refused.status, 409);
    t.equal(refused.body.error.code, 'resource_limit_exceeded');
    await desk.ask('DELETE', `/policies/${first.id}?revision=1`);
    t.equal((await desk.ask('POST', '/policies', { name: 'n', rule: 'r' })).status, 200);
  });

t.test('7.2 a store that has gone away is a 503 with Retry-After', async (t) => {
  const { startRedis } = await import('../../support/redis.js');
  const redis = await startRedis();
  t.teardown(() => redis.stop());
  const desk = await openDesk(t, { kind: 'redis', redis: { url: redis.url } });
  const { id } = await desk.create();
  await redis.kill();
  const refused = await desk.ask('PATCH', `/policies/${id}`, { revision: 1, name: 'n' });
  t.equal(refused.status, 503);
  t.equal(refused.body.error.code, 'store_unavailable');
  t.ok(Number(refused.headers.get('retry-after')) >= 1);
});
