import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { ConfigInput } from '../../src/config/schema.js';
import { blankFacts } from '../../src/core/audit.js';
import { silentLog } from '../../src/core/log.js';
import { GLOBAL } from '../../src/io/records/records.js';
import { openDatabase } from '../../src/io/records/sqlite.js';
import { outboxStep } from '../../src/rules/audit/outbox.js';
import { openAccounts } from '../../src/store.js';
import {
  auditConfig,
  createExport,
  folderFor,
  historyOf,
  ORGANIZATION,
} from '../support/audit/gateway-process.js';
import { runGateway, testConfig, until, type Running } from '../support/gateway.js';
import { startRedis } from '../support/redis.js';
import { readRepositoryFile } from '../support/repository.js';
import { destinations } from '../support/sinks/destinations.js';

t.setTimeout(120_000);

const PEPPER = 'the-pepper-of-the-test-suite-of-32-or-more-characters';
const SINK_TOKEN = 'canary-token-of-the-second-sink';

/** What an answer holds that a later request needs. */
type Made = Readonly<Record<string, string | number>>;
type Request = readonly [method: string, path: string, body?: unknown];

const sink = {
  type: 'splunk_hec',
  label: 'Second',
  enabled: false,
  config: { endpoint: 'http://127.0.0.1:1', token: SINK_TOKEN },
};

/** Every change of the API, in an order in which each is possible; `made` holds what came before. */
const changes: Readonly<Record<string, (made: Readonly<Record<string, Made>>) => Request>> = {
  create_policy: () => ['POST', '/v1/organization/policies', { name: 'n', rule: 'r' }],
  publish_policy: ({ policy }) => ['POST', `${onPolicy(policy)}/publish`, { revision: policy!['revision'] }],
  update_policy: ({ policy }) => [
    'PATCH',
    onPolicy(policy),
    { revision: policy!['revision'], rule: 'other' },
  ],
  restore_policy: ({ policy }) => [
    'POST',
    `${onPolicy(policy)}/restore`,
    { revision: policy!['revision'], version: 1 },
  ],
  pause_policy: ({ policy }) => ['POST', `${onPolicy(policy)}/pause`, { revision: policy!['revision'] }],
  resume_policy: ({ policy }) => ['POST', `${onPolicy(policy)}/resume`, { revision: policy!['revision'] }],
  delete_policy: ({ policy }) => ['DELETE', `${onPolicy(policy)}?revision=${policy!['revision']}`],
  create_admin_api_key: () => ['POST', '/v1/organization/admin_api_keys', { name: 'second' }],
  delete_admin_api_key: ({ admin_api_key }) => [
    'DELETE',
    `/v1/organization/admin_api_keys/${admin_api_key!['id']}`,
  ],
  create_project: () => ['POST', '/v1/organization/projects', { name: 'Second' }],
  create_project_api_key: ({ project }) => [
    'POST',
    `/v1/organization/projects/${project!['id']}/api_keys`,
    { name: 'k' },
  ],
  delete_project_api_key: ({ project, project_api_key }) => [
    'DELETE',
    `/v1/organization/projects/${project!['id']}/api_keys/${project_api_key!['id']}`,
  ],
  create_credit_grant: () => ['POST', '/v1/organization/credits', { amount: 5, reason: 'a gift' }],
  create_payment: () => ['POST', '/v1/organization/payments', { usd: 5 }],
  save_gateway_config: () => ['POST', '/api/policy-gateway/config', { config: { name: 'Saved' } }],
  create_export: () => ['POST', '/api/policy-gateway/exports', sink],
  update_export: ({ export: one }) => [
    'PATCH',
    `/api/policy-gateway/exports/${one!['id']}`,
    { label: 'Third' },
  ],
  delete_export: ({ export: one }) => ['DELETE', `/api/policy-gateway/exports/${one!['id']}`],
  erase_history: () => ['DELETE', '/api/policy-gateway/history?user=somebody'],
};
const onPolicy = (policy: Made | undefined): string => `/v1/organization/policies/${policy!['id']}`;

/** They change nothing that is kept: inference, and questions that need a body. */
const harmless = [
  'messages',
  'responses',
  'chat_completions',
  'count_tokens',
  'moderations',
  'simulate',
  'test_export',
];

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string }[];
}

const operations = (): readonly Operation[] => {
  const { paths } = JSON.parse(readRepositoryFile('docs/openapi.json')) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  };
  return Object.values(paths)
    .flatMap((methods) => Object.entries(methods))
    .filter(([method]) => ['post', 'patch', 'put', 'delete'].includes(method))
    .map(([, operation]) => operation)
    .filter(({ operationId }) => !harmless.includes(operationId));
};

