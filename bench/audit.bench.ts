import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AuditFacts } from '../src/core/audit.js';
import type { SinkSpec } from '../src/core/sink.js';
import type { Audit, AuditOptions } from '../src/rules/audit/audit.js';
import { openAudit } from '../src/rules/audit/open-audit.js';
import { writeBody } from '../src/rules/audit/event.js';
import type { Durability } from '../src/rules/audit/spool-file.js';
import { facts, sinkOf } from '../test/rules/audit/desk.js';
import { loopback } from '../test/support/sinks/batches.js';
import { destinations, type Destination } from '../test/support/sinks/destinations.js';
import { cpuUs, mainCpuUs } from './support/measures.js';

const EVENTS = 100_000;
const AT_ONCE = 512;

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

const open = (path: string, durability: Durability, more: Partial<AuditOptions> = {}): Promise<Audit> =>
  openAudit({
    worker: new URL('../test/rules/audit/worker.js', import.meta.url),
    senders: null,
    path,
    durability,
    maxBytes: 1e10,
    minFreeBytes: 0,
    retentionMs: 1e9,
    ...more,
  });

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
    const [startMs, startCpuUs] = [performance.now(), mainCpuUs()];
    await recordAll((given) => (durability === 'async' ? audit.confirm(given) : audit.record(given)));
    const perSecond = Math.round((1_000 * EVENTS) / (performance.now() - startMs));
    const perEventUs = (mainCpuUs() - startCpuUs) / EVENTS;
    await audit.close(0);
    console.log(
      `${durability.padEnd(8)} ${perEventUs.toFixed(1)} us of the main thread per event, ${perSecond} events/s written`,
    );
  });

/** What the thread that delivers takes, and its helpers. */
const besideMainUs = (): number => cpuUs() - mainCpuUs();

/** Written while the sinks rest, so that nothing but delivery is measured. */
const fill = async (audit: Audit, specs: readonly SinkSpec[]): Promise<void> => {
  audit.setSinks(specs);
  await audit.confirm(sample(0));
  audit.setSinks(specs.map((spec) => ({ ...spec, enabled: false })));
  await recordAll((given) => audit.record(given));
};

/** A backlog to one destination that speaks its protocol, in this process; the thread that delivers has a core of its own. */
const deliverTo = (name: string, start: () => Promise<Destination>): Promise<void> =>
  inFolder(async (folder) => {
    const { type, config, server } = await start();
    let queued = EVENTS;
    const audit = await open(join(folder, 'spool'), 'process', {
      worker: new URL('../src/audit-worker.js', import.meta.url),
      senders: { rules: loopback },
      onSinkStatus: (status) => (queued = status.queued),
    });
    const specs = [sinkOf('sink_1', { type, config })];
    await fill(audit, specs);
    const [startMs, startCpuUs] = [performance.now(), besideMainUs()];
    audit.setSinks(specs);
    await audit.close(60_000);
    const seconds = (performance.now() - startMs) / 1_000;
    const perEventUs = (besideMainUs() - startCpuUs) / (EVENTS - queued);
    await server.close();
    const rate = Math.round((EVENTS - queued) / seconds);
    console.log(
      `${name.padEnd(16)} ${rate} events/s delivered, ${perEventUs.toFixed(1)} us beside the main thread per event, ${queued} left`,
    );
  });

const measureWriting = (): void => {
  const given = sample(1);
  let length = 0;
  const startUs = mainCpuUs();
  for (let n = 0; n < EVENTS; n++) length += writeBody(given).length;
  const us = (mainCpuUs() - startUs) / EVENTS;
  console.log(`writing  ${us.toFixed(1)} us per event of ${Math.round(length / EVENTS)} characters`);
};

export const run = async (): Promise<void> => {
  measureWriting();
  for (const durability of ['async', 'process', 'disk'] as const) await measure(durability);
  for (const [name, start] of Object.entries(destinations)) await deliverTo(name, start);
};
