import type { Match } from './review.js';

export type AuditEventType = 'enforcement' | 'simulation' | 'revision' | 'rollback' | 'admin';

/** What happened (D28), before it has its place in the chain. Names are those of the exported event. */
export interface AuditFacts {
  readonly event_type: AuditEventType;
  /** Given by whoever may tell of the same thing twice (the outbox); absent = a new one. */
  readonly event_id?: string;
  /** ISO-8601 UTC; absent = now. */
  readonly created_at?: string;
  readonly org_id: string;
  readonly project_id: string | null;
  readonly key_id: string | null;
  readonly request_id: string | null;
  readonly endpoint: string | null;
  readonly model: string | null;
  readonly user_id: string | null;
  readonly policy_id: string | null;
  readonly policy_name: string | null;
  readonly policy_version: number | null;
  readonly data_classification: string | null;
  readonly decision: string | null;
  readonly effective_decision: string | null;
  readonly enforced: boolean;
  readonly rollout_mode: string | null;
  readonly reason_code: string | null;
  readonly triggered_categories: readonly string[];
  readonly allowlist_hits: number;
  readonly denylist_hits: number;
  readonly redactions: number;
  readonly direction: 'request' | 'response' | null;
  readonly policy_target: string | null;
  readonly policy_user: string | null;
  readonly quota_subject: string | null;
  readonly matches: readonly Match[];
  readonly truncated: boolean;
  readonly client_aborted: boolean;
  readonly latency_ms: number | null;
  readonly usage: Readonly<Record<string, number>> | null;
  /** More of an administration change: what was done to which object, never a secret. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Only where content is captured on purpose; redacted before it comes here. */
  readonly content?: EventContent;
}

/** What was said, masked and bounded; names are those of the exported event. */
export interface EventContent {
  /** `at` = where it stood in the request. */
  readonly request: readonly { readonly at: string; readonly role: string; readonly text: string }[];
  /** As the model said it, also what was kept back; `attempt` 2 = asked for once more. */
  readonly response: readonly {
    readonly attempt: number;
    readonly kind: string;
    /** Of a tool. */
    readonly name?: string;
    readonly text: string;
  }[];
  readonly request_omitted_characters?: number;
  readonly response_omitted_characters?: number;
}

/** Where events go. Resolves when the event is as safe as the configured durability asks. */
export interface Recorder {
  record(facts: AuditFacts): Promise<void>;
  /** false = there is no room, so that an organization whose audit trail must be complete is to be refused. */
  readonly open: boolean;
}

/** An event of which nothing is known but its kind and whose it is. */
export const blankFacts = (event_type: AuditEventType, org_id: string): AuditFacts => ({
  event_type,
  org_id,
  project_id: null,
  key_id: null,
  request_id: null,
  endpoint: null,
  model: null,
  user_id: null,
  policy_id: null,
  policy_name: null,
  policy_version: null,
  data_classification: null,
  decision: null,
  effective_decision: null,
  enforced: false,
  rollout_mode: null,
  reason_code: null,
  triggered_categories: [],
  allowlist_hits: 0,
  denylist_hits: 0,
  redactions: 0,
  direction: null,
  policy_target: null,
  policy_user: null,
  quota_subject: null,
  matches: [],
  truncated: false,
  client_aborted: false,
  latency_ms: null,
  usage: null,
});
