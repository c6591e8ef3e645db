/** What can go wrong on the way to a destination; `spool` = here, not there. */
export const errorKinds = ['retry', 'held', 'split', 'poison', 'spool'] as const;
export type ErrorKind = (typeof errorKinds)[number];

/** How a sink is doing. Times are milliseconds since 1970. */
export interface SinkStatus {
  readonly sinkId: string;
  readonly organizationId: string;
  readonly lastSuccessAt?: number;
  readonly lastErrorAt?: number;
  /** Our own text, without secrets. */
  readonly lastError?: string;
  /** Events that wait for it. */
  readonly queued: number;
  /** Age of the oldest of them; 0 = none waits. */
  readonly oldestMs: number;
  /** Since the start. */
  readonly errorsByKind: Readonly<Record<ErrorKind, number>>;
  readonly deadLetters: number;
  /** `open` = it failed several times in a row: one try at a time, at growing intervals. */
  readonly circuit: 'closed' | 'open';
}

/** How the trail itself is doing; counts are since the start. */
export interface TrailStatus {
  readonly recorded: number;
  /** Not recorded: there was no room, or the spool could not be written. */
  readonly missed: number;
  /** Damaged events that were met and skipped. */
  readonly damaged: number;
  /** Left the local history before their time to make room; every sink had them. */
  readonly droppedEarly: number;
  readonly usedBytes: number;
  /** Of them, waiting for a destination. */
  readonly waitingBytes: number;
  /** What the spool may take as the disk is now. */
  readonly limitBytes: number;
  readonly open: boolean;
}
