import t from 'tap';
import type { ConfigInput } from '../../src/config/schema.js';
import { APP_KEY, generousLimits, runGateway } from '../support/gateway.js';

const NARROW_KEY = 'sk-test-app-key-of-two-models';
const VERSION = { 'anthropic-version': '2023-06-01' };

const changes: Partial<ConfigInput> = {
  providers: {
    sim: { kind: 'simulator' },
    claude: { kind: 'anthropic', base_url: 'https://a.example' },
  },
  models: [
    { name: 'sim-small', aliases: ['sim'], provider: 'sim', max_output_tokens: 77 },
    { name: 'claude-*', listed: ['claude-opus', 'claude-haiku'], provider: 'claude' },
    { name: 'org/model:free', targets: [{ provider: 'sim' }, { provider: 'claude' }] },
  ],
  bootstrap: {
    organizations: [
      {
        id: 'org_test',
        name: 'Test',
        projects: [
          {
            id: 'proj_app',
            name: 'App',
            keys: [
              { name: 'app', value: APP_KEY },
              { name: 'narrow', value: NARROW_KEY, models: ['claude-sonnet', 'sim'] },
            ],
          },
        ],
      },
    ],
  },
};

t.test('D16 /v1/models lists what the key may use, as OpenAI does', async (t) => {
  const { call } = await runGateway(t, changes);
  const response = await call('GET', '/v1/models', { key: APP_KEY });
  t.equal(response.status, 200);
  const model = (id: string, owner: string) => ({ id, object: 'model', created: 0, owned_by: owner });
  t.strictSame(await response.json(), {
    object: 'list',
    data: [
      model('sim-small', 'sim'),
      model('sim', 'sim'),
      model('claude-opus', 'claude'),
      model('claude-haiku', 'claude'),
      model('org/model:free', 'sim'),
    ],
  });
  const narrow = await call('GET', '/v1/models', { key: NARROW_KEY });
  t.strictSame(
    ((await narrow.json()) as { data: { id: string }[] }).data.map(({ id }) => id),
    ['sim', 'claude-sonnet'],
  );
});

t.test('with anthropic-version the list has the shape of the Messages API, in pages', async (t) => {
  const { call } = await runGateway(t, changes);
  const list = async (query: string) => {
    const response = await call('GET', `/v1/models${query}`, { key: APP_KEY, headers: VERSION });
    const { data, ...rest } = (await response.json()) as { data: { id: string }[] };
    return { ids: data.map(({ id }) => id), ...rest };
  };
  const all = ['sim-small', 'sim', 'claude-opus', 'claude-haiku', 'org/model:free'];
  t.strictSame(await list(''), {
    ids: all,
    has_more: false,
    first_id: 'sim-small',
    last_id: 'org/model:free',
  });
  t.match(await list('?limit=2'), { ids: all.slice(0, 2), has_more: true, last_id: 'sim' });
  t.match(await list('?limit=2&after_id=sim'), { ids: all.slice(2, 4), has_more: true });
  t.match(await list('?limit=2&after_id=claude-haiku'), { ids: all.slice(4), has_more: false });
  t.match(await list('?limit=2&before_id=claude-haiku'), { ids: all.slice(1, 3), has_more: true });
  t.match(await list('?before_id=sim-small'), { ids: [], has_more: false, first_id: null, last_id: null });
  const whole = await call('GET', '/v1/models?limit=1', { key: APP_KEY, headers: VERSION });
  t.strictSame(((await whole.json()) as { data: unknown[] }).data, [
    {
      type: 'model',
      id: 'sim-small',
      display_name: 'sim-small',
      created_at: '1970-01-01T00:00:00.000Z',
      max_input_tokens: null,
      max_tokens: 77,
    },
  ]);
  for (const [query, code] of [
    ['limit=0', 'invalid_request'],
    ['limit=1001', 'invalid_request'],
    ['limit=x', 'invalid_request'],
    ['after_id=sim&before_id=sim', 'invalid_request'],
    ['after_id=nobody', 'invalid_cursor'],
  ] as const) {
    const response = await call('GET', `/v1/models?${query}`, { key: APP_KEY, headers: VERSION });
    t.equal(response.status, 400, query);
    t.match(await response.json(), { error: { code } });
  }
  t.equal((await call('GET', '/v1/models?limit=0', { key: APP_KEY })).status, 200, 'OpenAI knows no pages');
});

t.test('one model is read by its name, slashes and colons and all', async (t) => {
  const { call } = await runGateway(t, changes);
  const get = (id: string, key = APP_KEY, headers = {}) => call('GET', `/v1/models/${id}`, { key, headers });
  t.match(await (await get('org/model:free')).json(), { id: 'org/model:free', object: 'model' });
  t.match(await (await get('org/model%3Afree')).json(), { id: 'org/model:free' });
  t.match(await (await get('claude-unlisted')).json(), { id: 'claude-unlisted', owned_by: 'claude' });
  t.match(await (await get('sim', APP_KEY, VERSION)).json(), { id: 'sim', type: 'model', max_tokens: 77 });
  for (const [id, key] of [
    ['nobody', APP_KEY],
    ['a/b/c', APP_KEY],
    ['claude-*', APP_KEY],
    ['claude-opus', NARROW_KEY],
  ] as const) {
    const response = await get(id, key);
    t.equal(response.status, 404, id);
    t.match(await response.json(), { error: { code: 'model_not_found', type: 'not_found_error' } });
  }
});

t.test('D13 a list takes nothing from the limits of inference', async (t) => {
  const { call, post } = await runGateway(t, {
    ...changes,
    limits: { ...generousLimits, overrides: [{ scope: 'key', id: '*', rpm: 1 }] },
  });
  for (let i = 0; i < 3; i++) t.equal((await call('GET', '/v1/models', { key: APP_KEY })).status, 200);
  const asked = { model: 'sim', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] };
  t.equal((await post('/v1/messages', asked)).status, 200);
  t.equal((await post('/v1/messages', asked)).status, 429);
});