/** One change, and its replay where it has one; gives the request ids of both. */
const change = async (t: Test, { call }: Running, operation: Operation, [method, path, body]: Request) => {
  const { operationId, parameters = [] } = operation;
  const isReplayable = parameters.some(({ name }) => name === 'Idempotency-Key');
  const headers = isReplayable ? { 'idempotency-key': `key-of-${operationId}` } : {};
  const given = { headers, ...(body !== undefined && { body }) };
  const response = await call(method, path, given);
  const answer = (await response.json()) as Readonly<Record<string, unknown>>;
  t.equal(response.status, 200, `${operationId}: ${JSON.stringify(answer)}`);
  const again = isReplayable ? await call(method, path, given) : null;
  if (again) t.equal(again.headers.get('idempotent-replayed'), 'true', `${operationId} is replayed`);
  await again?.text();
  return {
    answer: (answer['export'] ?? answer) as Made,
    requestId: response.headers.get('x-request-id')!,
    replayId: again?.headers.get('x-request-id'),
  };
};

const leaveTraces = async (t: Test, store: NonNullable<ConfigInput['store']>): Promise<void> => {
  const folder = folderFor(t);
  const running = await runGateway(t, { ...auditConfig(folder), store, auth: { pepper: PEPPER } });
  const siem = await destinations.splunk();
  t.teardown(() => siem.server.close());
  await createExport(running, siem);

  const table = new Map(operations().map((operation) => [operation.operationId, operation]));
  t.strictSame(Object.keys(changes).sort(), [...table.keys()].sort(), 'every change of the API is made here');
  const made: Record<string, Made> = {};
  const done = new Map<
    string,
    { readonly requestId: string; readonly replayId: string | null | undefined }
  >();
  const secrets = [SINK_TOKEN];
  for (const [operationId, request] of Object.entries(changes)) {
    const { answer, ...ids } = await change(t, running, table.get(operationId)!, request(made));
    made[operationId.replace(/^[a-z]+_/, '')] = answer;
    if (typeof answer['value'] === 'string') secrets.push(answer['value']);
    done.set(operationId, ids);
  }
  t.equal(secrets.length, 3);

  const idsOfAll = [...done.values()].map(({ requestId }) => requestId);
  await until(async () => {
    const told = (await historyOf(running)).map(({ request_id }) => request_id);
    return idsOfAll.every((id) => told.includes(id));
  }, 'every change is told of');
  await running.gateway.close();

  const events = siem.events();
  for (const [operationId, { requestId, replayId }] of done) {
    const told = events.filter(({ request_id }) => request_id === requestId);
    t.match(
      told,
      [{ event_type: operationId === 'save_gateway_config' ? 'revision' : 'admin' }],
      `${operationId} leaves one event`,
    );
    t.equal(told.length, 1);
    if (replayId)
      t.notOk(
        events.some(({ request_id }) => request_id === replayId),
        'and its replay none',
      );
  }
  const text = JSON.stringify(events);
  for (const secret of secrets) t.notOk(text.includes(secret), 'no secret is in them');
};

t.test('D28 every change leaves one event, its replay none [embedded]', (t) =>
  leaveTraces(t, { kind: 'embedded', path: `${folderFor(t)}/store` }),
);

t.test('D28 every change leaves one event, its replay none [redis]', async (t) => {
  const redis = await startRedis();
  t.teardown(() => redis.stop());
  await leaveTraces(t, { kind: 'redis', redis: { url: redis.url, command_timeout: '5s' } });
});

t.test('D28 a crash between a change and its event leaves the event to the next start, once', async (t) => {
  const folder = folderFor(t);
  const given = auditConfig(folder);
  const first = await runGateway(t, given);
  t.equal((await first.call('POST', '/v1/organization/projects', { body: { name: 'Before' } })).status, 200);
  await until(
    async () => (await historyOf(first, '&event_type=admin')).length === 1,
    'the change is told of',
  );
  const [known] = await historyOf(first, '&event_type=admin');
  await first.gateway.close();

  // What a killed gateway leaves behind: a change not told of yet, and one told of but not ticked off.
  const accounts = await openAccounts(await testConfig(given), silentLog);
  const facts = { ...blankFacts('admin', ORGANIZATION), created_at: '2031-01-31T12:00:00.000Z' };
  await accounts.records.commit(ORGANIZATION, [
    outboxStep({ ...facts, event_id: 'evt_left_behind' }),
    outboxStep({ ...facts, event_id: known!.event_id }),
  ]);
  await accounts.records.commit(GLOBAL, [outboxStep({ ...facts, event_id: 'evt_left_elsewhere' })]);
  await accounts.records.close();
  // As if the half minute were over for which the killed one has its turn.
  const store = openDatabase(join(folder, 'store', 'sluice.db'));
  store.exec('DELETE FROM claims');
  store.close();

  const second = await runGateway(t, given);
  const told = async (): Promise<string[]> =>
    (await historyOf(second, '&event_type=admin')).map(({ event_id }) => event_id).sort();
  await until(async () => (await told()).length === 3, 'all are told of');
  t.strictSame(await told(), ['evt_left_behind', 'evt_left_elsewhere', known!.event_id].sort());
  await second.gateway.close();
  const after = await openAccounts(await testConfig(given), silentLog);
  t.teardown(() => after.records.close());
  for (const partition of [ORGANIZATION, GLOBAL])
    t.strictSame((await after.records.list(partition, 'outbox', { limit: 10 })).items, [], 'nothing is left');
});
