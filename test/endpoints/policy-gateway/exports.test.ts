import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { exportDocs } from '../../../src/endpoints/policy-gateway/exports-docs.js';
import { openSink, openSinks } from '../../../src/rules/sinks/book.js';
import { SinkStatusWriter } from '../../../src/rules/sinks/status-writer.js';
import { silentLog } from '../../../src/core/log.js';
import { collectComponents } from '../../openapi/schemas.js';
import { MemoryRecords } from '../../support/memory-records.js';
import { loopback } from '../../support/sinks/batches.js';
import { destinations } from '../../support/sinks/destinations.js';
import { bucket, openDesk, refuses, SECRET, splunk } from './exports-desk.js';

const NOW = '2031-01-31T12:00:00.000Z';

t.test('4.9 an export is created, and shows everything but its secret', async (t) => {
  const desk = openDesk(t);
  const reply = await desk.ask('create', { body: splunk() });
  t.equal(reply.status, 200);
  t.match(reply.body, {
    export: {
      id: /^exp_/,
      type: 'splunk_hec',
      label: 'SIEM',
      enabled: true,
      config: { endpoint: 'https://splunk.example.com:8088', token: '***', ack: 'auto' },
      created_at: NOW,
      updated_at: NOW,
      last_success_at: null,
      last_error_at: null,
      last_error: null,
    },
  });
  t.strictSame(desk.changes, ['org_test']);
});

t.test('D27 the secret reaches whoever sends, and is nowhere in clear', async (t) => {
  const desk = openDesk(t);
  const { id } = await desk.create(bucket(), { key: 'once' });
  t.match(await openSink(desk.book, 'org_test', id), {
    id,
    organizationId: 'org_test',
    type: 's3',
    config: { secret_access_key: SECRET, session_token: `${SECRET}-session`, bucket: 'audit' },
  });
  t.notMatch(desk.records.dump(), /canary/);
  for (const door of ['list', 'get'] as const)
    t.notMatch(JSON.stringify(await desk.ask(door, { id })), /canary/);
  const replayed = await desk.ask('create', { body: bucket(), key: 'once' });
  t.equal(replayed.headers?.['idempotent-replayed'], 'true');
  t.notMatch(JSON.stringify(replayed.body), /canary/);
  t.equal((await openSinks(desk.book, 'org_test')).length, 1, 'a replay makes no second one');
});

t.test('D27 an update merges fields, and a mask keeps the secret', async (t) => {
  const desk = openDesk(t);
  const made = await desk.create(splunk({ index: 'a' }));
  desk.clock.advance(5_000);
  const sink = await desk.update(made.id, {
    type: 'splunk_hec',
    label: 'New',
    enabled: false,
    config: { ...made.config, index: null, source: 'gw' },
  });
  t.match(sink, { label: 'New', enabled: false, updated_at: '2031-01-31T12:00:05.000Z', created_at: NOW });
  t.strictSame(sink.config, {
    endpoint: 'https://splunk.example.com:8088',
    source: 'gw',
    sourcetype: 'sluice:audit',
    ack: 'auto',
    gzip: true,
    token: '***',
  });
  t.match(await openSink(desk.book, 'org_test', made.id), {
    enabled: false,
    config: { token: SECRET, source: 'gw' },
  });
  const changed = await desk.update(made.id, { config: { token: 'another' } });
  t.equal(changed.config['token'], '***');
  t.match(await openSink(desk.book, 'org_test', made.id), { config: { token: 'another' } });
});

t.test('D27 an update that changes nothing leaves its time alone', async (t) => {
  const desk = openDesk(t);
  const made = await desk.create(splunk());
  desk.clock.advance(5_000);
  for (const body of [
    {},
    { label: 'SIEM', enabled: null },
    { config: made.config },
    { config: { token: SECRET } },
  ])
    t.strictSame(await desk.update(made.id, body, { key: JSON.stringify(body).length.toString() }), made);
});

