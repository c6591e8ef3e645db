import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { openDatabase } from '../../src/io/records/sqlite.js';
import { auditConfig, DENIED_TERM, folderFor, historyOf } from '../support/audit/gateway-process.js';
import { jsonAnswer, startFakeProvider } from '../support/fake-provider.js';
import { runGateway } from '../support/gateway.js';
import { simulated } from '../support/inference.js';

t.setTimeout(60_000);

/** Long enough for a reply that waits for nothing; a slow machine can only hide a fault here, not make one up. */
const EARLY_MS = 1_000;

const requests = {
  'a whole answer': ['/v1/messages', simulated('[[tokens=3]]')],
  'a stream': ['/v1/messages', simulated('[[tokens=3]]', { stream: true })],
  'a stream that breaks off': ['/v1/chat/completions', simulated('[[cut=3]]', { stream: true })],
  'a refusal': ['/v1/messages', simulated(DENIED_TERM)],
  'a refused stream': ['/v1/responses', { model: 'sim-small', input: DENIED_TERM, stream: true }],
  'an error of the provider': ['/v1/messages', simulated('[[status=500]]')],
  'a body that is no JSON': ['/v1/messages', '{'],
  'a body that lacks a field': ['/v1/chat/completions', {}],
  'an unknown model': ['/v1/messages', { ...simulated('hi'), model: 'nobody' }],
  'an answer handed through': ['/v1/embeddings', { model: 'e', input: 'text' }],
} as const;

t.test('D28 no reply ends before its event is written, however it ends', async (t) => {
  const folder = folderFor(t);
  const upstream = await startFakeProvider(jsonAnswer(200, { object: 'list' }));
  t.teardown(() => upstream.close());
  const { post, call } = await runGateway(t, {
    ...auditConfig(folder),
    providers: {
      sim: { kind: 'simulator', ttft: '0ms', tokens_per_second: 1_000_000 },
      up: {
        kind: 'openai_chat',
        base_url: upstream.url,
        api_key: 'k',
        passthrough: [{ path: '/v1/embeddings', unmoderated: true }],
      },
    },
  });
  await (await post('/v1/messages', simulated('warm up'))).text();

  const spool = openDatabase(join(folder, 'audit', 'spool.db'));
  t.teardown(() => spool.close());
  spool.exec('BEGIN IMMEDIATE'); // whoever writes has to wait
  const ended: string[] = [];
  const replies = Object.entries(requests).map(async ([name, [path, body]]) => {
    const response = await post(path, body);
    await response.text();
    ended.push(name);
    return response.headers.get('x-request-id')!;
  });
  await sleep(EARLY_MS);
  t.strictSame(ended, [], 'every reply waits for the disk');
  spool.exec('ROLLBACK');

  const ids = await Promise.all(replies);
  const events = await historyOf({ call }, '&event_type=enforcement');
  const told = events.map(({ request_id }) => request_id);
  for (const [index, name] of Object.keys(requests).entries())
    t.equal(told.filter((id) => id === ids[index]).length, 1, `${name} has one event`);
});

const lockedGateway = async (t: Test, durability: 'async' | 'disk') => {
  const folder = folderFor(t);
  const { audit, ...config } = auditConfig(folder);
  const { post, call } = await runGateway(t, { ...config, audit: { ...audit, durability } });
  await (await post('/v1/messages', simulated('warm up'))).text();
  const spool = openDatabase(join(folder, 'audit', 'spool.db'));
  t.teardown(() => spool.close());
  spool.exec('BEGIN IMMEDIATE');
  return {
    reply: post('/v1/messages', simulated('[[tokens=3]]')).then((response) => response.text()),
    unlock: () => spool.exec('ROLLBACK'),
    count: async () => (await historyOf({ call }, '&event_type=enforcement')).length,
  };
};

t.test('D28 durability disk waits for the disk', async (t) => {
  const { reply, unlock, count } = await lockedGateway(t, 'disk');
  t.equal(await Promise.race([reply, sleep(EARLY_MS, 'nothing yet')]), 'nothing yet');
  unlock();
  await reply;
  t.equal(await count(), 2);
});

t.test('D28 durability async waits for nothing', async (t) => {
  const { reply, unlock, count } = await lockedGateway(t, 'async');
  await reply;
  unlock();
  t.equal(await count(), 2);
});
