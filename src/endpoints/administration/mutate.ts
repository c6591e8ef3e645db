import { blankFacts, type AuditFacts } from '../../core/audit.js';
import { json, type Call, type JsonReply } from '../../core/exchange.js';
import { commitWith, type Also } from '../../io/records/join.js';
import { StoreUnavailable, type GLOBAL, type Step } from '../../io/records/records.js';
import { once, type Answer, type OnceParts } from '../../rules/idempotency/once.js';

/** What a mutation answers. */
export interface Outcome {
  readonly status?: number;
  readonly body: unknown;
  /** The body to keep for replays where it differs from the shown one: a new key without its secret. */
  readonly kept?: unknown;
  /** Something in the body is known only after the commit; replays show the outcome that is returned then. */
  readonly provisional?: boolean;
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
  partition?: typeof GLOBAL,
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

  const turn = await once(parts, { ...attemptOf(call, key), partition }, async (keep, settle) => {
    const outcome = await act((made) => [...keep(keptOf(made)), ...trace(made)]);
    await settle(keptOf(outcome));
    return outcome;
  });
  return turn.replayed ? replayOf(turn.answer) : done(reply(turn.result));
};

/**
 * The same for what changes no record and so has no commit to join: its answer is kept right after it. `act` gives
 * the body.
 */
export const actOnce = async (
  call: Call,
  parts: OnceParts,
  act: () => Promise<unknown>,
): Promise<JsonReply> => {
  const key = call.headers['idempotency-key'];
  if (typeof key !== 'string') return json(await act());

  const attempt = attemptOf(call, key);
  const turn = await once(parts, attempt, async (keep) => {
    const body = await act();
    try {
      await commitWith(parts.records, attempt.organizationId, [], keep({ status: 200, body }));
    } catch (error) {
      // It is done: to be told that it failed would only have it done twice.
      if (!(error instanceof StoreUnavailable)) throw error;
      call.log.warn({ err: error }, 'An answer could not be kept for its Idempotency-Key.');
    }
    return body;
  });
  return turn.replayed ? replayOf(turn.answer) : json(turn.result);
};

const attemptOf = ({ principal, route, params, query, body }: Call, key: string) => ({
  organizationId: principal.organization.id,
  key,
  request: [route.method, route.path, params, [...query], body ?? null],
});

const replayOf = ({ body, status }: Answer): JsonReply =>
  json(body, status, { 'idempotent-replayed': 'true' });

const reply = ({ body, status }: Outcome): JsonReply => json(body, status);

const keptOf = ({ status = 200, body, kept = body, provisional }: Outcome): Answer => ({
  status,
  body: kept,
  provisional,
});

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
