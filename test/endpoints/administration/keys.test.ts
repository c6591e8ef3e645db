import t, { type Test } from 'tap';
import { silentLog, type Log } from '../../../src/core/log.js';
import {
  ADMIN_KEY,
  APP_KEY,
  runGateway,
  testConfig,
  until,
  type CallOptions,
} from '../../support/gateway.js';
import { testOnEachStore, type Changes } from '../../support/stores.js';

const KEYS = '/v1/organization/admin_api_keys';
const PROJECTS = '/v1/organization/projects';
const APP_KEYS = `${PROJECTS}/proj_app/api_keys`;
const OTHER_ADMIN = 'sk-test-admin-key-of-another-organization';
const WEEK_S = 7 * 24 * 60 * 60;

const organizations = [
  {
    id: 'org_test',
    name: 'Test',
    admin_keys: [{ name: 'root', value: ADMIN_KEY }],
    projects: [{ id: 'proj_app', name: 'App', keys: [{ name: 'app', value: APP_KEY }] }],
  },
  { id: 'org_other', name: 'Other', admin_keys: [{ name: 'root', value: OTHER_ADMIN }] },
];

/** Admission is the limits' own matter: nothing is refused for haste here. */
const house: Changes = { bootstrap: { organizations }, limits: { enforce: false } };

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown> & {
    readonly id: string;
    readonly value: string;
    readonly data: readonly Record<string, unknown>[];
    readonly error: { readonly code: string; readonly param: string | null };
  };
}

/** A gateway with two organizations, asked in JSON. */
const open = async (t: Test, changes: Changes, log: Log = silentLog) => {
  const running = await runGateway(t, { ...house, ...changes }, log);
  const ask = async (method: string, path: string, options?: CallOptions): Promise<Answer> => {
    const response = await running.call(method, path, options);
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Answer['body'],
    };
  };
  const refusal = async (method: string, path: string, options?: CallOptions) => {
    const { status, body } = await ask(method, path, options);
    return [status, body.error.code, body.error.param] as const;
  };
  return { ...running, ask, refusal };
};

const message = { model: 'sim-small', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] };

testOnEachStore(
  '4.6 the list shows administrator keys as seed 2.6 has them, and no secret',
  async (t, changes) => {
    const { ask, gateway } = await open(t, changes);
    const soon = Math.floor(Date.now() / 1_000) + WEEK_S;
    const made = await ask('POST', KEYS, {
      body: { name: 'ci', permissions: ['policies.read'], expires_at: soon },
    });
    t.equal(made.status, 200);
    t.match(made.body.value, /^sk-sl-admin-/);
    await gateway.reload(await testConfig({ ...house, ...changes })); // writes the last uses down

    const { status, body } = await ask('GET', KEYS);
    t.equal(status, 200);
    const named = (name: string) => body.data.find((key) => key['name'] === name);
    const [root, ci] = [named('root'), named('ci')];
    t.strictSame(Object.keys(body).toSorted(), ['data', 'first_id', 'has_more', 'last_id', 'object']);
    t.match(body, {
      object: 'list',
      has_more: false,
      first_id: body.data[0]?.['id'],
      last_id: body.data.at(-1)?.['id'],
    });
    t.strictSame(ci, {
      object: 'organization.admin_api_key',
      id: made.body.id,
      name: 'ci',
      redacted_value: `${made.body.value.slice(0, 8)}...${made.body.value.slice(-4)}`,
      created_at: ci?.['created_at'],
      expires_at: soon,
      permissions: ['policies.read'],
      owner: { id: 'org_test', type: 'organization' },
    });
    t.match(root, { name: 'root', last_used_at: Number, permissions: ['*'] });
    t.notHas(root, 'expires_at');
    t.notMatch(JSON.stringify(body), made.body.value);
    t.strictSame((await ask('GET', `${KEYS}/${made.body.id}`)).body, ci);
  },
);

