import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { SinkSpec } from '../../../src/core/sink.js';
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
import { folderFor, ORGANIZATION } from './gateway-process.js';
import type { SeamOrder } from './seam-child.js';

export interface SeamRun {
  readonly events: number;
  readonly perSecond: number;
  readonly kills: number;
  readonly failing: number;
  readonly drainMs: number;
}

/** Events go straight into the trail while destinations fail at random and its process is killed again and again. */
export const surviveInjection = async (t: Test, run: SeamRun): Promise<void> => {
  const seed = Date.now() % 1_000_000;
  t.comment(`seed ${seed}`);
  const random = seeded(seed);
  const folder = folderFor(t);
  const targets = await startTargets(t);
  const specs = targets.map(({ name, type, config }): SinkSpec => ({
    id: `exp_${name}`,
    organizationId: ORGANIZATION,
    type,
    enabled: true,
    config,
  }));
  failAtRandom(targets, run.failing, random);

  const promised = new Set<string>();
  const start = (events: number, prefix: string) => {
    const child = fork(new URL('./seam-child.js', import.meta.url));
    t.teardown(() => void child.kill('SIGKILL'));
    child.on('message', (ids) => {
      for (const id of ids as readonly string[]) promised.add(id);
    });
    const { perSecond, drainMs } = run;
    const order: SeamOrder = { path: join(folder, 'audit'), specs, events, perSecond, drainMs, prefix };
    child.send(order);
    return { child, ended: once(child, 'exit') };
  };

  const startedMs = Date.now();
  for (let round = 0; round < run.kills; round++) {
    const enough = Math.ceil((run.events * (round + 0.5 + random() / 2)) / (run.kills + 1));
    const { child, ended } = start(run.events, `round${round}`);
    await until(() => promised.size >= enough, `${enough} safe events`, 600_000);
    child.kill('SIGKILL');
    await ended;
  }
  const last = start(Math.max(1, run.events - promised.size), 'last');
  await until(() => promised.size >= run.events, 'the last safe event', 600_000);
  const seconds = (Date.now() - startedMs) / 1_000;
  t.comment(`${promised.size} events in ${seconds.toFixed(1)} s, killed ${run.kills} times`);
  failNoMore(targets);
  t.strictSame(await last.ended, [0, null], 'the trail is closed in peace');
  // A destination that failed just before is left alone by a shutdown, and tried by the next start.
  if (!(await gather(targets, promised, 0))) await start(0, 'none').ended;
  t.comment(`delivered ${((Date.now() - startedMs) / 1_000).toFixed(1)} s after the start`);

  for (const target of targets) checkArrivals(t, target, promised);
  for (const target of targets) if (deduplicating.has(target.type)) await verifyChain(t, folder, target);
};
