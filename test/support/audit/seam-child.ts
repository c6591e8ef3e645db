import { openAudit } from '../../../src/rules/audit/open-audit.js';
import type { SinkSpec } from '../../../src/core/sink.js';
import { facts } from '../../rules/audit/desk.js';
import { loopback } from '../sinks/batches.js';
import { pace } from './traffic.js';

/** What the parent wants of it. */
export interface SeamOrder {
  readonly path: string;
  readonly specs: readonly SinkSpec[];
  readonly events: number;
  readonly perSecond: number;
  readonly drainMs: number;
  /** In front of every request id. */
  readonly prefix: string;
}

const TELL_MS = 10;

/** Records events through the real worker and tells its parent which are safe, until it has done or is killed. */
const serve = async ({ path, specs, events, perSecond, drainMs, prefix }: SeamOrder): Promise<void> => {
  const audit = await openAudit({
    worker: new URL('../../../src/audit-worker.js', import.meta.url),
    senders: { rules: loopback },
    path,
    durability: 'process',
    maxBytes: 1e10,
    minFreeBytes: 0,
    retentionMs: 1e9,
  });
  audit.setSinks(specs);
  let next = 0;
  let safe: string[] = [];
  const tell = (): void => {
    if (safe.length > 0) process.send!(safe);
    safe = [];
  };
  const timer = setInterval(tell, TELL_MS);
  await pace(
    perSecond,
    perSecond,
    async () => {
      const id = `${prefix}-${next++}`;
      await audit.record(facts({ org_id: specs[0]!.organizationId, request_id: id, model: 'sim-small' }));
      safe.push(id);
    },
    () => next >= events,
  );
  clearInterval(timer);
  tell();
  await audit.close(drainMs);
  process.disconnect();
};

process.once('message', (order) => void serve(order as SeamOrder));
