import t, { type Test } from 'tap';
import { createSender, type SenderOptions } from '../../../src/rules/sinks/create-sender.js';
import { ManualClock } from '../../support/manual-clock.js';
import { batchOf, CREATED_AT, never, quick, specOf } from '../../support/sinks/batches.js';
import { jsonReply, type Fault } from '../../support/sinks/fake-server.js';
import { startFakeSplunk, type FakeSplunk, type FakeSplunkOptions } from '../../support/sinks/fake-splunk.js';

const place = async (
  t: Test,
  config: object = {},
  options: Partial<FakeSplunkOptions> = {},
  sending: Partial<SenderOptions> = {},
): Promise<{ splunk: FakeSplunk; sender: ReturnType<typeof createSender> }> => {
  const splunk = await startFakeSplunk({ token: 'tkn', ...options });
  t.teardown(() => splunk.close());
  const given = { endpoint: splunk.url, token: 'tkn', ...config };
  const sender = createSender(specOf('splunk_hec', given), { ...quick, ...sending });
  t.teardown(() => sender.close());
  return { splunk, sender };
};

const answer = (status: number, code: number): Fault => {
  const { body } = jsonReply(status, { text: 'x', code });
  return { kind: 'status', status, body: String(body) };
};

t.test('4.1 an event has its time, place and id around it, and its own text inside', async (t) => {
  const { splunk, sender } = await place(t, { index: 'audit', source: 's', sourcetype: 'st' });
  const batch = batchOf(2);
  await sender.send(batch, never);
  const [request] = splunk.requests;
  t.equal(request?.headers.authorization, 'Splunk tkn');
  t.equal(request?.headers['content-encoding'], 'gzip');
  t.ok(request?.body.toString().includes(batch.events[0]!.json), 'spliced, not written anew');
  t.strictSame(splunk.envelopes[0], {
    time: Date.parse(CREATED_AT) / 1_000,
    host: 'gw-1',
    source: 's',
    sourcetype: 'st',
    index: 'audit',
    event: JSON.parse(batch.events[0]!.json) as object,
    fields: { event_id: 'evt-000001' },
  });
});

t.test('4.1 without gzip and index neither is sent', async (t) => {
  const { splunk, sender } = await place(t, { gzip: false });
  await sender.send(batchOf(1), never);
  t.equal(splunk.requests[0]?.headers['content-encoding'], undefined);
  t.notOk('index' in splunk.envelopes[0]!);
});

t.test('4.1 what the codes of the collector mean', async (t) => {
  const { splunk, sender } = await place(t);
  for (const [status, code, kind] of [
    [403, 1, 'held'],
    [401, 2, 'held'],
    [401, 3, 'held'],
    [403, 4, 'held'],
    [400, 5, 'poison'],
    [400, 6, 'poison'],
    [400, 7, 'held'],
    [500, 8, 'retry'],
    [503, 9, 'retry'],
    [400, 10, 'held'],
    [400, 11, 'held'],
    [400, 12, 'poison'],
    [400, 13, 'poison'],
    [400, 14, 'held'],
    [400, 15, 'poison'],
    [503, 23, 'retry'],
    [400, 99, 'poison'],
    [200, 9, 'retry'],
    [200, 6, 'poison'],
  ] as const) {
    splunk.fail(answer(status, code));
    const outcome = await sender.send(batchOf(1), never);
    t.equal(outcome.kind, kind, `${status} code ${code}: ${JSON.stringify(outcome)}`);
  }
  splunk.fail({ kind: 'status', status: 200, body: '<html>a proxy' });
  t.match(await sender.send(batchOf(1), never), { kind: 'retry' });
});

t.test('4.1 an index the token may not write to holds the batch', async (t) => {
  const { sender } = await place(t, { index: 'secret' }, { indexes: ['main'] });
  t.match(await sender.send(batchOf(1), never), { kind: 'held', reason: /index/ });
});

