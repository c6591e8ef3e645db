import { Redis } from 'ioredis';
import type { Clock } from '../src/core/clock.js';
import { openEmbeddedLimiter } from '../src/rules/limits/embedded.js';
import type { AdmitRequest, Limiter, Limits } from '../src/rules/limits/limiter.js';
import { openRedisLimiter } from '../src/rules/limits/redis.js';
import { startRedis } from '../test/support/redis.js';

const ROUNDS = 24;
const BATCH = 256;
const AT_ONCE = 64;
const limits: Limits = { rpm: 1e9, rpd: 1e9, tpm: 1e12, tpd: 1e12, concurrent: 1e6 };

/** Moves 100 ms per batch, so that cells close and leave as under real load. */
class BatchClock implements Clock {
  #ms = Date.UTC(2031, 0, 31, 12);
  nowMs = (): number => this.#ms;
  ticksMs = (): number => this.#ms;
  advance(): void {
    this.#ms += 100;
  }
}

let leases = 0;

/** As the gate keeps them: one array per key. */
const known = new Map<number, AdmitRequest['scopes']>();
const scopesOf = (org: number, key: number): AdmitRequest['scopes'] => {
  const scopes = known.get(key) ?? [
    { kind: 'organization', id: `org_${org}`, limits },
    { kind: 'project', id: `proj_${org}`, limits },
    { kind: 'key', id: `key_01J0000000000000000000${key}`, limits },
  ];
  known.set(key, scopes);
  return scopes;
};

const requestOf = (org: number, key: number): AdmitRequest => ({
  space: 'inference',
  organizationId: `org_${org}`,
  scopes: scopesOf(org, key),
  quotas: [],
  leaseId: `lease_01J00000000000000${leases++}`,
  takesLease: true,
  tokens: 5_000,
  credits: { hold: 10, keyBudget: null },
  countRefused: 'key',
  enforce: true,
});

const inParallel = async <T>(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> => {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < items.length) await act(items[next++]!);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
};

const inTurn = async (times: number, act: () => Promise<number>): Promise<number[]> => {
  const results: number[] = [];
  for (let n = 0; n < times; n++) results.push(await act());
  return results;
};

const settle = (limiter: Limiter, { leaseId, space, organizationId, scopes, quotas }: AdmitRequest) =>
  limiter.settle({ leaseId, space, organizationId, scopes, quotas, tokens: 1_200, credits: 3 });

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]!;

const infoNumber = async (client: Redis, section: string, names: readonly string[]): Promise<number> => {
  const info = await client.info(section);
  return names.reduce((sum, name) => sum + Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1]), 0);
};

const cpuUs = async (client: Redis): Promise<number> =>
  1e6 * (await infoNumber(client, 'cpu', ['used_cpu_sys_main_thread', 'used_cpu_user_main_thread']));

interface Shape {
  readonly inFlight: number;
  readonly orgs: number;
  readonly keys: number;
}

const shapes: readonly Shape[] = [
  { inFlight: 4, orgs: 256, keys: 256 },
  { inFlight: 64, orgs: 256, keys: 256 },
  { inFlight: 1_000, orgs: 16, keys: 16 },
  { inFlight: 5_000, orgs: 4, keys: 4 },
  { inFlight: 4, orgs: 1, keys: 1 },
  { inFlight: 4, orgs: 256, keys: 1_000 },
  { inFlight: 4, orgs: 256, keys: 100_000 },
];

const nodeCpuUs = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

/** Admits `inFlight` leases in each organization, spread over all keys, and gives one batch of further requests each time. */
const furnish = async (limiter: Limiter, { inFlight, orgs, keys }: Shape) => {
  const perOrg = Math.max(1, Math.floor(keys / orgs));
  const keyOf = (org: number, n: number): number => org * perOrg + (n % perOrg);
  for (let org = 0; org < orgs; org++) await limiter.credits.setBalance(`org_${org}`, 1e12);
  const first = Array.from({ length: orgs * perOrg }, (_, n) =>
    requestOf(n % orgs, keyOf(n % orgs, Math.floor(n / orgs))),
  );
  await inParallel(first, async (request) => {
    await limiter.admit(request);
    await settle(limiter, request);
  });
  const held = Array.from({ length: orgs * inFlight }, (_, n) => requestOf(n % orgs, keyOf(n % orgs, n)));
  await inParallel(held, (request) => limiter.admit(request));
  let turn = 0;
  return {
    held,
    batch: (size: number): AdmitRequest[] =>
      Array.from({ length: size }, () => {
        const org = turn % orgs;
        return requestOf(org, keyOf(org, Math.floor(turn++ / orgs) * 7919));
      }),
  };
};

