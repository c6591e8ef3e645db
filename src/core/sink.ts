/** One destination of audit events as its organization configured it; secrets are in clear here. */
export interface SinkSpec {
  readonly id: string;
  readonly organizationId: string;
  readonly type: string;
  readonly enabled: boolean;
  readonly config: Readonly<Record<string, unknown>>;
}

/** An event as it is stored and exported: whole, as JSON text. */
export interface BatchItem {
  readonly seq: number;
  readonly eventId: string;
  readonly json: string;
}

/** Events of one organization and instance in order of `seq`. Sent again it has the same id and content. */
export interface Batch {
  readonly id: string;
  readonly organizationId: string;
  readonly instanceId: string;
  readonly events: readonly BatchItem[];
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** ISO-8601 UTC of the first event, so that whatever is named after it stays the same when it is sent again. */
  readonly createdAt: string;
}

/** `retry` = this one again later, `poison` = the destination will never take it. */
export type ItemOutcome =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'retry'; readonly reason: string }
  | { readonly kind: 'poison'; readonly reason: string };

/** What a destination made of a batch. Every `reason` is our own short text without secrets. */
export type Outcome =
  | { readonly kind: 'accepted' }
  /** One outcome per event, in the order of the batch. */
  | { readonly kind: 'partly'; readonly items: readonly ItemOutcome[] }
  | { readonly kind: 'retry'; readonly reason: string; readonly retryAfterMs?: number }
  /** Too large as a whole: sent again in halves. */
  | { readonly kind: 'split'; readonly reason: string }
  /** One of its events will never be taken: halves are tried until that one is found. */
  | { readonly kind: 'poison'; readonly reason: string }
  /** Credentials or configuration are wrong: nothing is lost, tried again slowly. */
  | { readonly kind: 'held'; readonly reason: string };

/** One way to one destination. The engine calls `send` again only after it has answered. */
export interface Sender {
  /** The most one batch may hold: events, bytes of their JSON, and how long the first may wait for more. */
  readonly limits: { readonly count: number; readonly bytes: number; readonly ageMs: number };
  /** Never rejects for what a destination did; a rejection counts as `retry`. */
  send(batch: Batch, signal: AbortSignal): Promise<Outcome>;
  close(): Promise<void>;
}

export type CreateSender = (spec: SinkSpec) => Sender;