testOnEachStore('4.6 pages follow one another by after, limit and order', async (t, changes) => {
  const { ask, refusal } = await open(t, changes);
  for (const name of ['a', 'b', 'c', 'd']) await ask('POST', KEYS, { body: { name } });
  const ids = ({ body }: Answer) => body.data.map((key) => key['id']);
  const lastOf = ({ body }: Answer) => String(body['last_id']);
  const all = ids(await ask('GET', KEYS));
  t.equal(all.length, 5);
  t.strictSame(all, all.toSorted());
  const first = await ask('GET', `${KEYS}?limit=2`);
  t.strictSame([ids(first), first.body['has_more']], [all.slice(0, 2), true]);
  t.equal((await ask('DELETE', `${KEYS}/${lastOf(first)}`)).status, 200);
  const second = await ask('GET', `${KEYS}?limit=2&after=${lastOf(first)}`);
  t.strictSame(
    [ids(second), second.body['has_more']],
    [all.slice(2, 4), true],
    'a cursor outlives its object',
  );
  const third = await ask('GET', `${KEYS}?limit=100&after=${lastOf(second)}&unknown=1`);
  t.strictSame([ids(third), third.body['has_more']], [all.slice(4), false]);
  const beyond = await ask('GET', `${KEYS}?after=${lastOf(third)}`);
  t.strictSame(beyond.body, { object: 'list', data: [], has_more: false });
  t.strictSame(ids(await ask('GET', `${KEYS}?order=desc&limit=1`)), all.slice(4));

  for (const cursor of ['', 'x'.repeat(201), 'pol_1', 'key_%20', 'key_'])
    t.strictSame(await refusal('GET', `${KEYS}?after=${cursor}`), [400, 'invalid_cursor', 'after'], cursor);
  for (const limit of ['0', '101', '-1', '1.5', 'ten', '', '1e1'])
    t.strictSame(await refusal('GET', `${KEYS}?limit=${limit}`), [422, 'invalid_parameter', 'limit'], limit);
  t.strictSame(await refusal('GET', `${KEYS}?order=up`), [422, 'invalid_parameter', 'order']);
});

testOnEachStore('D12 a new key shows its secret once, and it works at once', async (t, changes) => {
  const { ask, call, post } = await open(t, changes);
  const admin = await ask('POST', KEYS, { body: { name: 'second', permissions: null, expires_at: null } });
  t.strictSame(admin.body['permissions'], ['*'], 'as much as its creator holds');
  t.equal((await call('GET', KEYS, { key: admin.body.value })).status, 200);
  t.equal((await post('/v1/messages', message, { authorization: `Bearer ${admin.body.value}` })).status, 401);

  const project = await ask('POST', PROJECTS, { body: { name: 'Second' } });
  t.match(project.body, {
    object: 'organization.project',
    id: /^proj_/,
    name: 'Second',
    status: 'active',
    archived_at: null,
  });
  t.strictSame((await ask('GET', `${PROJECTS}/${project.body.id}`)).body, project.body);
  t.strictSame((await ask('GET', PROJECTS)).body.data.map((each) => each['name']).toSorted(), [
    'App',
    'Second',
  ]);
  const keys = `${PROJECTS}/${project.body.id}/api_keys`;
  const app = await ask('POST', keys, {
    body: { name: 'app', permissions: ['inference'], models: ['sim-*'], credit_budget: 500 },
  });
  t.match(app.body, {
    object: 'organization.project.api_key',
    value: /^sk-sl-/,
    permissions: ['inference'],
    models: ['sim-*'],
    credit_budget: 500,
    owner: { id: project.body.id, type: 'project' },
  });
  t.equal((await post('/v1/messages', message, { authorization: `Bearer ${app.body.value}` })).status, 200);
  t.equal((await call('GET', KEYS, { key: app.body.value })).status, 401);
  const { value, ...listed } = app.body;
  t.ok(value);
  t.match((await ask('GET', `${keys}/${app.body.id}`)).body, listed);
  const list = await ask('GET', keys);
  t.equal(list.body.data.length, 1);
  t.notHas(list.body.data[0], 'value');
  const plain = await ask('POST', keys, { body: { name: 'plain' } });
  t.match(plain.body, {
    permissions: ['inference', 'gateway.read', 'gateway.write'],
    models: null,
    credit_budget: null,
  });
});