t.test('D27 another destination needs its secrets again', async (t) => {
  const desk = openDesk(t);
  const moves: readonly (readonly [object, object, object, string])[] = [
    [splunk(), { endpoint: 'https://evil.example.com' }, { token: 't' }, 'token'],
    [
      { type: 'datadog_logs', label: 'x', config: { site: 'datadoghq.com', api_key: SECRET } },
      { site: 'datadoghq.eu' },
      { api_key: 'k' },
      'api_key',
    ],
    [
      {
        type: 'elastic',
        label: 'x',
        config: { endpoint: 'https://es.example.com', username: 'u', password: SECRET },
      },
      { endpoint: 'https://evil.example.com' },
      { password: 'p' },
      'password',
    ],
    [bucket(), { bucket: 'other' }, { secret_access_key: 's', session_token: null }, 'secret_access_key'],
    [bucket(), { region: 'us-east-1', secret_access_key: 's' }, { session_token: 't' }, 'session_token'],
    [
      bucket(),
      { endpoint: 'https://evil.example.com' },
      { secret_access_key: 's', session_token: 't' },
      'secret_access_key',
    ],
    [
      {
        type: 'azure_monitor',
        label: 'x',
        config: {
          endpoint: 'https://a.example.com',
          dcr_immutable_id: 'dcr-1',
          stream_name: 'S',
          tenant_id: 't',
          client_id: 'c',
          client_secret: SECRET,
        },
      },
      { authority: 'https://evil.example.com' },
      { client_secret: 's' },
      'client_secret',
    ],
  ];
  for (const [body, move, secrets, field] of moves) {
    const { id } = await desk.create(body);
    for (const masked of [{}, { [field]: '***' }])
      await refuses(t, desk.update(id, { config: { ...move, ...masked } }), {
        status: 422,
        param: `config.${field}`,
        message: /must be sent again/,
      });
    const moved = await desk.update(id, { config: { ...move, ...secrets } });
    t.match(moved.config, move instanceof Object && !('secret_access_key' in move) ? move : {});
  }
});

t.test('D27 a mask stands for nothing where nothing is stored', async (t) => {
  const desk = openDesk(t);
  await refuses(t, desk.create(splunk({ token: '***' })), { status: 422, param: 'config.token' });
  const { id } = await desk.create(bucket({ session_token: null }));
  await refuses(t, desk.update(id, { config: { session_token: '***' } }), {
    status: 422,
    param: 'config.session_token',
  });
  const sink = await desk.update(id, { config: { session_token: 'new' } });
  t.equal(sink.config['session_token'], '***');
  t.notOk('session_token' in (await desk.update(id, { config: { session_token: null } })).config);
});

t.test('4.9 what is wrong with a body is named', async (t) => {
  const desk = openDesk(t);
  const { id } = await desk.create(splunk());
  for (const [body, param] of [
    [{ ...splunk(), type: 'syslog' }, 'type'],
    [{ ...splunk(), label: '' }, 'label'],
    [{ ...splunk(), label: 'x'.repeat(81) }, 'label'],
    [{ ...splunk(), enabled: 'yes' }, 'enabled'],
    [{ ...splunk(), config: null }, 'config'],
    [{ ...splunk(), more: 1 }, 'more'],
    [{ label: 'x' }, 'type'],
    [splunk({ endpoint: 'http://splunk.example.com' }), 'config.endpoint'],
    [splunk({ endpoint: 'https://10.0.0.1:8088' }), 'config.endpoint'],
  ] as const)
    await refuses(t, desk.ask('create', { body }), { status: 422, param });
  await refuses(t, desk.update(id, { type: 's3' }), { status: 422, param: 'type' });
  await refuses(t, desk.update(id, { config: { token: null } }), { status: 422, param: 'config.token' });
  t.strictSame(desk.changes, ['org_test'], 'nothing was changed by these');
});

