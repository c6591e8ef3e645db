import type { Clock } from '../../../core/clock.js';
import type { OutboundClient } from '../../../io/outbound/client.js';

/** What befell events on the way out, short of being refused. */
export type Remark =
  | 'late' // too old for the destination to file under their own time
  | 'shrunk'; // too large for it

/** What every sender works with. */
export interface SenderParts {
  readonly clock: Clock;
  readonly connect: (address: string, caPem: string | undefined) => OutboundClient;
  /** Rejects with an OutboundFault when the signal is given. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly remark: (what: Remark, events: number) => void;
}
