import t, { type Test } from 'tap';
import type { ConfigInput } from '../../src/config/schema.js';
import { startRedis, type RedisServer } from './redis.js';

export type Changes = Partial<ConfigInput>;

let redis: Promise<RedisServer> | null = null;
let prefixes = 0;

/** One Redis for the whole test file, a name space of its own for each test. */
const redisStore = async (): Promise<Changes> => {
  if (!redis) {
    redis = startRedis();
    const started = redis;
    t.teardown(async () => (await started).stop());
  }
  const { url } = await redis;
  return {
    store: { kind: 'redis', redis: { url, key_prefix: `t${++prefixes}:`, command_timeout: '5s' } },
    auth: { pepper: 'the-pepper-of-the-test-suite-of-32-or-more-characters' },
  };
};

/** The same test on both stores; `changes` makes a gateway stand on the one at hand. */
export const testOnEachStore = (name: string, run: (t: Test, changes: Changes) => Promise<void>): void => {
  t.test(`${name} (embedded)`, (t) => run(t, {}));
  t.test(`${name} (Redis)`, async (t) => run(t, await redisStore()));
};
