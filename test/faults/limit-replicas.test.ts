import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import t, { type Test } from 'tap';
import type { ConfigInput } from '../../src/config/schema.js';
import { startSluice } from '../commands/sluice.js';
import { APP_KEY, until } from '../support/gateway.js';
import { openStream, simulated } from '../support/inference.js';
import { plainClient, startCluster, startRedis } from '../support/redis.js';

t.setTimeout(230_000);

const LIMIT = 120;
const PROCESSES = 4;
const CLIENTS = 64;
const ATTEMPTS = 6; // of each client
const CREDITS = 1_000_000;

const settings = (redis: object): ConfigInput => ({
  version: 1,
  server: { port: 0 },
  // A machine under load may be slow without being away.
  store: { kind: 'redis', redis: { command_timeout: '5s', ...redis } },
  auth: { pepper: 'the-pepper-of-the-test-suite-of-32-or-more-characters' },
  telemetry: { logs: { format: 'json' } },
  providers: { sim: { kind: 'simulator', ttft: '0ms', tokens_per_second: 1_000_000 } },
  models: [{ name: 'sim-small', provider: 'sim', price: { input_per_mtok: 0, output_per_mtok: 100 } }],
  limits: {
    overrides: [
      { scope: 'organization', id: '*', rpm: LIMIT, concurrent: null },
      { scope: 'project', id: '*', rpm: null, concurrent: null },
      { scope: 'key', id: '*', rpm: null, concurrent: 32 },
    ],
  },
  bootstrap: {
    organizations: [
      {
        id: 'org_test',
        name: 'Test',
        credits: CREDITS,
        projects: [{ id: 'proj_app', name: 'App', keys: [{ name: 'app', value: APP_KEY }] }],
      },
    ],
  },
});

/** A gateway in a process of its own. */
const startReplica = async (t: Test, config: ConfigInput) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-replica-'));
  const file = join(folder, 'gateway.yaml');
  writeFileSync(file, JSON.stringify(config));
  const { child, out, err, finished } = startSluice(['serve', '--config', file], { cwd: folder });
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await finished;
  };
  t.teardown(async () => {
    await kill();
    rmSync(folder, { recursive: true, force: true });
  });
  const line = (): string | undefined =>
    `${out()}\n${err()}`.split('\n').find((each) => each.includes('"listening"'));
  await until(
    () => {
      if (child.exitCode !== null) throw new Error(`The gateway ended: ${err()}`);
      return line() !== undefined;
    },
    'the gateway listens',
    60_000,
  );
  return { url: `http://127.0.0.1:${(JSON.parse(line()!) as { port: number }).port}`, kill };
};

