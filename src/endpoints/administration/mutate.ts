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
 * the commit. With an Idempotency-Key that is the kept answer; the request is validated before.
 */
export const mutate = async (
  call: Call,
  parts: MutationParts,
  act: (also: Also<Outcome>) => Promise<Outcome>,
): Promise<JsonReply> => {
  const key = call.headers['idempotency-key'];
  if (typeof key !== 'string') {
    const { body, status } = await act(() => []);
    return json(body, status);
  }

  const { route, params, query, principal } = call;
  const request = [route.method, route.path, params, [...query], call.body ?? null];
  const attempt = { organizationId: principal.organization.id, key, request };
  let shown: Outcome | null = null;
  const { answer, replayed } = await once(parts, attempt, async (keep) => {
    shown = await act((outcome) => keep(keptOf(outcome)));
    return keptOf(shown);
  });
  const body = replayed ? answer.body : (shown as Outcome | null)?.body;
  return json(body, answer.status, replayed ? { 'idempotent-replayed': 'true' } : {});
};

const keptOf = ({ status = 200, body, kept = body }: Outcome) => ({ status, body: kept });
