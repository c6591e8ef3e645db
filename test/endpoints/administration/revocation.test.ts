import t from 'tap';
import { ADMIN_KEY, runGateway, until } from '../../support/gateway.js';
import { startRedis } from '../../support/redis.js';

const KEYS = '/v1/organization/admin_api_keys';
const APP_KEYS = '/v1/organization/projects/proj_app/api_keys';
const message = { model: 'sim-small', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] };

t.test('D32 a key revoked at one gateway ends at every other within a second', async (t) => {
  const redis = await startRedis();
  t.teardown(() => redis.stop());
  const changes = {
    store: { kind: 'redis' as const, redis: { url: redis.url } },
    auth: { pepper: 'the-pepper-of-the-test-suite-of-32-or-more-characters' },
  };
  const here = await runGateway(t, changes);
  const there = await runGateway(t, changes);
  for (const path of [KEYS, APP_KEYS]) {
    const made = (await (await here.call('POST', path, { body: { name: 'x' } })).json()) as {
      id: string;
      value: string;
    };
    const use = async (): Promise<number> =>
      path === KEYS
        ? (await there.call('GET', KEYS, { key: made.value })).status
        : (await there.post('/v1/messages', message, { authorization: `Bearer ${made.value}` })).status;
    t.equal(await use(), 200, 'known there at once');
    await here.call('DELETE', `${path}/${made.id}`, { key: ADMIN_KEY });
    await until(async () => (await use()) === 401, 'the key ends at the other gateway', 1_000);
  }
});
