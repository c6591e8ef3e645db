import type { Test } from 'tap';
import { until } from '../gateway.js';
import {
  checkArrivals,
  deduplicating,
  failAtRandom,
  failNoMore,
  gather,
  seeded,
  startTargets,
  verifyChain,
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
  const [store, ...others] = [...targets].sort(({ type }) => (type === 's3' ? -1 : 1));
  await gather(others, promised, run.deliverMs);
  // The store is sent to once a minute, but a shutdown does not wait for that; one that failed just now is tried by the next start.
  t.equal(await gateway.stop(), 0, 'the gateway ends in peace');
  if (!(await gather([store!], promised, 0))) await (await startGatewayProcess(t, folder, config)).stop();

  for (const target of targets) checkArrivals(t, target, promised);
  for (const target of targets) if (deduplicating.has(target.type)) await verifyChain(t, folder, target);
  t.ok(
    [200, 400, 502].every((status) => [...seen.values()].includes(status)),
    'replies of every kind were among them',
  );
};
