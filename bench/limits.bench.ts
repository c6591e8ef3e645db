import { Redis } from 'ioredis';
import type { Clock } from '../src/core/clock.js';
import { openEmbeddedLimiter } from '../src/rules/limits/embedded.js';
import type { AdmitRequest, Limiter, Limits } from '../src/rules/limits/limiter.js';
import { openRedisLimiter } from '../src/rules/limits/redis.js';
import { startRedis } from '../test/support/redis.js';
import { cpuUs as nodeCpuUs, median } from './support/measures.js';

const ROUNDS = 24;
const BATCH = 512;
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

const settle = (limiter: Limiter, { leaseId, space, organizationId, scopes, quotas }: AdmitRequest) =>
  limiter.settle({ leaseId, space, organizationId, scopes, quotas, tokens: 1_200, credits: 3 });

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
  { inFlight: 4, orgs: 250, keys: 1_000 },
  { inFlight: 4, orgs: 250, keys: 100_000 },
];

/** Admits `inFlight` leases in each organization, spread over all keys; gives batches of further requests. */
const furnish = async (limiter: Limiter, { inFlight, orgs, keys }: Shape) => {
  const perOrg = keys / orgs;
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
  return (size: number): AdmitRequest[] =>
    Array.from({ length: size }, () => {
      const org = turn % orgs;
      return requestOf(org, keyOf(org, Math.floor(turn++ / orgs) * 7919));
    });
};

/** CPU of the main thread of Redis during `act`, less what asking for it costs. */
const meterOf = async (client: Redis) => {
  const spent = async (act: () => Promise<void>): Promise<number> => {
    const before = await cpuUs(client);
    await act();
    return (await cpuUs(client)) - before;
  };
  const asking: number[] = [];
  for (let n = 0; n < 50; n++) asking.push(await spent(() => Promise.resolve()));
  return async (act: () => Promise<void>): Promise<number> => (await spent(act)) - median(asking);
};

interface Bed {
  readonly limiter: Limiter;
  readonly client: Redis;
  readonly clock: BatchClock;
}

const withRedis = async (measure: (bed: Bed) => Promise<void>): Promise<void> => {
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
    await measure({ limiter, client, clock });
  } finally {
    client.disconnect();
    await limiter.close();
    await server.stop();
  }
};

const nameOf = ({ inFlight, orgs, keys }: Shape): string =>
  `${inFlight} in flight in each of ${orgs} organizations, ${keys} keys`;

const measureRedis = (shape: Shape): Promise<void> =>
  withRedis(async ({ limiter, client, clock }) => {
    const emptyMemory = await infoNumber(client, 'memory', ['used_memory']);
    const batch = await furnish(limiter, shape);
    const bytes = (await infoNumber(client, 'memory', ['used_memory'])) - emptyMemory;
    const sha = (await client.script('LOAD', 'return 1')) as string;
    const during = await meterOf(client);
    const rounds: { empty: number; admit: number; settle: number; node: number }[] = [];
    // A batch is admitted before it is settled, so in few organizations it adds to those in flight.
    for (let round = 0; round < ROUNDS; round++) {
      const requests = batch(BATCH);
      clock.advance();
      const empty = await during(() => inParallel(requests, () => client.evalsha(sha, 0)));
      const nodeBefore = nodeCpuUs();
      const admit = await during(() => inParallel(requests, (request) => limiter.admit(request)));
      const settled = await during(() => inParallel(requests, (request) => settle(limiter, request)));
      rounds.push({ empty, admit, settle: settled, node: nodeCpuUs() - nodeBefore });
    }
    const of = (name: 'empty' | 'admit' | 'settle' | 'node'): number =>
      median(rounds.slice(2).map((round) => round[name])) / BATCH;
    const [empty, admit, settled] = [of('empty'), of('admit'), of('settle')];
    console.log(
      `redis, ${nameOf(shape)}: empty EVALSHA ${empty.toFixed(1)} us; ` +
        `admit ${admit.toFixed(1)} us (${(admit / empty).toFixed(1)} x), settle ${settled.toFixed(1)} us (${(settled / empty).toFixed(1)} x); ` +
        `Node ${of('node').toFixed(0)} us per pair${shape.keys < 1_000 ? '' : `; ${(bytes / shape.keys).toFixed(0)} bytes per key in all`}`,
    );
  });

/** A refusal by tokens also sums what is reserved: what that costs beside one by requests. */
const measureRefusals = (inFlight: number): Promise<void> =>
  withRedis(async ({ limiter, client, clock }) => {
    const batch = await furnish(limiter, { inFlight, orgs: 1, keys: 1 });
    const during = await meterOf(client);
    const refusedBy = async (metric: 'rpm' | 'tpm'): Promise<number> => {
      const scopes = scopesOf(0, 0).map((scope) => ({ ...scope, limits: { ...scope.limits, [metric]: 0 } }));
      const costs: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        clock.advance();
        const some = batch(AT_ONCE).map((request) => ({ ...request, scopes, countRefused: 'none' as const }));
        costs.push((await during(() => inParallel(some, (request) => limiter.admit(request)))) / AT_ONCE);
      }
      return median(costs);
    };
    const [requests, tokens] = [await refusedBy('rpm'), await refusedBy('tpm')];
    console.log(
      `redis, refused with ${inFlight} in flight: by requests ${requests.toFixed(1)} us, by tokens ${tokens.toFixed(1)} us`,
    );
  });

/** What a pair costs that does nothing: two calls, awaited. */
const measureEmpty = async (requests: readonly AdmitRequest[]): Promise<number> => {
  const nothing = async (request: AdmitRequest): Promise<AdmitRequest> => request;
  const before = nodeCpuUs();
  for (const request of requests) {
    await nothing(request);
    await nothing(request);
  }
  return (nodeCpuUs() - before) / requests.length;
};

const measureEmbedded = async (shape: Shape): Promise<void> => {
  known.clear();
  const clock = new BatchClock();
  const limiter = await openEmbeddedLimiter({ folder: null, clock, maxScopes: 1e6 });
  const batch = await furnish(limiter, shape);
  const [pairs, empties]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    clock.advance();
    const requests = batch(2_000);
    empties.push(await measureEmpty(requests));
    const before = nodeCpuUs();
    for (const request of requests) {
      await limiter.admit(request);
      await settle(limiter, request);
    }
    pairs.push((nodeCpuUs() - before) / requests.length);
  }
  const [pair, empty] = [median(pairs), median(empties)];
  console.log(
    `embedded, ${nameOf(shape)}: ${pair.toFixed(1)} us per pair, least ${Math.min(...pairs).toFixed(1)}; ` +
      `an empty pair ${empty.toFixed(2)} us (${(pair / empty).toFixed(1)} x)`,
  );
  await limiter.close();
};

/** CPU of one admission and one settlement: in Redis against an empty EVALSHA of the same run, in Node, and embedded. */
export const run = async (): Promise<void> => {
  for (const shape of shapes) await measureEmbedded(shape);
  for (const shape of shapes) await measureRedis(shape);
  for (const inFlight of [4, 64, 256]) await measureRefusals(inFlight);
};
