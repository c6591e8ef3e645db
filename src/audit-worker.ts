import { parentPort, workerData } from 'node:worker_threads';
import { serveTrail } from './rules/audit/work.js';
import type { WorkerOptions } from './rules/audit/messages.js';
import type { SenderOptions } from './rules/sinks/create-sender.js';

/** What `openAudit` gets as `senders`. */
export type SenderRules = Pick<SenderOptions, 'rules'>;

/** The thread of the audit trail: the spool and its delivery, far from the loop that serves requests. */
const options = workerData as WorkerOptions;
const senders = options.senders as SenderRules;
serveTrail(parentPort!, options, async () => {
  const { createSender } = await import('./rules/sinks/create-sender.js');
  return (spec) => createSender(spec, senders);
});
