import t from 'tap';
import { openRedisRecords } from '../../../src/io/records/redis.js';
import { startRedis } from '../../support/redis.js';
import { keepTheContract } from './contract.js';

const server = await startRedis();
t.teardown(() => server.stop());
const options = { url: server.url, keyPrefix: 'sl:', commandTimeoutMs: 5_000 };

t.test('the Redis store keeps the contract of records', async (t) => {
  keepTheContract(t, () => openRedisRecords(options));
});
