import { blankFacts, type AuditFacts } from '../../core/audit.js';
import { json, type Call, type JsonReply } from '../../core/exchange.js';
import type { Also } from '../../io/records/join.js';
import type { Step } from '../../io/records/records.js';
import { once, type OnceParts } from '../../rules/idempotency/once.js';

/** What a mutation answers. */
export interface Outcome {
  readonly status?: number;
  readonly body: unknown;
  /** The body to keep for replays where it differs from the shown one: a new key without its secret. */
  readonly kept?: unknown;
  /** What the audit trail is told; absent = who did what to which object. */
  readonly facts?: AuditFacts;
}

/** How a change gets into the audit trail: with its own commit, and from there to the spool. */
export interface Trail {
  steps(facts: AuditFacts): readonly Step[];
  /** The commit is done. */
  committed(partition: string): void;
}

export interface MutationParts extends OnceParts {
  readonly trail: Trail;
}

/**
 * Every change of the administration goes through here: `act` makes it, and what `also` gives for its outcome joins
 * the commit. That is the event that tells of it and, with an Idempotency-Key, the kept answer; the request is
 * validated before. `partition` is where the change is committed; absent = in the organization's own.
 */
export const mutate = async (
  call: Call,
  parts: MutationParts,
  act: (also: Also<Outcome>) => Promise<Outcome>,
  partition?: string,
): Promise<JsonReply> => {
  const { trail } = parts;
  const organizationId = call.principal.organization.id;
  const trace = (outcome: Outcome): readonly Step[] =>
    trail.steps(outcome.facts ?? changeFacts(call, outcome));
  const done = (reply: JsonReply): JsonReply => {
    trail.committed(partition ?? organizationId);
    return reply;
  };
  const key = call.headers['idempotency-key'];
  if (typeof key !== 'string') return done(reply(await act(trace)));

  const { route, params, query } = call;
  const request = [route.method, route.path, params, [...query], call.body ?? null];
  const attempt = { organizationId, partition, key, request };
  const turn = await once(parts, attempt, (keep) =>
    act((outcome) => [...keep(keptOf(outcome)), ...trace(outcome)]),
  );
  if (!turn.replayed) return done(reply(turn.result));
  return json(turn.answer.body, turn.answer.status, { 'idempotent-replayed': 'true' });
};

const reply = ({ body, status }: Outcome): JsonReply => json(body, status);

const keptOf = ({ status = 200, body, kept = body }: Outcome) => ({ status, body: kept });

/** Who did what to which object. Never a body: it may hold a secret. */
const changeFacts = ({ principal, route, params, requestId }: Call, { body }: Outcome): AuditFacts => ({
  ...blankFacts('admin', principal.organization.id),
  project_id: principal.projectId,
  key_id: principal.keyId,
  request_id: requestId,
  endpoint: route.path,
  details: { operation: route.operation, ...params, ...objectOf(body) },
});

const objectOf = (body: unknown): Readonly<Record<string, unknown>> => {
  if (typeof body !== 'object' || body === null) return {};
  if ('export' in body) return { object: 'export', ...objectOf(body.export) };
  const { id, object, revision } = body as Readonly<Record<string, unknown>>;
  return {
    ...(typeof id === 'string' && { object_id: id }),
    ...(typeof object === 'string' && { object }),
    ...(typeof revision === 'number' && { revision }),
  };
};
