import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { openDatabase } from '../../../src/io/records/sqlite.js';
import { AuditUnavailable, type AuditOptions } from '../../../src/rules/audit/audit.js';
import { openAudit } from '../../../src/rules/audit/open-audit.js';
import type { SinkStatus, TrailStatus } from '../../../src/rules/audit/status.js';
import { checkLeaks } from '../../support/leaks.js';
import { facts, ORG, sinkOf, until } from './desk.js';
import { verifyEvents } from './verify-events.js';

const open = (over: Partial<AuditOptions> = {}) =>
  openAudit({
    worker: new URL('./worker.js', import.meta.url),
    senders: null,
    path: ':memory:',
    durability: 'process',
    maxBytes: 1e9,
    minFreeBytes: 0,
    retentionMs: 1e9,
    ...over,
  });

const readLines = (file: string): Record<string, unknown>[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

for (const durability of ['async', 'process', 'disk'] as const)
  t.test(`events are recorded and delivered in order with durability ${durability}`, async (t) => {
    checkLeaks(t);
    const path = t.testdir();
    const file = join(path, 'out.ndjson');
    const audit = await open({ path: join(path, 'spool'), durability });
    t.ok(audit.open);
    audit.setSinks([sinkOf('sink_1', { type: 'file', config: { file } })]);
    for (let round = 0; round < 5; round++)
      await Promise.all(
        Array.from({ length: 40 }, (_, n) => audit.record(facts({ request_id: `r${round}-${n}` }))),
      );
    const { events, hasMore } = await audit.history(ORG, { limit: 30 });
    t.equal(hasMore, true);
    t.match(events[0], { request_id: 'r4-39', seq: 200, instance_id: audit.instanceId });
    await audit.close();
    const lines = readLines(file);
    t.same(
      lines.map(({ seq }) => seq),
      Array.from({ length: 200 }, (_, n) => n + 1),
    );
    t.match(verifyEvents(lines), { fault: null, events: 200, duplicates: 0 });
    await t.rejects(audit.confirm(facts()), AuditUnavailable);
    t.notOk(audit.open);
    await audit.close();
  });

t.test('one process at a time uses a folder', async (t) => {
  const path = t.testdir();
  const audit = await open({ path });
  await t.rejects(open({ path }), /in use by another Sluice/);
  await audit.close();
  await (await open({ path })).close();
});

t.test('how sinks and the trail are doing is told', async (t) => {
  const sinks: SinkStatus[] = [];
  const trails: TrailStatus[] = [];
  const audit = await open({
    onSinkStatus: (status) => sinks.push(status),
    onTrailStatus: (status) => trails.push(status),
  });
  audit.setSinks([sinkOf('sink_1', { type: 'null' })]);
  await audit.record(facts());
  await until(() => sinks.at(-1)?.lastSuccessAt !== undefined);
  t.match(sinks.at(-1), { sinkId: 'sink_1', organizationId: ORG, queued: 0, oldestMs: 0, circuit: 'closed' });
  await until(() => trails.at(-1)?.recorded === 1);
  t.match(trails.at(-1), { open: true, missed: 0, damaged: 0 });
  t.same(await audit.trySink(sinkOf('sink_2', { type: 'null' })), { kind: 'accepted' });
  await audit.close();
});

t.test('a full spool refuses those who wait for their event, and says that it is full', async (t) => {
  const audit = await open({ maxBytes: 100_000 });
  audit.setSinks([sinkOf('sink_1', { type: 'held' })]);
  await t.rejects(async () => {
    for (;;) await audit.confirm(facts({ details: { text: 'x'.repeat(60_000) } }));
  }, AuditUnavailable);
  await until(() => !audit.open);
  await audit.close();
});

t.test('a damaged spool is replaced while opening', async (t) => {
  const path = t.testdir({ 'spool.db': 'no database'.repeat(1_000) });
  const audit = await open({ path });
  await audit.record(facts());
  const { events } = await audit.history(ORG, { limit: 10 });
  t.match(events, [
    { decision: 'allow' },
    { reason_code: 'audit_gap', details: { reason: 'spool_damaged' } },
  ]);
  await audit.close();
});

t.test('a spool that cannot be used stops the start, with the reason', async (t) => {
  checkLeaks(t);
  const path = t.testdir();
  writeFileSync(join(path, 'file'), '');
  await t.rejects(open({ path: join(path, 'file', 'spool') }));
  const audit = await open({ path });
  await audit.close();
  const database = openDatabase(join(path, 'spool.db'));
  database.exec(`INSERT INTO migrations VALUES (99, '099-later', 'x', 0)`);
  database.close();
  await t.rejects(open({ path }), /newer Sluice/);
});

t.test('a fault in a sender ends its thread, not the process, and another thread goes on', async (t) => {
  const path = t.testdir();
  const file = join(path, 'out.ndjson');
  const errors: string[] = [];
  const log = {
    debug() {},
    info() {},
    warn() {},
    error: (_: object, message: string) => void errors.push(message),
  };
  const audit = await open({ path: join(path, 'spool'), log });
  audit.setSinks([
    sinkOf('sink_1', { type: 'file', config: { file } }),
    sinkOf('sink_2', { type: 'crash', organizationId: 'org_b' }),
  ]);
  await audit.record(facts());
  await audit.record(facts({ org_id: 'org_b' })).catch(() => {});
  await until(() => errors.length > 0);
  t.match(errors, ['The worker of the audit trail has ended.']);
  t.notOk(audit.open);
  await t.rejects(audit.record(facts()), AuditUnavailable);
  await t.rejects(audit.history(ORG, { limit: 1 }), AuditUnavailable);
  audit.setSinks([sinkOf('sink_1', { type: 'file', config: { file } })]);
  await until(() => audit.open);
  await audit.record(facts());
  const gaps = async () =>
    (await audit.history(ORG, { limit: 10 })).events.filter((event) => event['reason_code'] === 'audit_gap');
  await until(async () => (await gaps()).length === 1);
  t.match(await gaps(), [{ details: { reason: 'not_recorded', missed: 1 } }]);
  await audit.close();
  t.match(verifyEvents(readLines(file)), { fault: null, events: 3 });
});

t.test('the inference thread does not pile up events for a worker that hangs', async (t) => {
  const audit = await open({ durability: 'async' });
  const post = t.capture(Worker.prototype, 'postMessage', () => {});
  for (let n = 0; n < 50_000; n++) void audit.record(facts());
  t.notOk(audit.open);
  await t.rejects(audit.confirm(facts()), AuditUnavailable);
  await audit.record(facts());
  let calls = post();
  await until(() => (calls = [...calls, ...post()]).length > 0);
  post.restore();
  const worker = calls[0]!.receiver as Worker;
  await worker.terminate();
  await audit.close();
});

t.test(
  'D28 every event acknowledged before SIGKILL is in the trail and arrives, and the chain verifies',
  async (t) => {
    const folder = t.testdir();
    const [path, file] = [join(folder, 'spool'), join(folder, 'out.ndjson')];
    const acknowledged: string[] = [];
    for (const killAfter of [1, 37, 400, 1_500, 3_000]) {
      const child = fork(new URL('./burst-child.js', import.meta.url), [path, file]);
      let count = 0;
      child.on('message', (id: string) => {
        acknowledged.push(id);
        if (++count === killAfter) child.kill('SIGKILL');
      });
      await once(child, 'exit');
    }
    const database = openDatabase(join(path, 'spool.db'));
    t.match(database.prepare('PRAGMA integrity_check').get(), { integrity_check: 'ok' });
    database.close();

    const audit = await open({ path });
    audit.setSinks([sinkOf('sink_1', { type: 'file', config: { file } })]);
    await audit.close();
    const lines = readLines(file);
    const arrived = new Set(lines.map((event) => event['request_id']));
    t.same(
      acknowledged.filter((id) => !arrived.has(id)),
      [],
    );
    const { fault, duplicates, events } = verifyEvents(lines);
    t.equal(fault, null);
    t.ok(duplicates <= 5 * 50, `${duplicates} duplicates, at most one batch each time`);
    t.equal(lines.length, events + duplicates);
  },
);
