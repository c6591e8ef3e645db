import t from 'tap';
import { silentLog } from '../../../src/core/log.js';
import type { RedisLink } from '../../../src/io/redis/connect.js';
import { createDurable } from '../../../src/rules/limits/durable.js';
import { openRedisLimiter } from '../../../src/rules/limits/redis.js';
import { checkLeaks } from '../../support/leaks.js';
import { plainClient, startRedis } from '../../support/redis.js';

const refusal = (text: string): Error => Object.assign(new Error(text), { name: 'ReplyError' });

/** A link that notes its calls; `answers` tells what becomes of each command. */
const fakeLink = (name: string, calls: string[], answers: Record<string, unknown>) => {
  const client = {
    call: async (command: string, ...args: unknown[]) => {
      calls.push([name, command, ...args].join(' '));
      const answer = answers[command];
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  const link = { client, masters: () => [client], close: async () => void calls.push(`${name} closed`) };
  return link as unknown as RedisLink;
};

const open = (answers: Record<string, unknown>) => {
  const calls: string[] = [];
  const warnings: string[] = [];
  const [main, own] = [fakeLink('main', calls, answers), fakeLink('own', calls, answers)];
  const durable = createDurable({
    link: main,
    open: async () => (calls.push('opened'), own),
    log: { ...silentLog, warn: (_: object, text: string) => void warnings.push(text) },
  });
  const change = () =>
    durable.change(async (client) => (calls.push(client === own.client ? 'own change' : 'main change'), 7));
  return { calls, warnings, durable, change };
};

t.test('a Redis that can tell is waited for, on a connection of its own', async (t) => {
  const { calls, warnings, durable, change } = open({ COMMAND: [['waitaof', -4]], WAITAOF: [1, 0] });
  t.equal(await change(), 7);
  t.equal(await change(), 7);
  await durable.close();
  t.same(calls, [
    'main COMMAND INFO waitaof',
    'opened',
    'own change',
    'own WAITAOF 1 0 2000',
    'own change',
    'own WAITAOF 1 0 2000',
    'own closed',
  ]);
  t.same(warnings, []);
});

t.test('a disk that is not ready in time is told of, and the change stands', async (t) => {
  const { warnings, change } = open({ COMMAND: [['waitaof']], WAITAOF: [0, 0] });
  t.equal(await change(), 7);
  t.match(warnings, [/not on the disk/]);
});

t.test('a Redis without a file has nothing to wait for', async (t) => {
  const answer = refusal('ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.');
  const { warnings, change } = open({ COMMAND: [['waitaof']], WAITAOF: answer });
  t.equal(await change(), 7);
  t.same(warnings, []);
});

t.test('an older Redis, or one that may not be asked, is asked once and left alone', async (t) => {
  for (const answer of [[null], refusal('NOPERM')]) {
    const { calls, durable, change } = open({ COMMAND: answer });
    t.equal(await change(), 7);
    t.equal(await change(), 7);
    await durable.close();
    t.same(calls, ['main COMMAND INFO waitaof', 'main change', 'main change']);
  }
});

t.test('a Redis that was away when it was asked is asked again', async (t) => {
  const { calls, change } = open({ COMMAND: new Error('Connection is closed.') });
  t.equal(await change(), 7);
  t.equal(await change(), 7);
  t.equal(calls.filter((call) => call.startsWith('main COMMAND')).length, 2);
});

t.test('top-ups reach the Redis at hand, whatever its version', async (t) => {
  checkLeaks(t);
  const server = await startRedis({ appendfsync: 'everysec' });
  t.teardown(() => server.stop());
  const limiter = await openRedisLimiter({ url: server.url, keyPrefix: 'sl:', commandTimeoutMs: 5_000 });
  t.teardown(() => limiter.close());
  t.equal(await limiter.credits.addCredits('org_a', 500, 'top-up'), 500);
  t.equal(await limiter.credits.fund('org_b', { granted: 70, epoch: 1, revision: 1 }), 70);
  const client = plainClient(server.port);
  t.teardown(() => client.disconnect());
  const version = /redis_version:(\d+)\.(\d+)/.exec(await client.info('server'))!;
  const stats = await client.info('commandstats');
  const offers = Number(version[1]) * 100 + Number(version[2]) >= 702;
  t.equal(/cmdstat_waitaof/.test(stats), offers, 'it is called exactly where it exists');
  t.notMatch(stats, /cmdstat_waitaof:.*failed_calls=[1-9]/);
});
