import type { Test } from 'tap';
import { until } from '../gateway.js';
import {
  checkArrivals,
  failAtRandom,
  failNoMore,
  linesOf,
  seeded,
  startTargets,
  verifyChain,
  type Target,
} from './arrivals.js';
import { auditConfig, createExport, folderFor, startGatewayProcess } from './gateway-process.js';
import { pace, Traffic } from './traffic.js';

export interface KillRun {
  readonly requests: number;
  readonly perSecond: number;
  readonly kills: number;
  /** Of all requests to the destinations. */
  readonly failing: number;
  readonly deliverMs: number;
}

const MOST_AT_ONCE = 100;

/** Waits until a destination has everything that clients saw. Looks only when more has come: looking takes long. */
const gather = async (target: Target, promised: ReadonlySet<string>, withinMs: number): Promise<void> => {
  let known = -1;
  const missing = new Set(promised);
  const look = (): boolean => {
    const events = target.events();
    for (const { request_id } of events.slice(Math.max(0, known))) missing.delete(String(request_id));
    known = events.length;
    return missing.size === 0;
  };
  await until(look, `${target.name} has everything`, withinMs).catch(() => undefined);
};

const sorted = (target: Target) => [...target.events()].sort((a, b) => Number(a['seq']) - Number(b['seq']));

/** Requests go on while destinations fail at random and the gateway is killed again and again. */
export const surviveKills = async (t: Test, run: KillRun): Promise<void> => {
  const seed = Date.now() % 1_000_000;
  t.comment(`seed ${seed}`);
  const random = seeded(seed);
  const folder = folderFor(t);
  const targets = await startTargets(t);
  const traffic = new Traffic();
  t.teardown(() => traffic.close());
  const config = auditConfig(folder);
  let gateway = await startGatewayProcess(t, folder, config);
  for (const target of targets) await createExport(gateway, target);

  failAtRandom(targets, run.failing, random);
  const { seen } = traffic;
  const startedMs = Date.now();
  for (let round = 0; round <= run.kills; round++) {
    // The last stretch is not cut short; the others end at some point near their share.
    const share = (round + (round < run.kills ? 0.5 + random() / 2 : 1)) / (run.kills + 1);
    const enough = Math.ceil(run.requests * share);
    const going = pace(
      run.perSecond,
      MOST_AT_ONCE,
      () => traffic.send(gateway.url),
      () => seen.size >= enough,
    );
    if (round === run.kills) {
      await going;
      break;
    }
    await until(() => seen.size >= enough, `${enough} replies`, 600_000);
    await gateway.kill();
    await going;
    gateway = await startGatewayProcess(t, folder, config);
  }
  const seconds = (Date.now() - startedMs) / 1_000;
  t.comment(`${seen.size} replies in ${seconds.toFixed(1)} s, killed ${run.kills} times`);

  failNoMore(targets);
  const promised = new Set(seen.keys());
  const quick = targets.filter(({ type }) => type !== 's3');
  await Promise.all(quick.map((target) => gather(target, promised, run.deliverMs)));
  // The store is sent to once a minute; a shutdown does not wait for that.
  const code = await gateway.stop();
  t.equal(code, 0, 'the gateway ends in peace');

  for (const target of targets) checkArrivals(t, target, promised);
  for (const target of targets.filter(({ type }) => type === 's3' || type === 'elastic'))
    await verifyChain(t, folder, target.name, [linesOf(sorted(target))]);
  t.ok(
    [200, 400, 502].every((status) => [...seen.values()].includes(status)),
    'replies of every kind were among them',
  );
};
