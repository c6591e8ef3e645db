import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import t from 'tap';
import { gatewayConfigDocs, simulateDoc } from '../../../src/endpoints/policy-gateway/config-docs.js';
import {
  GatewayConfigRevisionList,
  StoredGatewayConfig,
} from '../../../src/endpoints/policy-gateway/config-schemas.js';
import { NewSimulation, Simulation } from '../../../src/endpoints/policy-gateway/simulate-schemas.js';
import { defaultConfig, readConfig } from '../../../src/rules/policy-gateway/config.js';
import { collectComponents } from '../../openapi/schemas.js';
import { callWith, openDesk, OUTBOX } from './desk.js';

/** Whether an answer is as the OpenAPI document tells it. */
const conforms = (schema: object): ((body: unknown) => boolean) => {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  const { schemas, place } = collectComponents([
    StoredGatewayConfig,
    GatewayConfigRevisionList,
    gatewayConfigDocs.save.body,
    NewSimulation,
    Simulation,
  ]);
  return ajv.compile({ ...place(schema), components: { schemas } });
};

t.test('4.7 the configuration that was never saved is the defaults, with null dates', async (t) => {
  const { body, status } = await openDesk().get();
  t.equal(status, 200);
  t.strictSame(body, { config: defaultConfig, created_at: null, updated_at: null });
  t.ok(conforms(StoredGatewayConfig)(body));
});

t.test('D17 what is saved is answered, read and listed alike, unknown keys included', async (t) => {
  const desk = openDesk();
  const given = {
    policy_id: 'gw',
    rules: { denylist: ['red'], x_more: [1] },
    rollout: { canary: { enabled: true, x_deep: {} } },
    x_top: 'kept',
  };
  const saved = await desk.save(given);
  const at = '2031-01-31T12:00:00.000Z';
  t.strictSame(saved.body, { config: readConfig(given), created_at: at, updated_at: at });
  t.strictSame((await desk.get()).body, saved.body);
  t.ok(conforms(StoredGatewayConfig)(saved.body));
  t.strictSame(
    (await desk.save((saved.body as { config: unknown }).config)).body,
    saved.body,
    'and saved again',
  );

  const { body } = await desk.history({ query: 'limit=1&order=desc' });
  t.match(body, { object: 'list', has_more: true, data: [{ revision: 2, config: readConfig(given) }] });
  t.ok(conforms(GatewayConfigRevisionList)(body));
  const { first_id: first } = body as { first_id: string };
  t.match(await desk.history({ query: `order=desc&after=${first}` }), {
    body: { has_more: false, data: [{ revision: 1 }] },
  });
  await t.rejects(desk.history({ query: 'after=nonsense' }), { code: 'invalid_cursor', status: 400 });
  t.match((await desk.history({ organizationId: 'org_other' })).body, { data: [] });
});

t.test('D17 unknown keys are kept whatever they are called, but none reaches a prototype', async (t) => {
  const desk = openDesk();
  const text = '{"constructor":{"a":1},"rules":{"prototype":[2],"constructor":null}}';
  const saved = await desk.save(JSON.parse(text));
  for (const { body } of [saved, await desk.get()]) {
    const { config } = body as { config: Record<string, Record<string, unknown>> };
    const kept = Object.getOwnPropertyDescriptor(config, 'constructor');
    t.match(kept, { value: { a: 1 }, enumerable: true });
    t.equal(JSON.stringify(config['rules']!['prototype']), '[2]');
    t.equal(config['rules']!['constructor'], null);
    t.equal(Object.getPrototypeOf(config), Object.prototype);
    t.notOk(Object.hasOwn(config['rollout']!, 'constructor'), 'what was not sent is not there');
  }
  const { body } = await desk.save(
    JSON.parse('{"__proto__":{"polluted":1},"rules":{"__proto__":{"redact":true}}}'),
  );
  t.match(body, { config: { rules: { redact: false } } });
  t.notMatch(JSON.stringify(body), /polluted|__proto__/);
  t.notOk('polluted' in {});
});

