import t from 'tap';
import { openRedisRecords } from '../../../src/io/records/redis.js';
import { StoreUnavailable } from '../../../src/io/records/records.js';
import { startCluster, until } from '../../support/redis.js';
import { keepTheContract } from './contract.js';

const cluster = await startCluster();
t.teardown(() => cluster.stop());
const options = { url: 'redis://', cluster: cluster.nodes, keyPrefix: 'sl:', commandTimeoutMs: 5_000 };

t.test('the Redis store keeps the contract of records in a Cluster', async (t) => {
  keepTheContract(t, () => openRedisRecords(options));
});

t.test('when a master is away only its partitions fail, and they return with it', async (t) => {
  const records = await openRedisRecords({ ...options, commandTimeoutMs: 250 });
  t.teardown(() => records.close());
  const orgs = Array.from({ length: 24 }, (_, n) => `org_${n}`);
  const write = (org: string) =>
    records.commit(org, [{ op: 'put', collection: 'things', id: 'a', value: {}, expect: 'any' }]).then(
      () => 'written',
      (error: unknown) => (error instanceof StoreUnavailable ? 'away' : error),
    );
  t.strictSame(new Set(await Promise.all(orgs.map(write))), new Set(['written']));

  const [lost] = cluster.servers;
  await lost!.kill();
  const outcomes = await Promise.all(orgs.map(write));
  t.strictSame(new Set(outcomes), new Set(['written', 'away']));

  await lost!.restart();
  await until(async () => (await Promise.all(orgs.map(write))).every((outcome) => outcome === 'written'));
});