/** 64 clients at 4 gateways, all at once, far more often than the organization may; how many were let in. */
const storm = async (t: Test, config: ConfigInput, trouble: () => Promise<void>) => {
  const lifted = {
    ...config,
    limits: { overrides: config.limits!.overrides!.map((each) => ({ ...each, concurrent: null })) },
  };
  const replicas = await Promise.all(Array.from({ length: PROCESSES }, () => startReplica(t, lifted)));
  const statuses = new Map<number, number>();
  let running = true;
  const troubled = (async () => {
    while (running) await trouble();
  })();
  const startedMs = Date.now();
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, i) => {
      for (let n = 0, answered = 0; answered < ATTEMPTS; n++) {
        const response = await fetch(`${replicas[(i + n) % PROCESSES]!.url}/v1/messages`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${APP_KEY}` },
          body: JSON.stringify(simulated('[[tokens=1]]')),
        });
        await response.arrayBuffer();
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
        answered++;
      }
    }),
  );
  const tookMs = Date.now() - startedMs;
  running = false;
  await troubled;
  t.ok(tookMs < 60_000, 'all within one window');
  const limits = await fetch(`${replicas[0]!.url}/v1/limits`, {
    headers: { authorization: `Bearer ${APP_KEY}` },
  });
  const { limits: readings } = (await limits.json()) as {
    limits: { scope: string; metric: string; used: number }[];
  };
  const counted = readings.find(
    ({ scope, metric }) => scope === 'organization' && metric === 'requests_per_minute',
  )?.used;
  return { statuses: Object.fromEntries(statuses), counted };
};

const exact = { statuses: { 200: LIMIT, 429: CLIENTS * ATTEMPTS - LIMIT }, counted: LIMIT };

t.test('8.1 four gateways on one Redis admit exactly what the organization may', async (t) => {
  const redis = await startRedis();
  t.teardown(() => redis.stop());
  t.strictSame(await storm(t, settings({ url: redis.url }), () => sleep(50)), exact);
});

t.test('8.1 and also while connections are killed and scripts flushed', async (t) => {
  const redis = await startRedis();
  t.teardown(() => redis.stop());
  const client = plainClient(redis.port);
  t.teardown(() => client.disconnect());
  let rounds = 0;
  const outcome = await storm(t, settings({ url: redis.url }), async () => {
    await client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await client.script('FLUSH');
    rounds++;
    await sleep(150);
  });
  t.ok(rounds >= 3, `${rounds} rounds of trouble`);
  t.strictSame(outcome, exact);
});

/** Moves a slot with its keys from one master to another, as a reshard does. */
const moveSlot = async (from: Redis, to: Redis, toPort: number, all: readonly Redis[], slot: number) => {
  const [fromId, toId] = [
    String(await from.call('CLUSTER', 'MYID')),
    String(await to.call('CLUSTER', 'MYID')),
  ];
  await to.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId);
  await from.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId);
  for (;;) {
    const keys = (await from.call('CLUSTER', 'GETKEYSINSLOT', slot, 100)) as string[];
    if (keys.length === 0) break;
    await from.call('MIGRATE', '127.0.0.1', toPort, '', 0, 5_000, 'KEYS', ...keys);
  }
  for (const each of [to, from, ...all]) await each.call('CLUSTER', 'SETSLOT', slot, 'NODE', toId);
};

t.test('8.1 and also on a Redis Cluster of three while the slots of the organization move', async (t) => {
  const cluster = await startCluster();
  t.teardown(() => cluster.stop());
  const clients = cluster.servers.map(({ port }) => plainClient(port));
  t.teardown(() => clients.forEach((client) => client.disconnect()));
  const slot = Number(await clients[0]!.call('CLUSTER', 'KEYSLOT', '{org_test}'));
  let at = Math.floor(slot / Math.ceil(16_384 / 3));
  let moves = 0;
  const outcome = await storm(t, settings({ cluster: [...cluster.nodes] }), async () => {
    const next = (at + 1) % 3;
    await moveSlot(clients[at]!, clients[next]!, cluster.servers[next]!.port, clients, slot);
    at = next;
    moves++;
    await sleep(300);
  });
  t.ok(moves >= 2, `${moves} moves`);
  t.strictSame(outcome, exact);
});

t.test('8 a gateway killed with 32 streams in flight holds no place beyond the lease', async (t) => {
  const redis = await startRedis();
  t.teardown(() => redis.stop());
  const config = settings({ url: redis.url });
  const [doomed, other] = [await startReplica(t, config), await startReplica(t, config)];
  const streams = await Promise.all(
    Array.from({ length: 32 }, () => openStream(doomed.url, simulated('[[tokens=50]][[stall=1h]]'))),
  );
  t.ok(streams.every(({ status }) => status === 200));
  const ask = async () => {
    const response = await fetch(`${other.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${APP_KEY}` },
      body: JSON.stringify(simulated('[[tokens=10]]')),
    });
    return { status: response.status, body: (await response.json()) as { remaining_credits?: number } };
  };
  t.equal((await ask()).status, 429, 'all places are taken');
  const client = plainClient(redis.port);
  t.teardown(() => client.disconnect());
  const scriptsRun = async (): Promise<number> =>
    Number(/cmdstat_evalsha:calls=(\d+)/.exec(await client.info('commandstats'))?.[1] ?? 0);
  const before = await scriptsRun();
  await until(async () => (await scriptsRun()) > before, 'the leases are renewed', 20_000);
  await doomed.kill();
  const killedMs = Date.now();
  let last = await ask();
  await until(
    async () => {
      await sleep(1_000); // a poll, seldom enough for the limit of a minute
      last = await ask();
      return last.status === 200;
    },
    'the places of the dead are free',
    35_000,
  );
  t.ok(Date.now() - killedMs < 33_000, 'within the lease of 30 seconds');
  const charged = CREDITS - last.body.remaining_credits!;
  t.equal(charged, 10 + 32, 'each stream pays for the one token it delivered, once');
  const again = await ask();
  t.equal(again.body.remaining_credits, last.body.remaining_credits! - 10, 'and nothing more is held');
});