const measureRedis = async (shape: Shape): Promise<void> => {
  known.clear();
  const server = await startRedis();
  const clock = new BatchClock();
  const limiter = await openRedisLimiter({
    url: server.url,
    keyPrefix: 'b:',
    clock,
    commandTimeoutMs: 60_000,
  });
  const client = new Redis(server.port, '127.0.0.1', { protocol: 2 });
  try {
    const emptyMemory = await infoNumber(client, 'memory', ['used_memory']);
    const { batch, held } = await furnish(limiter, shape);
    const bytes = (await infoNumber(client, 'memory', ['used_memory'])) - emptyMemory;
    const sha = (await client.script('LOAD', 'return 1')) as string;
    const spent = async (act: () => Promise<void>): Promise<number> => {
      const before = await cpuUs(client);
      await act();
      return (await cpuUs(client)) - before;
    };
    // Asking costs something too, which matters where little is done between two questions.
    const asking = median(await inTurn(50, () => spent(() => Promise.resolve())));
    const during = async (act: () => Promise<void>): Promise<number> => ((await spent(act)) - asking) / BATCH;
    const rounds: { empty: number; admit: number; settle: number; node: number }[] = [];
    // In one organization a batch would itself be the load: there, a pair at a time.
    const size = shape.orgs === 1 ? 4 : BATCH;
    for (let round = 0; round < ROUNDS; round++) {
      const requests = Array.from({ length: BATCH / size }, () => batch(size));
      let [empty, admit, settled, node] = [0, 0, 0, 0];
      for (const some of requests) {
        clock.advance();
        empty += await during(() => inParallel(some, () => client.evalsha(sha, 0)));
        const nodeBefore = nodeCpuUs();
        admit += await during(() => inParallel(some, (request) => limiter.admit(request)));
        settled += await during(() => inParallel(some, (request) => settle(limiter, request)));
        node += (nodeCpuUs() - nodeBefore) / BATCH;
        if (size < BATCH && clock.nowMs() % 10_000 < 100) await renewAll(limiter, held);
      }
      rounds.push({ empty, admit, settle: settled, node });
    }
    const of = (name: 'empty' | 'admit' | 'settle' | 'node'): number =>
      median(rounds.slice(2).map((round) => round[name]));
    const { inFlight, orgs, keys } = shape;
    const [empty, admit, settled] = [of('empty'), of('admit'), of('settle')];
    console.log(
      `redis, ${inFlight} in flight in each of ${orgs} organizations, ${keys} keys: empty EVALSHA ${empty.toFixed(1)} us; ` +
        `admit ${admit.toFixed(1)} us (${(admit / empty).toFixed(1)} x), settle ${settled.toFixed(1)} us (${(settled / empty).toFixed(1)} x); ` +
        `Node ${of('node').toFixed(0)} us per pair${keys < 1_000 ? '' : `; ${(bytes / keys).toFixed(0)} bytes per key in all`}`,
    );
  } finally {
    client.disconnect();
    await limiter.close();
    await server.stop();
  }
};

const renewAll = (limiter: Limiter, held: readonly AdmitRequest[]) =>
  limiter.renew(held.map((request) => ({ ...request, tokens: 0, creditsUsed: 0, hold: 10 })));

const measureEmbedded = async (shape: Shape): Promise<void> => {
  known.clear();
  const clock = new BatchClock();
  const limiter = await openEmbeddedLimiter({ folder: null, clock, maxScopes: 1e6 });
  const { batch } = await furnish(limiter, shape);
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    clock.advance();
    const requests = batch(2_000);
    const before = nodeCpuUs();
    for (const request of requests) {
      await limiter.admit(request);
      await settle(limiter, request);
    }
    rounds.push((nodeCpuUs() - before) / requests.length);
  }
  const { inFlight, orgs, keys } = shape;
  console.log(
    `embedded, ${inFlight} in flight in each of ${orgs} organizations, ${keys} keys: ${median(rounds).toFixed(1)} us per pair`,
  );
  await limiter.close();
};

/** CPU of one admission and one settlement: in Redis against an empty EVALSHA of the same run, in Node, and embedded. */
export const run = async (): Promise<void> => {
  for (const shape of shapes) await measureEmbedded(shape);
  for (const shape of shapes) await measureRedis(shape);
};
