import t from 'tap';
import { openEmbeddedRecords } from '../../../src/io/records/embedded.js';
import { openRedisRecords } from '../../../src/io/records/redis.js';
import { startRedis } from '../../support/redis.js';
import { followTheModel } from './model.js';

const RUNS = 60;

t.test('embedded', async (t) => {
  followTheModel(t, () => openEmbeddedRecords({ path: ':memory:' }), RUNS);
});

t.test('Redis', async (t) => {
  const server = await startRedis();
  t.teardown(() => server.stop());
  followTheModel(
    t,
    () => openRedisRecords({ url: server.url, keyPrefix: 'sl:', commandTimeoutMs: 5_000 }),
    RUNS,
  );
});
