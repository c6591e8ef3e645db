import t from 'tap';
import { parseRedisUrl } from '../../../src/io/redis/address.js';
import { openRedis } from '../../../src/io/redis/connect.js';
import { checkLeaks } from '../../support/leaks.js';
import { plainClient, startRedis, until } from '../../support/redis.js';

t.test('a Redis address says where, who, which database and whether TLS', async (t) => {
  t.strictSame(parseRedisUrl('redis://127.0.0.1:6380/2'), { host: '127.0.0.1', port: 6380, db: 2 });
  t.strictSame(parseRedisUrl('rediss://user:p%40ss@cache.example'), {
    host: 'cache.example',
    port: 6379,
    username: 'user',
    password: 'p@ss',
    tls: {},
  });
  t.strictSame(parseRedisUrl('node-1:7000'), { host: 'node-1', port: 7000 });
  t.strictSame(parseRedisUrl('[::1]:7000', 26379), { host: '::1', port: 7000 });
  t.strictSame(parseRedisUrl('sentinel-1', 26379), { host: 'sentinel-1', port: 26379 });
  t.strictSame(parseRedisUrl('redis://'), { host: '127.0.0.1', port: 6379 });
  for (const wrong of ['http://127.0.0.1', 'redis://host/name', 'redis://ho st', 'host:port'])
    t.throws(() => parseRedisUrl(wrong));
});

t.test('a lost subscription is renewed and says so', async (t) => {
  checkLeaks(t);
  const server = await startRedis();
  t.teardown(() => server.stop());
  const link = await openRedis({ url: server.url });
  t.teardown(() => link.close());
  const heard: string[] = [];
  await link.subscribe('news', {
    message: (text) => heard.push(text),
    resumed: () => heard.push('(resumed)'),
  });
  await link.client.publish('news', 'one');
  await until(() => heard.length === 1);
  const client = plainClient(server.port);
  await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  client.disconnect();
  await until(() => heard.length === 2);
  await link.client.publish('news', 'two');
  await until(() => heard.length === 3);
  t.strictSame(heard, ['one', '(resumed)', 'two']);
});

t.test('a link that is closed while Redis is away leaves nothing behind', async (t) => {
  checkLeaks(t);
  const server = await startRedis();
  const link = await openRedis({ url: server.url });
  await link.subscribe('news', { message: () => {}, resumed: () => {} });
  await server.stop();
  await t.rejects(link.client.ping());
  await link.close();
  await link.close();
});
