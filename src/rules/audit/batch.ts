import { hash } from 'node:crypto';
import type { Batch, BatchItem, SinkSpec } from '../../core/sink.js';

/** The batch of these events; the same events always make the same batch. */
export function makeBatch(
  { organizationId }: Pick<SinkSpec, 'organizationId'>,
  { instanceId }: { readonly instanceId: string },
  events: readonly BatchItem[],
): Batch {
  const [firstSeq, lastSeq] = [events[0]!.seq, events.at(-1)!.seq];
  const ids = hash('sha256', events.map(({ eventId }) => eventId).join());
  return {
    id: `${instanceId}-${firstSeq}-${lastSeq}-${ids.slice(0, 8)}`,
    organizationId,
    instanceId,
    events,
    firstSeq,
    lastSeq,
    createdAt: /"created_at":"([^"]+)"/.exec(events[0]!.json)?.[1] ?? '',
  };
}