t.test('4.1 with acknowledgement a batch counts when it is indexed, not before', async (t) => {
  const waits: number[] = [];
  const { splunk, sender } = await place(
    t,
    {},
    { ack: true, ackAfterPolls: 3 },
    {
      wait: async (ms) => {
        waits.push(ms);
      },
    },
  );
  t.strictSame(await sender.send(batchOf(2), never), { kind: 'accepted' });
  t.equal(splunk.envelopes.length, 2);
  t.strictSame(waits, [250, 500, 1_000]);
  const channels = new Set(splunk.requests.map(({ headers }) => headers['x-splunk-request-channel']));
  t.equal(channels.size, 1);
  t.match([...channels][0], /^[0-9a-f-]{36}$/);
  await sender.send(batchOf(1), never);
  t.equal(new Set(splunk.requests.map(({ headers }) => headers['x-splunk-request-channel'])).size, 1);
});

t.test('4.1 a question for an acknowledgement that fails is asked again', async (t) => {
  const { splunk, sender } = await place(t, {}, { ack: true });
  const faults: (Fault | null)[] = [null, answer(503, 9), { kind: 'reset', afterBytes: 0 }];
  splunk.failAs(() => faults.shift() ?? null);
  t.strictSame(await sender.send(batchOf(1), never), { kind: 'accepted' });
  t.equal(splunk.requests.length, 4);
});

t.test('4.1 a yes that was lost is not said twice: the batch is sent again', async (t) => {
  const clock = new ManualClock();
  const { splunk, sender } = await place(
    t,
    {},
    { ack: true },
    { clock, wait: async (ms) => clock.advance(ms) },
  );
  const faults: (Fault | null)[] = [null, { kind: 'vanish' }];
  splunk.failAs(() => faults.shift() ?? null);
  t.match(await sender.send(batchOf(1), never), { kind: 'retry', reason: /sent again/ });
  t.strictSame(await sender.send(batchOf(1), never), { kind: 'accepted' });
  t.equal(splunk.envelopes.length, 2);
});

t.test('4.1 a batch that is never indexed is sent again after five minutes', async (t) => {
  const clock = new ManualClock();
  const { splunk, sender } = await place(
    t,
    {},
    { ack: true, ackAfterPolls: 1_000 },
    {
      clock,
      wait: async (ms) => clock.advance(ms),
    },
  );
  const begunMs = clock.ticksMs();
  t.match(await sender.send(batchOf(1), never), { kind: 'retry', reason: /5 min/ });
  t.ok(clock.ticksMs() - begunMs >= 300_000 && clock.ticksMs() - begunMs < 320_000);
  t.ok(splunk.requests.length < 50, 'polled now and then');
});

t.test('4.1 the three ways to treat acknowledgement', async (t) => {
  const silent = await place(t, { ack: 'required' });
  t.match(await silent.sender.send(batchOf(1), never), { kind: 'held', reason: /required/ });
  const off = await place(t, { ack: 'off' });
  t.strictSame(await off.sender.send(batchOf(1), never), { kind: 'accepted' });
  t.equal(off.splunk.requests[0]?.headers['x-splunk-request-channel'], undefined);
  const offButAsked = await place(t, { ack: 'off' }, { ack: true });
  t.match(await offButAsked.sender.send(batchOf(1), never), { kind: 'held', reason: /channel is missing/ });
  const auto = await place(t, {}, { ack: true });
  t.strictSame(await auto.sender.send(batchOf(1), never), { kind: 'accepted' });
  t.equal(auto.splunk.envelopes.length, 1);
});

t.test('4.1 a token withdrawn while an acknowledgement is awaited holds the batch', async (t) => {
  const { splunk, sender } = await place(
    t,
    {},
    { ack: true, ackAfterPolls: 1_000 },
    {
      wait: async () => splunk.setToken('another'),
    },
  );
  t.match(await sender.send(batchOf(1), never), { kind: 'held', reason: /token/ });
});