t.test('D14 an organization may hold so many, and another’s are not seen', async (t) => {
  const desk = openDesk(t, { maxSinks: 2 });
  const { id } = await desk.create(splunk());
  await desk.create(splunk());
  await refuses(t, desk.create(splunk()), { status: 409, code: 'resource_limit_exceeded' });
  const elsewhere = { id, organizationId: 'org_other' };
  for (const door of ['get', 'update', 'remove', 'test'] as const)
    await refuses(t, desk.ask(door, { ...elsewhere, body: {} }), { status: 404 });
  t.match((await desk.ask('list', { organizationId: 'org_other' })).body, {
    object: 'list',
    data: [],
    has_more: false,
  });
});

t.test('D2 exports are listed in pages', async (t) => {
  const desk = openDesk(t);
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) ids.push((await desk.create(splunk())).id);
  t.match((await desk.ask('list', { query: 'limit=2' })).body, {
    data: [{ id: ids[0] }, { id: ids[1] }],
    has_more: true,
  });
  t.match((await desk.ask('list', { query: `after=${ids[1]}` })).body, {
    data: [{ id: ids[2] }],
    has_more: false,
  });
  await refuses(t, desk.ask('list', { query: 'after=pol_1' }), { status: 400, code: 'invalid_cursor' });
});

t.test('D27 a deleted export leaves nothing behind', async (t) => {
  const desk = openDesk(t);
  const { id } = await desk.create(splunk());
  const writer = new SinkStatusWriter({ records: desk.records, log: silentLog });
  writer.note({ organizationId: 'org_test', sinkId: id, lastSuccessAt: 5, lastErrorAt: 7, lastError: 'no' });
  await writer.close();
  t.strictSame((await desk.ask('remove', { id })).body, {
    id,
    object: 'policy_gateway.export.deleted',
    deleted: true,
  });
  await refuses(t, desk.ask('remove', { id }), { status: 404 });
  t.notMatch(desk.records.dump(), new RegExp(id));
  t.strictSame(await desk.records.lastUses('org_test', [id]), [null]);
  const late = new SinkStatusWriter({ records: desk.records, log: silentLog });
  late.note({ organizationId: 'org_test', sinkId: id, lastErrorAt: 9, lastError: 'late' });
  await late.close();
  t.notMatch(desk.records.dump(), /late/);
});

t.test('D27 two who change one export at once both succeed', async (t) => {
  const desk = openDesk(t);
  const { id } = await desk.create(splunk());
  await Promise.all([
    desk.update(id, { label: 'one' }),
    desk.update(id, { config: { index: 'two' } }),
    desk.update(id, { enabled: false }),
  ]);
  t.match(await desk.get(id), { label: 'one', enabled: false, config: { index: 'two', token: '***' } });
});

t.test('D27 a test says what the destination made of one event', async (t) => {
  const server = await destinations.splunk();
  t.teardown(() => server.server.close());
  const desk = openDesk(t, { rules: loopback });
  const { id } = await desk.create({ type: server.type, label: 'x', enabled: false, config: server.config });
  t.match((await desk.ask('test', { id })).body, { ok: true, reason: null, latency_ms: Number });
  t.equal(server.ids().length, 1);
  await desk.update(id, { config: { token: 'wrong' } });
  t.match((await desk.ask('test', { id })).body, { ok: false, reason: /token is invalid/ });
  server.server.fail({ kind: 'status', status: 503, body: SECRET });
  const { body } = await desk.ask('test', { id });
  t.match(body, { ok: false, reason: /failing \(HTTP 503\)/ });
  t.notMatch(JSON.stringify(body), /canary/);
});

t.test(
  'D27 rules that became stricter are kept at the connector, and do not hinder switching off',
  async (t) => {
    const server = await destinations.splunk();
    t.teardown(() => server.server.close());
    const before = openDesk(t, { rules: loopback });
    const { id } = await before.create({ type: server.type, label: 'x', config: server.config });
    const after = openDesk(t, { records: before.records });
    t.match((await after.ask('test', { id })).body, { ok: false, reason: /config.endpoint: must/ });
    t.equal(server.server.requests.length, 0);
    t.equal((await after.update(id, { enabled: false })).enabled, false);
  },
);