t.test('D11 a 422 names the place in the body', async (t) => {
  const desk = openDesk();
  const cases: Readonly<Record<string, unknown>> = {
    config: undefined,
    'config.rules': { rules: [] },
    'config.rules.redact': { rules: { redact: 'yes' } },
    'config.rules.denylist.1': { rules: { denylist: ['a', 'x'.repeat(201)] } },
    'config.rules.flagged_categories.0': { rules: { flagged_categories: ['nonsense'] } },
    'config.rollout.canary.sample_percent': { rollout: { canary: { sample_percent: 101 } } },
    'config.org_controls.user_quota.window': { org_controls: { user_quota: { window: 'hourly' } } },
    'config.refusal_replacement.mode': { refusal_replacement: { mode: 'shout' } },
  };
  for (const [param, config] of Object.entries(cases)) {
    await t.rejects(desk.save(config), { status: 422, code: 'invalid_parameter', param });
    if (config === undefined) continue;
    for (const name of ['config', 'policy'])
      await t.rejects(desk.simulate({ [name]: config }), {
        code: 'invalid_parameter',
        param: param.replace('config', name),
      });
  }
  await t.rejects(desk.save({}, { body: [] }), { code: 'invalid_parameter', param: 'body' });
  t.strictSame(
    (await desk.history()).body,
    { object: 'list', data: [], has_more: false },
    'nothing was saved',
  );
});

t.test('D10 a repeated save acts once and is answered alike', async (t) => {
  const desk = openDesk();
  const headers = { 'idempotency-key': 'k1' };
  const first = await desk.save({ name: 'one' }, { headers });
  desk.clock.advance(5_000);
  const again = await desk.save({ name: 'one' }, { headers });
  t.strictSame(again.body, first.body);
  t.equal(again.headers?.['idempotent-replayed'], 'true');
  await t.rejects(desk.save({ name: 'two' }, { headers }), { code: 'idempotency_key_reuse', status: 409 });
  t.match((await desk.history()).body, { data: [{ revision: 1 }], has_more: false });
});

t.test('D17 a saved configuration writes its event in its own commit', async (t) => {
  const desk = openDesk();
  await desk.save({ policy_id: 'gw', name: 'Gateway', org_controls: { data_classification: 'internal' } });
  await t.rejects(desk.save({ name: 7 }));
  const { items } = await desk.records.list('org_test', OUTBOX, { limit: 10 });
  t.equal(items.length, 1);
  t.match(items[0]!.value, {
    event_type: 'revision',
    org_id: 'org_test',
    project_id: 'proj_app',
    key_id: 'key_1',
    request_id: 'req_1',
    endpoint: callWith({}).route.path,
    policy_id: 'gw',
    policy_name: 'Gateway',
    policy_version: 1,
    data_classification: 'internal',
    details: { object: 'policy_gateway.config', action: 'save', revision: 1 },
  });
});

t.test('9 the OpenAPI document takes and refuses what the doors take and refuse', async (t) => {
  const isConfig = conforms(gatewayConfigDocs.save.body);
  t.ok(isConfig({ config: { rules: { denylist: ['a'] }, x: 1 } }));
  t.notOk(isConfig({ config: { rules: { denylist: [''] } } }));
  t.notOk(isConfig({ config: { rules: { denylist: ['x'.repeat(201)] } } }));
  t.notOk(isConfig({ config: { rules: [] } }));
  t.notOk(isConfig({ config: { refusal_replacement: { mode: 'shout' } } }));
  t.notOk(isConfig({}));
  const isSimulation = conforms(simulateDoc.body);
  t.ok(isSimulation({ scenario: { categories: ['hate'] }, persist: true }));
  t.notOk(isSimulation({ scenario: { categories: 'hate' } }));
});
