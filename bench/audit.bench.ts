import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AuditFacts } from '../src/core/audit.js';
import { openAudit } from '../src/rules/audit/open-audit.js';
import { writeBody } from '../src/rules/audit/event.js';
import type { Durability } from '../src/rules/audit/spool-file.js';
import type { SinkStatus } from '../src/rules/audit/status.js';
import { facts, sinkOf } from '../test/rules/audit/desk.js';

const EVENTS = 100_000;
const AT_ONCE = 512;
const SINKS = 5;

const sample = (n: number): AuditFacts =>
  facts({
    project_id: 'proj_01J0000000000000000000000',
    key_id: 'key_01J00000000000000000000000',
    request_id: `req_01J000000000000000000${n}`,
    endpoint: '/v1/messages',
    model: 'claude-sonnet',
    user_id: 'user-1234',
    direction: 'request',
    rollout_mode: 'enforced',
    reason_code: 'allowed',
    latency_ms: 812.4,
    usage: { input_tokens: 1_200, output_tokens: 300 },
  });

const open = (path: string, durability: Durability, onSinkStatus?: (status: SinkStatus) => void) =>
  openAudit({
    worker: new URL('../test/rules/audit/worker.js', import.meta.url),
    senders: null,
    path,
    durability,
    maxBytes: 1e10,
    minFreeBytes: 0,
    retentionMs: 1e9,
    ...(onSinkStatus && { onSinkStatus }),
  });

const TICKS_PER_SECOND = 100;

/** CPU time of the main thread alone, where the system tells of it; else of the whole process, its worker included. */
const mainCpuMs = (): number => {
  try {
    const stat = readFileSync(`/proc/self/task/${process.pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS_PER_SECOND;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  }
};

const recordAll = async (record: (given: AuditFacts) => Promise<void>): Promise<void> => {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < EVENTS) await record(sample(next++));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
};

const inFolder = async (act: (folder: string) => Promise<void>): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-audit-'));
  try {
    await act(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const measure = (durability: Durability): Promise<void> =>
  inFolder(async (folder) => {
    const audit = await open(join(folder, 'spool'), durability);
    const [startMs, startCpuMs] = [performance.now(), mainCpuMs()];
    await recordAll((given) => (durability === 'async' ? audit.confirm(given) : audit.record(given)));
    const perSecond = Math.round((1_000 * EVENTS) / (performance.now() - startMs));
    const perEventUs = (1_000 * (mainCpuMs() - startCpuMs)) / EVENTS;
    await audit.close(0);
    console.log(
      `${durability.padEnd(8)} ${perEventUs.toFixed(1)} us of the main thread per event, ${perSecond} events/s written`,
    );
  });

/** A backlog of events, to sinks that take everything at once. */
const deliver = (): Promise<void> =>
  inFolder(async (folder) => {
    const delivered = new Map<string, SinkStatus>();
    const audit = await open(join(folder, 'spool'), 'process', (status) =>
      delivered.set(status.sinkId, status),
    );
    const specs = Array.from({ length: SINKS }, (_, n) => sinkOf(`sink_${n}`, { type: 'null' }));
    audit.setSinks(specs);
    await audit.confirm(sample(0));
    audit.setSinks(specs.map((spec) => ({ ...spec, enabled: false })));
    await recordAll((given) => audit.record(given));
    const startMs = performance.now();
    audit.setSinks(specs);
    await audit.close(60_000);
    const seconds = (performance.now() - startMs) / 1_000;
    const left = [...delivered.values()].reduce((sum, { queued }) => sum + queued, 0);
    const rate = Math.round((SINKS * EVENTS - left) / seconds);
    console.log(`delivery ${rate} events/s in all to ${SINKS} sinks that only count, ${left} left`);
  });

const measureWriting = (): void => {
  const given = sample(1);
  let length = 0;
  const startMs = mainCpuMs();
  for (let n = 0; n < EVENTS; n++) length += writeBody(given).length;
  const us = (1_000 * (mainCpuMs() - startMs)) / EVENTS;
  console.log(`writing  ${us.toFixed(1)} us per event of ${Math.round(length / EVENTS)} characters`);
};

export const run = async (): Promise<void> => {
  measureWriting();
  for (const durability of ['async', 'process', 'disk'] as const) await measure(durability);
  await deliver();
};