t.test('D27 a secret sealed under another pepper is asked for again', async (t) => {
  const before = openDesk(t);
  const { id } = await before.create(splunk());
  const after = openDesk(t, {
    records: before.records,
    pepper: Buffer.from('another-pepper-0123456789abcdefgh'),
  });
  t.match((await after.ask('test', { id })).body, { ok: false, reason: /config.token: is required/ });
  t.equal((await after.update(id, { label: 'still' })).label, 'still');
  await refuses(t, after.update(id, { config: { index: 'a' } }), { status: 422, param: 'config.token' });
  await after.update(id, { config: { token: 'again' } });
  t.match(await openSink(after.book, 'org_test', id), { config: { token: 'again' } });
});

t.test('D27 the last success and the last error are told, and cost the export no revision', async (t) => {
  const desk = openDesk(t);
  const { id, updated_at } = await desk.create(splunk());
  const report = { organizationId: 'org_test', sinkId: id };
  const writer = new SinkStatusWriter({ records: desk.records, log: silentLog });
  const commits = () => desk.records.calls.get('commit') ?? 0;
  const before = commits();
  writer.note({ ...report, lastSuccessAt: Date.parse(NOW) });
  for (let i = 0; i < 100; i++)
    writer.note({
      ...report,
      lastSuccessAt: Date.parse(NOW),
      lastErrorAt: Date.parse(NOW) + 1_000 + i,
      lastError: `no ${'x'.repeat(400)}`,
    });
  await writer.close();
  t.equal(commits(), before + 1, 'a hundred reports are one write');
  const sink = await desk.get(id);
  t.match(sink, { last_success_at: NOW, last_error_at: '2031-01-31T12:00:01.099Z', updated_at });
  t.equal(sink.last_error?.length, 300);
  t.equal((await desk.records.get('org_test', 'sinks', id))?.revision, 1);
});

t.test('D27 a report that cannot be written is written later, unless a newer one came', async (t) => {
  const desk = openDesk(t);
  const { id } = await desk.create(splunk());
  const report = { organizationId: 'org_test', sinkId: id };
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (_: object, message: string) => void warnings.push(message) };
  const writer = new SinkStatusWriter({ records: desk.records, log, flushEveryMs: 1 });
  desk.records.down = true;
  writer.note({ ...report, lastSuccessAt: 1, lastErrorAt: 2, lastError: 'first' });
  await until(() => warnings.length > 0);
  writer.note({ ...report, lastSuccessAt: 3, lastErrorAt: 4, lastError: 'second' });
  desk.records.down = false;
  await writer.close();
  t.match(await desk.get(id), { last_success_at: new Date(3).toISOString(), last_error: 'second' });
});

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 2));
};

t.test('D27 what the doors answer is what the document says', async (t) => {
  const answers = Object.values(exportDocs).map(({ answer }) => Object.values(answer)[0]!);
  const bodies = [exportDocs.create.body, exportDocs.update.body];
  const { schemas, place } = collectComponents([...answers, ...bodies]);
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const check = (schema: object, value: unknown): void =>
    void t.ok(
      ajv.compile({ ...place(schema), components: { schemas } })(value),
      JSON.stringify([value, ajv.errors]),
    );
  const desk = openDesk(t, { records: new MemoryRecords() });
  const body = bucket();
  check(exportDocs.create.body, body);
  const made = await desk.ask('create', { body });
  check(answers[2]!, made.body);
  const { id } = (made.body as { readonly export: { readonly id: string } }).export;
  const update = { config: { prefix: 'a' }, label: null };
  check(exportDocs.update.body, update);
  check(answers[3]!, (await desk.ask('update', { id, body: update })).body);
  check(answers[0]!, (await desk.ask('list')).body);
  check(answers[1]!, (await desk.ask('get', { id })).body);
  check(answers[4]!, (await desk.ask('remove', { id })).body);
});
