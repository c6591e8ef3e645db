import { blankFacts } from '../../core/audit.js';
import type { Clock } from '../../core/clock.js';
import { newId } from '../../core/ids.js';
import type { Outcome, Sender, SinkSpec } from '../../core/sink.js';
import { makeBatch } from './batch.js';
import { GENESIS, seal, writeBody } from './event.js';

const LONGEST_TRY_MS = 60_000;

/** Sends one made-up event, to see what the destination says. It is of no chain: its instance is `test` and its seq 0. */
export async function trySender(createSender: () => Sender, spec: SinkSpec, clock: Clock): Promise<Outcome> {
  const instanceId = 'test';
  const facts = { ...blankFacts('admin', spec.organizationId), reason_code: 'sink_test' };
  const eventId = newId('evt');
  const createdAt = new Date(clock.nowMs()).toISOString();
  const place = { eventId, createdAt, instanceId, seq: 0, prevHash: GENESIS };
  const { json } = seal(writeBody(facts), place);
  const batch = makeBatch(spec, { instanceId }, [{ seq: 0, eventId, json }]);
  const sender = createSender();
  try {
    return await sender.send(batch, AbortSignal.timeout(LONGEST_TRY_MS));
  } catch {
    return { kind: 'retry', reason: 'The destination could not be reached.' };
  } finally {
    await sender.close();
  }
}
