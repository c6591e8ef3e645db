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

/** Put together by hand: three times as quick as `JSON.stringify` of an object with these fields. */
function stringify(
  facts: AuditFacts,
  matches: readonly Match[],
  details: AuditFacts['details'],
  content: object | undefined,
): string {
  return (
    `{"event_type":"${facts.event_type}","source":"policy_gateway","org_id":${text(facts.org_id)}` +
    `,"project_id":${text(facts.project_id)}` +
    `,"key_id":${text(facts.key_id)}` +
    `,"request_id":${text(facts.request_id)}` +
    `,"endpoint":${text(facts.endpoint)}` +
    `,"model":${text(facts.model)}` +
    `,"user_id":${text(facts.user_id)}` +
    `,"policy_id":${text(facts.policy_id)}` +
    `,"policy_name":${text(facts.policy_name)}` +
    `,"policy_version":${number(facts.policy_version)}` +
    `,"data_classification":${text(facts.data_classification)}` +
    `,"decision":${text(facts.decision)}` +
    `,"effective_decision":${text(facts.effective_decision)}` +
    `,"enforced":${facts.enforced}` +
    `,"rollout_mode":${text(facts.rollout_mode)}` +
    `,"reason_code":${text(facts.reason_code)}` +
    `,"triggered_categories":${list(facts.triggered_categories)}` +
    `,"allowlist_hits":${number(facts.allowlist_hits)}` +
    `,"denylist_hits":${number(facts.denylist_hits)}` +
    `,"redactions":${number(facts.redactions)}` +
    `,"direction":${text(facts.direction)}` +
    `,"policy_target":${text(facts.policy_target)}` +
    `,"policy_user":${text(facts.policy_user)}` +
    `,"quota_subject":${text(facts.quota_subject)}` +
    `,"matches":${list(matches.map(writeMatch))}` +
    `,"truncated":${facts.truncated}` +
    `,"client_aborted":${facts.client_aborted}` +
    `,"latency_ms":${number(facts.latency_ms)}` +
    `,"usage":${ordered(facts.usage)}` +
    (details ? `,"details":${ordered(details)}` : '') +
    (content ? `,"content":${ordered(content)}}` : '}')
  );
}

/** Most texts need no escape. */
const PLAIN = /^[ !#-[\]-~]*$/;

const text = (value: string | null): string =>
  typeof value !== 'string' ? 'null' : PLAIN.test(value) ? `"${value}"` : JSON.stringify(value);

const number = (value: number | null): string => (Number.isFinite(value) ? String(value) : 'null');

const list = (values: readonly unknown[]): string => (values.length === 0 ? '[]' : JSON.stringify(values));

const ordered = (value: object | null): string => (value === null ? 'null' : JSON.stringify(sorted(value)));

/** Exported names are snake_case throughout; keys in order, as everywhere below the top. */
const writeMatch = (match: Match) => ({
  at: match.at,
  direction: match.direction,
  enforcing: match.enforcing,
  fallback: match.fallback,
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
