import { json, type Call, type JsonReply } from '../../core/exchange.js';
import type { Also } from '../../io/records/join.js';
import { once, type OnceParts } from '../../rules/idempotency/once.js';

/** What a mutation answers. */
export interface Outcome {
  readonly status?: number;
  readonly body: unknown;
  /** The body to keep for replays where it differs from the shown one: a new key without its secret. */
  readonly kept?: unknown;
}

export type MutationParts = OnceParts;

/**
 * Every change of the administration goes through here: `act` makes it, and what `also` gives for its outcome joins
 * the commit. With an Idempotency-Key that is the kept answer; the request is validated before. `partition` is where
 * the change is committed; absent = in the organization's own.
 */
export const mutate = async (
  call: Call,
  parts: MutationParts,
  act: (also: Also<Outcome>) => Promise<Outcome>,
  partition?: string,
): Promise<JsonReply> => {
  const key = call.headers['idempotency-key'];
  if (typeof key !== 'string') return reply(await act(() => []));

  const { route, params, query, principal } = call;
  const request = [route.method, route.path, params, [...query], call.body ?? null];
  const attempt = { organizationId: principal.organization.id, partition, key, request };
  const turn = await once(parts, attempt, (keep) => act((outcome) => keep(keptOf(outcome))));
  if (!turn.replayed) return reply(turn.result);
  return json(turn.answer.body, turn.answer.status, { 'idempotent-replayed': 'true' });
};

const reply = ({ body, status }: Outcome): JsonReply => json(body, status);

const keptOf = ({ status = 200, body, kept = body }: Outcome) => ({ status, body: kept });
