import t, { type Test } from 'tap';
import { createSender } from '../../../src/rules/sinks/create-sender.js';
import { batchOf, CREATED_AT, never, quick, specOf } from '../../support/sinks/batches.js';
import {
  startFakeElastic,
  type FakeElasticOptions,
  type ItemFault,
} from '../../support/sinks/fake-elastic.js';

const place = async (t: Test, config: object = {}, options: FakeElasticOptions = {}) => {
  const elastic = await startFakeElastic(options);
  t.teardown(() => elastic.close());
  const given = { endpoint: elastic.url, api_key: 'key', ...config };
  const sender = createSender(specOf('elastic', given), quick);
  t.teardown(() => sender.close());
  return { elastic, sender };
};

const seqIs =
  (faults: Readonly<Record<number, ItemFault>>) =>
  (document: Readonly<Record<string, unknown>>): ItemFault | null =>
    faults[Number(document['seq'])] ?? null;

t.test('4.1 events are created under their ids in the data stream, with their time', async (t) => {
  const { elastic, sender } = await place(t);
  const batch = batchOf(2);
  t.strictSame(await sender.send(batch, never), { kind: 'accepted' });
  t.strictSame(elastic.documents('logs-sluice.audit-default'), [
    { '@timestamp': CREATED_AT, ...(JSON.parse(batch.events[0]!.json) as object) },
    { '@timestamp': CREATED_AT, ...(JSON.parse(batch.events[1]!.json) as object) },
  ]);
  t.equal(elastic.requests[0]?.headers['content-type'], 'application/x-ndjson');
  t.match(elastic.requests[0]?.body.toString(), /^\{"create":\{"_id":"evt-000001"\}\}\n/);
});

t.test('4.1 a re-sent batch finds its events there and is done', async (t) => {
  const { elastic, sender } = await place(t);
  elastic.fail({ kind: 'vanish' });
  t.match(await sender.send(batchOf(3), never), { kind: 'retry' });
  t.strictSame(await sender.send(batchOf(3), never), { kind: 'accepted' });
  t.equal(elastic.documents().length, 3);
});

t.test('4.1 every item has its own outcome, in the order of the batch', async (t) => {
  const { elastic, sender } = await place(t);
  elastic.failItems(
    seqIs({
      2: { status: 429, type: 'es_rejected_execution_exception' },
      3: { status: 400, type: 'mapper_parsing_exception', reason: 'a secret value' },
      4: { status: 503, type: 'unavailable_shards_exception' },
    }),
  );
  const outcome = await sender.send(batchOf(5), never);
  t.match(outcome, {
    kind: 'partly',
    items: [
      { kind: 'accepted' },
      { kind: 'retry', reason: /429, es_rejected/ },
      { kind: 'poison', reason: /400, mapper_parsing/ },
      { kind: 'retry', reason: /503/ },
      { kind: 'accepted' },
    ],
  });
  t.notMatch(JSON.stringify(outcome), /secret value/);
});

t.test('4.1 what no event is to blame for holds the whole batch', async (t) => {
  const faults: readonly ItemFault[] = [
    { status: 401, type: 'security_exception' },
    { status: 403, type: 'cluster_block_exception' },
    { status: 404, type: 'index_not_found_exception' },
  ];
  for (const fault of faults) {
    const { elastic, sender } = await place(t);
    elastic.failItems(seqIs({ 2: fault }));
    t.match(await sender.send(batchOf(3), never), { kind: 'held', reason: new RegExp(fault.type) });
    elastic.failItems(null);
    t.strictSame(await sender.send(batchOf(3), never), { kind: 'accepted' });
  }
  const { sender } = await place(t, { pipeline: 'missing' });
  t.match(await sender.send(batchOf(1), never), { kind: 'held', reason: /pipeline/ });
  const found = await place(t, { pipeline: 'a b' }, { pipelines: ['a b'] });
  t.strictSame(await found.sender.send(batchOf(1), never), { kind: 'accepted' });
});

t.test('4.1 an index by name, and one that is not there', async (t) => {
  const { elastic, sender } = await place(t, { index: 'audit' });
  t.strictSame(await sender.send(batchOf(1), never), { kind: 'accepted' });
  t.equal(elastic.documents('audit').length, 1);
  const strict = await place(t, { index: 'audit' }, { autoCreate: false });
  t.match(await strict.sender.send(batchOf(1), never), { kind: 'held', reason: /404/ });
});

t.test('4.1 the three ways to authenticate', async (t) => {
  const ways: readonly (readonly [object, string])[] = [
    [{ api_key: 'encoded' }, 'ApiKey encoded'],
    [{ api_key: 'id:key' }, `ApiKey ${Buffer.from('id:key').toString('base64')}`],
    [{ api_key: null, token: 'tkn' }, 'Bearer tkn'],
    [{ api_key: null, username: 'u', password: 'pä' }, `Basic ${Buffer.from('u:pä').toString('base64')}`],
  ];
  for (const [config, authorization] of ways) {
    const { sender } = await place(t, config, { authorization });
    t.strictSame(await sender.send(batchOf(1), never), { kind: 'accepted' });
  }
});

t.test('4.1 a refusal of the whole request: configuration, an event, or a proxy', async (t) => {
  const { elastic, sender } = await place(t);
  const said = (type: string) => JSON.stringify({ error: { type, reason: 'x' }, status: 400 });
  elastic.fail(
    { kind: 'status', status: 400, body: said('illegal_argument_exception') },
    { kind: 'status', status: 400, body: said('parse_exception') },
    { kind: 'status', status: 200, body: '<html>' },
    { kind: 'status', status: 200, body: '{"errors":true,"items":[]}' },
    { kind: 'status', status: 200, body: `{"errors":true,"items":[${'{"create":{}},'.repeat(90_000)}1]}` },
  );
  for (const kind of ['held', 'poison', 'retry', 'retry', 'split'])
    t.equal((await sender.send(batchOf(2), never)).kind, kind);
});
