import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { sluiceHere } from '../../commands/sluice.js';
import type { Fault, FakeRequest } from '../sinks/fake-server.js';
import { destinations, type Destination } from '../sinks/destinations.js';

export interface Target extends Destination {
  readonly name: string;
}

/** So many events go to a destination at once. */
const largestBatch: Readonly<Record<string, number>> = {
  splunk_hec: 5_000,
  datadog_logs: 1_000,
  elastic: 1_000,
  s3: 20_000,
  azure_monitor: 500,
};
const LOOK_MS = 50;

/** All five, Splunk with and without acknowledgement. */
export const startTargets = async (t: Test): Promise<readonly Target[]> => {
  const targets: Target[] = [];
  for (const [name, start] of Object.entries(destinations)) {
    const target = { ...(await start()), name };
    t.teardown(() => target.server.close());
    targets.push(target);
  }
  return targets;
};

/** The same numbers again for the same seed, so that a failure can be repeated. */
export const seeded = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};

const refusals: readonly Fault[] = [
  { kind: 'status', status: 500 },
  { kind: 'status', status: 503, headers: { 'retry-after': '1' } },
  { kind: 'status', status: 429, headers: { 'retry-after': '0' } },
];
const breaks: readonly Fault[] = [{ kind: 'reset', afterBytes: 0 }, { kind: 'truncate' }, { kind: 'vanish' }];
const tooLarge: Fault = { kind: 'status', status: 413 };
/** Of a batch with so many bytes, halves of halves are still more than one event. */
const LARGE_BYTES = 20_000;

/** This share of all requests fails, each in a way of its own. */
export const failAtRandom = (targets: readonly Target[], share: number, random: () => number): void => {
  const choose = ({ path, body }: FakeRequest): Fault | null => {
    for (const { server } of targets) server.requests.length = 0; // nobody reads them, and they are many
    if (random() >= share) return null;
    // Splunk says but once that a batch is indexed: when that reply is lost, the batch waits for five minutes.
    const faults = path.endsWith('/ack')
      ? refusals
      : [...refusals, ...breaks, ...(body.length > LARGE_BYTES ? [tooLarge] : [])];
    return faults[Math.floor(random() * faults.length)]!;
  };
  for (const { server } of targets) server.failAs(choose);
};

export const failNoMore = (targets: readonly Target[]): void => {
  for (const { server } of targets) server.failAs(null);
};

/** Of numbers in the order of their coming: each once in order, and how often the latest batch came again. */
const readOrder = (seqs: readonly number[], largest: number) => {
  const fresh: number[] = [];
  let repeated = 0;
  /** Where in `fresh` the batch that is sent again has come to. */
  let again = -1;
  for (const seq of seqs) {
    if (again === -1 && seq > (fresh.at(-1) ?? 0)) {
      fresh.push(seq);
      continue;
    }
    if (again === -1) again = fresh.lastIndexOf(seq);
    if (again === -1 || fresh[again] !== seq || fresh.length - again > largest)
      return { fresh, repeated, fault: `seq ${seq} came after seq ${fresh.at(-1) ?? 0}` };
    repeated++;
    again = again + 1 === fresh.length ? -1 : again + 1;
  }
  return { fresh, repeated, fault: again === -1 ? null : 'a batch was repeated only in part' };
};

/** What a destination lacks of what was promised; looks only at what has come since it was asked before. */
const watchMissing = (target: Target, promised: ReadonlySet<string>): (() => number) => {
  const missing = new Set(promised);
  let known = 0;
  return () => {
    const events = target.events();
    for (const { request_id } of events.slice(known)) missing.delete(String(request_id));
    known = events.length;
    return missing.size;
  };
};

/** Waits until these destinations have everything that was promised, or the time is over. */
export const gather = async (
  targets: readonly Target[],
  promised: ReadonlySet<string>,
  withinMs: number,
): Promise<boolean> => {
  const watches = targets.map((target) => watchMissing(target, promised));
  const untilMs = Date.now() + withinMs;
  for (;;) {
    if (watches.every((missing) => missing() === 0)) return true;
    if (Date.now() >= untilMs) return false;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
};

/** Both know an event that they have already: it never comes twice. */
export const deduplicating = new Set(['elastic', 's3']);

/** Everything that was promised has arrived, in order, with nothing but whole batches repeated. */
export const checkArrivals = (t: Test, target: Target, promised: ReadonlySet<string>): void => {
  const { name } = target;
  const events = target.events();
  const arrived = new Set(events.map(({ request_id }) => request_id));
  const missing = [...promised].filter((id) => !arrived.has(id));
  t.same(missing.slice(0, 3), [], `${name}: nothing that a client saw is missing (${missing.length})`);
  t.equal(new Set(events.map(({ instance_id }) => instance_id)).size, 1, `${name}: one instance all along`);
  const { fresh, repeated, fault } = readOrder(
    events.map(({ seq }) => Number(seq)),
    largestBatch[target.type]!,
  );
  t.equal(fault, null, `${name}: in order, repeated only as whole batches`);
  if (deduplicating.has(target.type)) t.equal(repeated, 0, `${name}: nothing came twice`);
  t.comment(`${name}: ${fresh.length} events, ${repeated} of them again, ${missing.length} missing`);
};

/** `sluice audit verify` on what a destination has, as someone would export it: in the order of its numbers. */
export const verifyChain = async (t: Test, folder: string, target: Target): Promise<void> => {
  const events = [...target.events()].sort((a, b) => Number(a['seq']) - Number(b['seq']));
  const file = join(folder, `${target.name}.ndjson`);
  writeFileSync(file, events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  const { code, out, err } = await sluiceHere(['audit', 'verify', file]);
  t.equal(code, 0, `${target.name}: ${out}${err}`);
};
