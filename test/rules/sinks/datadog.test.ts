import t, { type Test } from 'tap';
import { createSender, type Remark } from '../../../src/rules/sinks/create-sender.js';
import { ManualClock } from '../../support/manual-clock.js';
import { batchOf, CREATED_AT, never, quick, specOf } from '../../support/sinks/batches.js';
import { startFakeDatadog } from '../../support/sinks/fake-datadog.js';

const place = async (t: Test, config: object = {}, nowMs = Date.parse(CREATED_AT) + 1_000) => {
  const datadog = await startFakeDatadog({ apiKey: 'ddk' });
  t.teardown(() => datadog.close());
  const remarks: [Remark, number][] = [];
  const sender = createSender(specOf('datadog_logs', { endpoint: datadog.url, api_key: 'ddk', ...config }), {
    ...quick,
    clock: new ManualClock(nowMs),
    remark: (_, what, events) => remarks.push([what, events]),
  });
  t.teardown(() => sender.close());
  return { datadog, sender, remarks };
};

t.test('4.1 an event stands at the top of its entry, with the attributes Datadog files it by', async (t) => {
  const { datadog, sender } = await place(t, {
    service: 'gw',
    ddsource: 'src',
    tags: ['env:prod', 'team:x'],
  });
  const batch = batchOf(2);
  t.strictSame(await sender.send(batch, never), { kind: 'accepted' });
  t.equal(datadog.requests[0]?.headers['content-encoding'], 'gzip');
  t.strictSame(datadog.entries[0], {
    ...(JSON.parse(batch.events[0]!.json) as object),
    ddsource: 'src',
    service: 'gw',
    ddtags: 'env:prod,team:x',
    message: 'audit event',
    hostname: 'gw-1',
    timestamp: CREATED_AT,
  });
});

t.test('4.1 an event older than 18 hours keeps its time under another name, and is counted', async (t) => {
  const { datadog, sender, remarks } = await place(t, {}, Date.parse(CREATED_AT) + 18 * 3_600_000 + 1);
  t.strictSame(await sender.send(batchOf(1), never), { kind: 'accepted' });
  t.equal(datadog.entries[0]?.['original_timestamp'], CREATED_AT);
  t.notOk('timestamp' in datadog.entries[0]!);
  t.strictSame(remarks, [['late', 1]]);
});

t.test('4.1 an event that Datadog would cut off is made smaller by us, and is counted', async (t) => {
  const { datadog, sender, remarks } = await place(t);
  const batch = batchOf(2, (seq) =>
    seq === 1 ? { content: 'ä'.repeat(490_000) } : { content: 'x'.repeat(700_000) },
  );
  t.strictSame(await sender.send(batch, never), { kind: 'accepted' });
  t.strictSame(datadog.entries[0]?.['export_truncated'], ['content']);
  t.equal(datadog.entries[0]?.['event_id'], 'evt-000001');
  t.equal(String(datadog.entries[1]?.['content']).length, 700_000);
  t.strictSame(remarks, [['shrunk', 1]]);
});

t.test(
  '4.1 a batch as large as the limits allow is taken, a larger one is split without being sent',
  async (t) => {
    const tags = Array.from({ length: 50 }, (_, index) => `tag-${index}:${'v'.repeat(40)}`);
    const { datadog, sender } = await place(t, { tags });
    const { count, bytes } = sender.limits;
    t.equal(count, 1_000);
    const empty = batchOf(count);
    const used = empty.events.reduce((sum, { json }) => sum + json.length, 0);
    const content = 'x'.repeat((bytes - used) / count - 13);
    const full = batchOf(count, () => ({ content }));
    t.ok(full.events.reduce((sum, { json }) => sum + json.length, 0) > bytes - 5_000);
    t.strictSame(await sender.send(full, never), { kind: 'accepted' });
    t.equal(datadog.entries.length, count);
    const beyond = batchOf(8, () => ({ content: 'x'.repeat(800_000) }));
    t.match(await sender.send(beyond, never), { kind: 'split' });
    t.equal(datadog.requests.length, 1);
  },
);

t.test('4.1 a 400 makes the engine look for the event at fault', async (t) => {
  const { datadog, sender } = await place(t);
  datadog.fail({ kind: 'status', status: 400 });
  t.match(await sender.send(batchOf(1), never), { kind: 'poison' });
  datadog.fail({ kind: 'status', status: 204 });
  t.match(await sender.send(batchOf(1), never), { kind: 'held', reason: /unexpected/ });
});
