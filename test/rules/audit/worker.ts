import { appendFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import type { Batch, Sender, SinkSpec } from '../../../src/core/sink.js';
import type { WorkerOptions } from '../../../src/rules/audit/messages.js';
import { serveTrail } from '../../../src/rules/audit/work.js';

/** A thread of the audit trail whose destinations are a file, nothing, or the end of the thread. */
const senders = (spec: SinkSpec): Sender => ({
  limits: { count: 50, bytes: 1_000_000, ageMs: 0 },
  send: (batch) => {
    if (spec.type === 'crash') setImmediate(crash);
    if (spec.type === 'file') write(spec, batch);
    if (spec.type === 'held') return Promise.resolve({ kind: 'held', reason: 'HTTP 401' });
    return Promise.resolve({ kind: 'accepted' });
  },
  close: () => Promise.resolve(),
});

const crash = (): never => {
  throw new Error('a fault in a sender');
};

const write = ({ config }: SinkSpec, { events }: Batch): void =>
  appendFileSync(config['file'] as string, events.map(({ json }) => `${json}\n`).join(''));

serveTrail(parentPort!, workerData as WorkerOptions, () => Promise.resolve(senders));