testOnEachStore('D33 a key stops at its expiry, and a key ends when it is revoked', async (t, changes) => {
  const { ask, call, refusal } = await open(t, changes);
  const brief = await ask('POST', KEYS, { body: { name: 'brief', expires_in_seconds: 3_600 } });
  const nowS = Math.floor(Date.now() / 1_000);
  t.ok(Math.abs(Number(brief.body['expires_at']) - nowS - 3_600) <= 5);
  t.equal((await call('GET', KEYS, { key: brief.body.value })).status, 200);
  t.strictSame((await ask('DELETE', `${KEYS}/${brief.body.id}`)).body, {
    id: brief.body.id,
    object: 'organization.admin_api_key.deleted',
    deleted: true,
  } as unknown as Answer['body']);
  t.strictSame(await refusal('GET', KEYS, { key: brief.body.value }), [401, 'revoked_api_key', null]);
  t.strictSame(await refusal('DELETE', `${KEYS}/${brief.body.id}`), [404, 'not_found', null]);

  const ending = await ask('POST', KEYS, { body: { name: 'ending', expires_in_seconds: 1 } });
  await until(
    async () => (await call('GET', KEYS, { key: ending.body.value })).status === 401,
    'the key expires',
  );
  t.strictSame(await refusal('GET', KEYS, { key: ending.body.value }), [401, 'expired_api_key', null]);

  const app = await ask('POST', APP_KEYS, { body: { name: 'app' } });
  t.strictSame((await ask('DELETE', `${APP_KEYS}/${app.body.id}`)).body, {
    id: app.body.id,
    object: 'organization.project.api_key.deleted',
    deleted: true,
  } as unknown as Answer['body']);
  t.strictSame(await refusal('DELETE', `${APP_KEYS}/${app.body.id}`), [404, 'not_found', null]);
  t.strictSame(await refusal('GET', `${APP_KEYS}/${app.body.id}`), [404, 'not_found', null]);
});

const badKeys: readonly (readonly [unknown, string])[] = [
  [{}, 'name'],
  [[], 'body'],
  ['"text"', 'body'],
  ['null', 'body'],
  [{ name: null }, 'name'],
  [{ name: 7 }, 'name'],
  [{ name: '' }, 'name'],
  [{ name: '   ' }, 'name'],
  [{ name: 'x'.repeat(201) }, 'name'],
  [{ name: 'x', colour: 'red' }, 'colour'],
  [{ name: 'x', permissions: 'all' }, 'permissions'],
  [{ name: 'x', permissions: [] }, 'permissions'],
  [{ name: 'x', permissions: ['everything'] }, 'permissions.0'],
  [{ name: 'x', permissions: [7] }, 'permissions.0'],
  [{ name: 'x', expires_at: 1 }, 'expires_at'],
  [{ name: 'x', expires_at: 1.5 }, 'expires_at'],
  [{ name: 'x', expires_at: 'tomorrow' }, 'expires_at'],
  [{ name: 'x', expires_in_seconds: 0 }, 'expires_in_seconds'],
  [{ name: 'x', expires_in_seconds: 10, expires_at: 4_000_000_000 }, 'expires_in_seconds'],
];

const badAdminKeys: typeof badKeys = [
  ...badKeys,
  [{ name: 'x', models: ['sim-small'] }, 'models'],
  [{ name: 'x', credit_budget: 1 }, 'credit_budget'],
  [{ name: 'x', permissions: ['inference'] }, 'permissions.0'],
];

const badProjectKeys: typeof badKeys = [
  ...badKeys,
  [{ name: 'x', permissions: ['policies.read'] }, 'permissions.0'],
  [{ name: 'x', permissions: ['*'] }, 'permissions.0'],
  [{ name: 'x', models: [] }, 'models'],
  [{ name: 'x', models: [''] }, 'models.0'],
  [{ name: 'x', models: 'sim-small' }, 'models'],
  [{ name: 'x', credit_budget: -1 }, 'credit_budget'],
  [{ name: 'x', credit_budget: 0.5 }, 'credit_budget'],
];

testOnEachStore(
  'D11 what is wrong with a body is said with its field, and nothing is made',
  async (t, changes) => {
    const { ask, refusal } = await open(t, changes);
    for (const [path, bodies] of [
      [KEYS, badAdminKeys],
      [APP_KEYS, badProjectKeys],
      [PROJECTS, badKeys.slice(0, 10)],
    ] as const)
      for (const [body, param] of bodies)
        t.strictSame(
          await refusal('POST', path, { body }),
          [422, 'invalid_parameter', param],
          `${path} ${JSON.stringify(body).slice(0, 80)}`,
        );
    t.strictSame(await refusal('POST', KEYS, { body: '{"name":' }), [400, 'invalid_json', null]);
    t.equal((await ask('GET', KEYS)).body.data.length, 1);
    t.equal((await ask('GET', APP_KEYS)).body.data.length, 1);
    t.equal((await ask('POST', KEYS, { body: { name: '😀'.repeat(100) } })).status, 200);
  },
);

