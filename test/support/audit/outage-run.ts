import { readFileSync } from 'node:fs';
import type { Test } from 'tap';
import { checkArrivals, gather, startTargets, verifyChain, type Target } from './arrivals.js';
import {
  auditConfig,
  createExport,
  folderFor,
  startGatewayProcess,
  type GatewayProcess,
} from './gateway-process.js';
import { pace, Traffic } from './traffic.js';

export interface OutageRun {
  readonly perSecond: number;
  readonly warmUpMs: number;
  /** How long each measured stretch is, with the destination up or down in turn. */
  readonly sliceMs: number;
  readonly rounds: number;
  /** How long it is down at last, in one piece. */
  readonly outageMs: number;
}

/** CPU time of the thread that serves requests, in milliseconds; the thread that delivers has its own. */
const mainCpuMs = ({ pid }: GatewayProcess): number =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;

const rssMb = ({ pid }: GatewayProcess): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1_024;

const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)]!;
};

const MOST_AT_ONCE = 50;
const RSS_LOOKS = 40;
const LOOK_MS = 500;

/** One destination fails for a long time under load: that costs the requests nothing, no memory, and no event. */
export const surviveOutage = async (t: Test, run: OutageRun): Promise<void> => {
  const folder = folderFor(t);
  const targets = (await startTargets(t)).filter(({ name }) => ['datadog', 'elastic'].includes(name));
  const [down, up] = targets as [Target, Target];
  const gateway = await startGatewayProcess(t, folder, auditConfig(folder));
  const { id } = await createExport(gateway, down);
  await createExport(gateway, up);
  const traffic = new Traffic();
  t.teardown(() => traffic.close());
  const load = (isOver: () => boolean): Promise<void> =>
    pace(run.perSecond, MOST_AT_ONCE, () => traffic.send(gateway.url), isOver);
  const loadFor = (durationMs: number): Promise<void> => {
    const untilMs = Date.now() + durationMs;
    return load(() => Date.now() >= untilMs);
  };
  const queued = (): Promise<number> => gateway.metric('sluice_sink_queued_events', { sink: id });
  const fail = (): void => down.server.failAs(() => ({ kind: 'status', status: 503 }));
  const heal = async (): Promise<void> => {
    down.server.failAs(null);
    await load(becomes(async () => (await queued()) <= run.perSecond * 3));
  };
  /** CPU per request over one stretch, in microseconds. */
  const measure = async (): Promise<number> => {
    const [cpuMs, replies] = [mainCpuMs(gateway), traffic.seen.size];
    await loadFor(run.sliceMs);
    return (1_000 * (mainCpuMs(gateway) - cpuMs)) / (traffic.seen.size - replies);
  };

  await loadFor(run.warmUpMs);
  const ups = [await measure()];
  const downs: number[] = [];
  for (let round = 0; round < run.rounds; round++) {
    fail();
    downs.push(await measure());
    await heal();
    ups.push(await measure());
  }
  const ratios = downs.map((cost, n) => cost / ((ups[n]! + ups[n + 1]!) / 2));
  const shown = (values: readonly number[]): string => values.map((value) => value.toFixed(0)).join(' ');
  t.comment(`CPU per request, microseconds: up ${shown(ups)}, down ${shown(downs)}`);
  t.ok(
    median(ratios) <= 1.05,
    `with the destination down a request costs ${median(ratios).toFixed(3)} of before`,
  );

  fail();
  const sizes: number[] = [];
  for (let look = 0; look < RSS_LOOKS; look++) {
    await loadFor(run.outageMs / RSS_LOOKS);
    sizes.push(rssMb(gateway));
  }
  const quarter = RSS_LOOKS / 4;
  const [before, after] = [median(sizes.slice(quarter, 2 * quarter)), median(sizes.slice(-quarter))];
  t.comment(`${await queued()} events wait; RSS ${before.toFixed(0)} MB, at the end ${after.toFixed(0)} MB`);
  t.ok(after <= before * 1.1 + 10, 'memory stays flat');

  down.server.failAs(null);
  const promised = new Set(traffic.seen.keys());
  const backMs = Date.now();
  t.ok(await gather(targets, promised, 5 * 60_000), 'everything arrives');
  t.comment(
    `${promised.size} events were there ${((Date.now() - backMs) / 1_000).toFixed(1)} s after its return`,
  );
  t.equal(await gateway.stop(), 0);
  for (const target of targets) checkArrivals(t, target, promised);
  for (const target of targets) await verifyChain(t, folder, target);
};

/** Becomes true once the condition has held; asked now and then, so that asking costs little. */
const becomes = (condition: () => Promise<boolean>): (() => boolean) => {
  let holds = false;
  const look = async (): Promise<void> => {
    while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    holds = true;
  };
  void look();
  return () => holds;
};
