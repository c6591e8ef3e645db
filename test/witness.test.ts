import t from 'tap';
import { systemClock } from '../src/core/clock.js';
import { freshMeter, type Lease } from '../src/core/exchange.js';
import { silentLog } from '../src/core/log.js';
import { noUsage } from '../src/core/usage.js';
import { createMetrics } from '../src/io/metrics/metrics.js';
import { readConfig } from '../src/rules/policy-gateway/config.js';
import type { Trip } from '../src/trip.js';
import { createWitness, type WitnessParts } from '../src/witness.js';

const spent = { usage: noUsage, costUsd: 0, credits: 0 };
const lease: Lease = { headers: {}, settle: async () => ({ remainingCredits: 7 }) };
const trip = {
  requestId: 'req_1',
  receivedMs: 0,
  meter: freshMeter(),
  route: null,
  policy: { user: null, project: null, target: null },
  caller: { principal: { organization: { id: 'org_a' }, projectId: null, keyId: 'key_1' } },
  failure: null,
} as unknown as Trip;

for (const auditLogs of [true, false])
  t.test(`D28 an event that cannot be recorded [audit_logs ${String(auditLogs)}]`, async (t) => {
    const metrics = createMetrics({ version: '0' });
    t.teardown(() => metrics.close());
    const witness = createWitness({
      recorder: { open: true, record: () => Promise.reject(new Error('The disk is full.')) },
      spikes: {} as WitnessParts['spikes'],
      configOf: () => readConfig({ org_controls: { audit_logs: auditLogs } }),
      show: 'when_acted',
      events: 'all',
      metrics: metrics.policing,
      clock: systemClock,
      log: silentLog,
    });
    const settled = witness.attend(lease, trip).settle(spent);
    if (auditLogs)
      await t.rejects(settled, { code: 'audit_unavailable', status: 503 }, 'keeps the answer back');
    else t.same(await settled, { remainingCredits: 7 }, 'costs nobody an answer');
  });
