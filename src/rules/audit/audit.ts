import type { AuditFacts, Recorder } from '../../core/audit.js';
import type { Log } from '../../core/log.js';
import type { Outcome, SinkSpec } from '../../core/sink.js';
import type { HistoryFilter } from './history.js';
import type { Durability } from './spool-file.js';
import type { SinkStatus, TrailStatus } from './status.js';

export interface AuditOptions {
  /** The module of the worker, which joins this room with the senders. */
  readonly worker: URL;
  /** Handed to the worker for its senders; must survive being posted to it. */
  readonly senders: unknown;
  /** The spool's folder; ":memory:" keeps nothing. */
  readonly path: string;
  /**
   * `async`: recorded soon. `process`: before the promise resolves, so that it survives the end of the process.
   * `disk`: fsynced, so that it survives the end of the machine.
   */
  readonly durability: Durability;
  readonly maxBytes: number;
  readonly minFreeBytes: number;
  readonly retentionMs: number;
  readonly log?: Log;
  /** At most once a second for each sink. */
  readonly onSinkStatus?: (status: SinkStatus) => void;
  /** At most once a second. */
  readonly onTrailStatus?: (status: TrailStatus) => void;
}

/** Thrown where an event could not be recorded; it is counted, and the trail will tell of the gap. */
export class AuditUnavailable extends Error {
  constructor(reason: string) {
    super(`The audit trail cannot take events: ${reason}.`);
    this.name = 'AuditUnavailable';
  }
}

/** The audit trail of this instance. */
export interface Audit extends Recorder {
  /** Rejects with AuditUnavailable where the event was not recorded; with `async` it always resolves, at once. */
  record(facts: AuditFacts): Promise<void>;
  /** Resolves only once the event is written, whatever the configured durability. */
  confirm(facts: AuditFacts): Promise<void>;
  /** All sinks there are, of every organization; to be called before the first event. A sink that is absent is forgotten. */
  setSinks(specs: readonly SinkSpec[]): void;
  /** Sends one made-up event through a sink and gives what its destination said. */
  trySink(spec: SinkSpec): Promise<Outcome>;
  /** The latest events of an organization that are still kept here, newest first. */
  history(organizationId: string, filter: HistoryFilter): Promise<HistoryAnswer>;
  /** Leaves of a user's events only their place in the chain; gives how many there were. */
  erase(organizationId: string, userId: string): Promise<number>;
  readonly instanceId: string;
  /** Events on their way are written, sinks get this long for what waits; the rest stays on disk. */
  close(drainMs?: number): Promise<void>;
}

export interface HistoryAnswer {
  readonly events: readonly Readonly<Record<string, unknown>>[];
  readonly hasMore: boolean;
}