testOnEachStore('D4 a key gives no permission that it does not hold itself', async (t, changes) => {
  const { ask, refusal } = await open(t, changes);
  const maker = await ask('POST', KEYS, {
    body: { name: 'maker', permissions: ['admin_api_keys.write', 'projects.write', 'policies.read'] },
  });
  const key = maker.body.value;
  const make = (permissions: readonly string[]) =>
    refusal('POST', KEYS, { key, body: { name: 'x', permissions } });
  t.strictSame(await make(['policies.write']), [403, 'insufficient_permissions', 'policies.write']);
  t.strictSame(await make(['*']), [403, 'insufficient_permissions', '*']);
  t.strictSame(
    await refusal('POST', KEYS, { body: { name: 'x', permissions: ['credits.write'] } }),
    [403, 'insufficient_permissions', 'credits.write'],
    'which not even * gives',
  );
  t.strictSame(await refusal('POST', APP_KEYS, { key, body: { name: 'x', permissions: ['gateway.read'] } }), [
    403,
    'insufficient_permissions',
    'gateway.read',
  ]);
  t.strictSame(
    (await ask('POST', KEYS, { key, body: { name: 'x' } })).body['permissions'],
    ['policies.read', 'admin_api_keys.write', 'projects.write'],
    'as much as may be given',
  );
  t.strictSame(await refusal('GET', KEYS, { key }), [403, 'insufficient_permissions', 'admin_api_keys.read']);
  t.strictSame(await refusal('GET', PROJECTS, { key }), [403, 'insufficient_permissions', 'projects.read']);
});

testOnEachStore(
  'D12 the last key with every permission does not revoke itself without force',
  async (t, changes) => {
    const { ask, refusal } = await open(t, changes);
    const root = (await ask('GET', KEYS)).body.data[0]!;
    const path = `${KEYS}/${String(root['id'])}`;
    t.strictSame(await refusal('DELETE', path), [409, 'last_admin_key', null]);
    t.strictSame(await refusal('DELETE', `${path}?force=yes`), [422, 'invalid_parameter', 'force']);
    t.strictSame(await refusal('DELETE', `${path}?force=false`), [409, 'last_admin_key', null]);
    const second = await ask('POST', KEYS, { body: { name: 'second' } });
    t.equal((await ask('DELETE', path)).status, 200, 'another one is left');
    const key = second.body.value;
    t.strictSame(await refusal('DELETE', `${KEYS}/${second.body.id}`, { key }), [
      409,
      'last_admin_key',
      null,
    ]);
    t.equal((await ask('DELETE', `${KEYS}/${second.body.id}?force=true`, { key })).status, 200);
    t.strictSame(await refusal('GET', KEYS, { key }), [401, 'revoked_api_key', null]);
  },
);

