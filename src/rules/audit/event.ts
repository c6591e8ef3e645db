import { hash } from 'node:crypto';
import { blankFacts, type AuditFacts } from '../../core/audit.js';
import type { Match } from '../../core/review.js';

/** What comes before the first event of a chain. */
export const GENESIS = '0'.repeat(64);

/** Above this an event leaves its content and details behind, so that every destination can take it. */
const LARGEST_BODY_CHARACTERS = 256 * 1024;
const MOST_MATCHES = 100;

/** The fields that facts bring along, in the order in which they are written. */
const factFields = [
  'event_type',
  'source',
  'org_id',
  'project_id',
  'key_id',
  'request_id',
  'endpoint',
  'model',
  'user_id',
  'policy_id',
  'policy_name',
  'policy_version',
  'data_classification',
  'decision',
  'effective_decision',
  'enforced',
  'rollout_mode',
  'reason_code',
  'triggered_categories',
  'allowlist_hits',
  'denylist_hits',
  'redactions',
  'direction',
  'policy_target',
  'policy_user',
  'quota_subject',
  'matches',
  'truncated',
  'client_aborted',
  'latency_ms',
  'usage',
] as const satisfies readonly (keyof AuditFacts | 'source')[];

const optionalFields = ['details', 'content'] as const;
const chainFields = ['instance_id', 'seq', 'prev_hash'] as const;

/** The event before it has its place: everything between its id and its place in the chain. Cheap: it runs per request. */
export function writeBody(facts: AuditFacts): string {
  const body = stringify(facts, facts.matches, facts.details, facts.content);
  if (body.length <= LARGEST_BODY_CHARACTERS) return body;
  const omitted = { omitted_characters: body.length };
  return stringify(facts, facts.matches.slice(0, MOST_MATCHES), omitted, facts.content && omitted);
}

function stringify(
  facts: AuditFacts,
  matches: readonly Match[],
  details: AuditFacts['details'],
  content: AuditFacts['content'],
): string {
  return JSON.stringify({
    event_type: facts.event_type,
    source: 'policy_gateway',
    org_id: facts.org_id,
    project_id: facts.project_id,
    key_id: facts.key_id,
    request_id: facts.request_id,
    endpoint: facts.endpoint,
    model: facts.model,
    user_id: facts.user_id,
    policy_id: facts.policy_id,
    policy_name: facts.policy_name,
    policy_version: facts.policy_version,
    data_classification: facts.data_classification,
    decision: facts.decision,
    effective_decision: facts.effective_decision,
    enforced: facts.enforced,
    rollout_mode: facts.rollout_mode,
    reason_code: facts.reason_code,
    triggered_categories: facts.triggered_categories,
    allowlist_hits: facts.allowlist_hits,
    denylist_hits: facts.denylist_hits,
    redactions: facts.redactions,
    direction: facts.direction,
    policy_target: facts.policy_target,
    policy_user: facts.policy_user,
    quota_subject: facts.quota_subject,
    matches: matches.length === 0 ? matches : matches.map(writeMatch),
    truncated: facts.truncated,
    client_aborted: facts.client_aborted,
    latency_ms: facts.latency_ms,
    usage: facts.usage && sorted(facts.usage),
    details: details && sorted(details),
    content: content && sorted(content),
  } satisfies Record<(typeof factFields)[number] | (typeof optionalFields)[number], unknown>);
}

/** Exported names are snake_case throughout; keys in order, as everywhere below the top. */
const writeMatch = (match: Match) => ({
  at: match.at,
  direction: match.direction,
  enforcing: match.enforcing,
  kind: match.kind,
  name: match.name,
  policy_name: match.policyName,
  policy_version: match.policyVersion,
  score: match.score,
});

/** The same value with the keys of every object in order, so that one event has one spelling. */
export function sorted(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(sorted);
  const object = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.keys(object)
      .sort()
      .map((key) => [key, sorted(object[key])]),
  );
}

export interface Place {
  readonly eventId: string;
  readonly createdAt: string;
  readonly instanceId: string;
  readonly seq: number;
  readonly prevHash: string;
}

/** Gives a body its place in the chain: the whole event as it is stored and exported, and its hash. */
export function seal(body: string, place: Place): { readonly json: string; readonly hash: string } {
  const { eventId, createdAt, instanceId, seq, prevHash } = place;
  const open = `{"event_id":${JSON.stringify(eventId)},"created_at":${JSON.stringify(createdAt)},${body.slice(1, -1)},"instance_id":"${instanceId}","seq":${seq},"prev_hash":"${prevHash}"`;
  const digest = hash('sha256', `${open}}`);
  return { json: `${open},"hash":"${digest}"}`, hash: digest };
}

/**
 * The hash that an event must have, whoever spelt it: its own fields in their order, those that are absent as null,
 * whatever else a destination has added left aside.
 */
export function hashOf(event: Readonly<Record<string, unknown>>): string {
  const canonical: Record<string, unknown> = {};
  for (const field of ['event_id', 'created_at', ...factFields]) canonical[field] = event[field] ?? null;
  for (const field of optionalFields)
    if (event[field] !== undefined && event[field] !== null) canonical[field] = event[field];
  for (const field of chainFields) canonical[field] = event[field] ?? null;
  for (const field of ['matches', 'usage', ...optionalFields])
    if (field in canonical) canonical[field] = sorted(canonical[field]);
  return hash('sha256', JSON.stringify(canonical));
}

/** What stays of an event whose user asked to be forgotten: its place in the chain, and that it was erased. */
export function erased(json: string): string {
  const event = JSON.parse(json) as Record<string, unknown>;
  const { event_id, created_at, event_type, source, org_id, instance_id, seq, prev_hash } = event;
  const kept = { event_id, created_at, event_type, source, org_id, erased: true };
  return JSON.stringify({ ...kept, instance_id, seq, prev_hash, hash: event['hash'] });
}

/** The reason code of an event that tells of others that are missing. */
export const GAP = 'audit_gap';

/** Tells of events that are not in the trail, or did not reach a destination. */
export const gapFacts = (orgId: string, details: Readonly<Record<string, unknown>>): AuditFacts => ({
  ...blankFacts('admin', orgId),
  reason_code: GAP,
  details,
});
