import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { startSluice } from '../commands/sluice.js';
import {
  askerFor,
  folderFor,
  settings,
  type Ask,
  type Body,
  type StoreInput,
} from '../endpoints/administration/desk.js';
import { until } from '../support/gateway.js';
import { startRedis } from '../support/redis.js';

const ROUNDS = 3;
t.setTimeout(180_000);
const CLIENTS = 6;

/** A gateway process of its own, to be killed. */
const startProcess = async (t: Test, store: StoreInput) => {
  const folder = folderFor(t);
  const file = join(folder, 'gateway.yaml');
  const config = {
    version: 1,
    server: { port: 0 },
    store,
    telemetry: { logs: { format: 'json' } },
    ...settings,
  };
  writeFileSync(file, JSON.stringify(config));
  const { child, out, err, finished } = startSluice(['serve', '--config', file], { cwd: folder });
  t.teardown(async () => {
    child.kill('SIGKILL');
    await finished;
  });
  const line = (): string | undefined =>
    `${out()}\n${err()}`.split('\n').find((each) => /"listening"/.test(each));
  await until(
    () => {
      if (child.exitCode !== null) throw new Error(`The gateway ended: ${err()}`);
      return line() !== undefined;
    },
    'the gateway listens',
    30_000,
  );
  const { port } = JSON.parse(line()!) as { port: number };
  return {
    ask: askerFor(`http://127.0.0.1:${port}`),
    kill: async () => {
      child.kill('SIGKILL');
      await finished;
    },
  };
};

/** What one client knows of its policy: the last answer it got, and what it had asked when the line went dead. */
interface Knowledge {
  acknowledged: Body | 'deleted' | null;
  asked: string;
}

/** Leads one policy through its life, again and again, until the gateway is gone. */
const live = async (ask: Ask, knowledge: Knowledge[], progress: () => void): Promise<void> => {
  for (;;) {
    const mine: Knowledge = { acknowledged: null, asked: 'create' };
    knowledge.push(mine);
    const tell = async (verb: string, ...question: Parameters<Ask>): Promise<Body> => {
      mine.asked = verb;
      const { status, body } = await ask(...question);
      if (status !== 200) throw new Error(`${verb}: ${JSON.stringify(body)}`);
      mine.acknowledged = verb === 'delete' ? 'deleted' : body;
      mine.asked = 'nothing';
      progress();
      return body;
    };
    let policy = await tell('create', 'POST', '/policies', { name: 'n', rule: 'r' });
    const path = `/policies/${policy.id}`;
    for (let version = 1; version <= 3; version++) {
      policy = await tell('patch', 'PATCH', path, { revision: policy.revision, rule: `Rule ${version}.` });
      policy = await tell('publish', 'POST', `${path}/publish`, { revision: policy.revision });
    }
    policy = await tell('pause', 'POST', `${path}/pause`, { revision: policy.revision });
    policy = await tell('resume', 'POST', `${path}/resume`, { revision: policy.revision });
    if (knowledge.length % 2 === 0) await tell('delete', 'DELETE', `${path}?revision=${policy.revision}`);
  }
};

const isWhole = async (t: Test, ask: Ask, policy: Body): Promise<void> => {
  const { data } = (await ask('GET', `/policies/${policy.id}/versions?limit=100`)).body;
  const numbers = Array.from({ length: policy.current_version ?? 0 }, (_, i) => i + 1);
  t.same(
    data.map(({ version }) => version),
    numbers,
    'a version for every number, and no more',
  );
  t.same(
    data.filter(({ current }) => current).map(({ version }) => version),
    numbers.slice(-1),
  );
  t.equal(policy.state === 'draft', policy.current_version === null, 'published and current go together');
};

/** What the restarted gateway holds against what the clients were told. */
const compare = async (t: Test, ask: Ask, knowledge: readonly Knowledge[]): Promise<void> => {
  for (const { acknowledged, asked } of knowledge) {
    if (acknowledged === null || acknowledged === 'deleted') continue;
    const { status, body } = await ask('GET', `/policies/${acknowledged.id}`);
    if (status === 404) {
      t.equal(asked, 'delete', 'only a deletion under way may have taken it');
      continue;
    }
    const ahead = body.revision - acknowledged.revision;
    t.ok(ahead === 0 || (ahead === 1 && asked !== 'nothing'), `at most what was under way: ${asked}`);
    if (ahead === 0) t.same(body, acknowledged, 'no acknowledged change is lost');
  }
  for (let after = ''; ;) {
    const { data, has_more, last_id } = (await ask('GET', `/policies?limit=100${after}`)).body;
    for (const policy of data) await isWhole(t, ask, policy);
    after = `&after=${last_id ?? ''}`;
    if (!has_more) break;
  }
};

const killAgainAndAgain = async (
  t: Test,
  store: StoreInput,
  killStore: () => Promise<void> = () => Promise.resolve(),
): Promise<void> => {
  let gateway = await startProcess(t, store);
  for (let round = 0; round < ROUNDS; round++) {
    const knowledge: Knowledge[] = [];
    let changes = 0;
    const enough = 15 + Math.floor(Math.random() * 60);
    const burst = Array.from({ length: CLIENTS }, () =>
      live(gateway.ask, knowledge, () => changes++).catch((error: unknown) => error),
    );
    await until(() => changes >= enough, `${enough} changes`, 60_000);
    await Promise.all([gateway.kill(), killStore()]);
    for (const ending of await Promise.all(burst))
      t.match(
        String(ending),
        /fetch failed|terminated|other side closed|store_unavailable/,
        'the burst ended by the kill alone',
      );
    gateway = await startProcess(t, store);
    await compare(t, gateway.ask, knowledge);
    t.comment(`killed after ${changes} changes`);
  }
  await gateway.kill();
};

t.test('3 SIGKILL loses no acknowledged change and leaves no half-published policy, in a folder', (t) =>
  killAgainAndAgain(t, { kind: 'embedded', path: folderFor(t) }),
);

t.test('3 SIGKILL of gateway and Redis together loses no acknowledged change', async (t) => {
  const redis = await startRedis({ appendfsync: 'always' });
  t.teardown(() => redis.stop());
  const store = { kind: 'redis' as const, redis: { url: redis.url, command_timeout: '5s' } };
  await killAgainAndAgain(t, store, () => redis.restart());
});