testOnEachStore('5 what belongs to another organization is as if it never was', async (t, changes) => {
  const { ask } = await open(t, changes);
  const made = (await ask('POST', KEYS, { body: { name: 'mine' } })).body.id;
  const app = (await ask('POST', APP_KEYS, { body: { name: 'mine' } })).body.id;
  const show = async (method: string, path: string, body?: unknown) => {
    const { status, body: answer } = await ask(method, path, { key: OTHER_ADMIN, body });
    return JSON.stringify([status, { ...answer.error, request_id: null }]);
  };
  const named = { name: 'x' };
  const pairs: readonly (readonly [string, string, string, unknown?])[] = [
    ['GET', `${KEYS}/${made}`, `${KEYS}/key_none`],
    ['DELETE', `${KEYS}/${made}`, `${KEYS}/key_none`],
    ['GET', `${PROJECTS}/proj_app`, `${PROJECTS}/proj_none`],
    ['GET', APP_KEYS, `${PROJECTS}/proj_none/api_keys`],
    ['POST', APP_KEYS, `${PROJECTS}/proj_none/api_keys`, named],
    ['GET', `${APP_KEYS}/${app}`, `${PROJECTS}/proj_none/api_keys/${app}`],
    ['DELETE', `${APP_KEYS}/${app}`, `${PROJECTS}/proj_none/api_keys/key_none`],
  ];
  for (const [method, theirs, none, body] of pairs) {
    const seen = await show(method, theirs, body);
    t.match(seen, /^\[404,/, `${method} ${theirs}`);
    t.equal(seen, await show(method, none, body), `${method} ${theirs}`);
  }
  t.equal((await ask('GET', KEYS, { key: OTHER_ADMIN })).body.data.length, 1);
  t.equal((await ask('GET', `${KEYS}/${made}`)).status, 200, 'and it is still there');
});

testOnEachStore('D10 a repeated creation makes one key, and its replay has no secret', async (t, changes) => {
  const lines: unknown[] = [];
  const keep = (fields: object, line: string): void => void lines.push(fields, line);
  const { ask, refusal } = await open(t, changes, { debug: keep, info: keep, warn: keep, error: keep });
  for (const [path, object] of [
    [KEYS, 'organization.admin_api_key'],
    [APP_KEYS, 'organization.project.api_key'],
  ] as const) {
    const headers = { 'idempotency-key': `once ${path}`.replaceAll(' ', '-') };
    const first = await ask('POST', path, { body: { name: 'once' }, headers });
    t.equal(first.headers.get('idempotent-replayed'), null);
    const again = await ask('POST', path, { body: { name: 'once' }, headers });
    t.equal(again.status, 200);
    t.equal(again.headers.get('idempotent-replayed'), 'true');
    const { value, ...rest } = first.body;
    t.strictSame(again.body, rest as unknown as Answer['body']);
    t.equal(again.body['object'], object);
    t.equal((await ask('GET', path)).body.data.length, 2);
    t.strictSame(await refusal('POST', path, { body: { name: 'other' }, headers }), [
      409,
      'idempotency_key_reuse',
      'idempotency-key',
    ]);
    t.notMatch(JSON.stringify(lines), value, 'and no log has it');

    const gone = { 'idempotency-key': `gone-${first.body.id}` };
    const removed = await ask('DELETE', `${path}/${first.body.id}`, { headers: gone });
    const replayed = await ask('DELETE', `${path}/${first.body.id}`, { headers: gone });
    t.strictSame([replayed.status, replayed.body], [200, removed.body]);
    t.strictSame(await refusal('DELETE', `${path}/key_other`, { headers: gone }), [
      409,
      'idempotency_key_reuse',
      'idempotency-key',
    ]);
  }
  const headers = { 'idempotency-key': 'a-project' };
  const made = await ask('POST', PROJECTS, { body: { name: 'Once' }, headers });
  t.strictSame((await ask('POST', PROJECTS, { body: { name: 'Once' }, headers })).body, made.body);
  t.equal((await refusal('POST', PROJECTS, { body: { name: 'Twice' }, headers }))[0], 409);
  t.ok(lines.length > 0);
});

testOnEachStore('D14 of keys and projects there are at most as many as configured', async (t, changes) => {
  const bounds = { max_admin_keys: 10, max_projects: 4, max_project_keys: 6 };
  const { ask, refusal } = await open(t, { ...changes, auth: { ...changes.auth, ...bounds } });
  for (const [path, room] of [
    [KEYS, 9],
    [PROJECTS, 3],
    [APP_KEYS, 5],
  ] as const) {
    const create = () => ask('POST', path, { body: { name: 'one of many' } });
    const made = await Promise.all(Array.from({ length: 20 }, create));
    const done = made.filter(({ status }) => status === 200);
    t.equal(done.length, room, `${path}: what was asked for at once is counted too`);
    t.strictSame(await refusal('POST', path, { body: { name: 'x' } }), [
      409,
      'resource_limit_exceeded',
      null,
    ]);
    if (path === PROJECTS) continue;
    t.equal((await ask('DELETE', `${path}/${done[0]!.body.id}`)).status, 200);
    t.equal((await create()).status, 200, 'one goes, one may come');
  }
});

t.test('D15 an administrator key in a browser is refused before it is looked at', async (t) => {
  const { refusal } = await open(t, {});
  for (const headers of [{ origin: 'https://example.com' }, { 'sec-fetch-site': 'same-origin' }])
    t.strictSame(await refusal('GET', KEYS, { headers }), [403, 'browser_use_forbidden', null]);
});

testOnEachStore('D11 an id of any characters is a plain 404, however it is spelt', async (t, changes) => {
  const { refusal } = await open(t, changes);
  const odd = ['%F0%9F%98%80', '%7Borg%7D', '*', 'a%20b', '..%20', 'x:y', '%22', 'key_', 'x'.repeat(200)];
  for (const id of odd)
    for (const path of [
      `${KEYS}/${id}`,
      `${PROJECTS}/${id}`,
      `${PROJECTS}/${id}/api_keys`,
      `${PROJECTS}/${id}/api_keys/${id}`,
      `${APP_KEYS}/${id}`,
    ]) {
      t.strictSame(await refusal('GET', path), [404, 'not_found', null], path);
      if (path.split('/').length % 2 === 1 && !path.endsWith(`projects/${id}`))
        t.strictSame(await refusal('DELETE', path), [404, 'not_found', null], path);
    }
});
