import { blankFacts } from '../../core/audit.js';
import { GatewayError, invalidParameter, lacksPermission } from '../../core/errors.js';
import { json, type Call, type JsonReply } from '../../core/exchange.js';
import { holds } from '../../core/principal.js';
import { AuditUnavailable, type Audit } from '../../rules/audit/audit.js';
import type { HistoryFilter } from '../../rules/audit/history.js';
import type { OnceParts } from '../../rules/idempotency/once.js';
import { actOnce } from '../administration/mutate.js';
import { envelope, readPage } from '../administration/paging.js';
import { eventTypes } from './history-schemas.js';

export interface HistoryParts extends OnceParts {
  readonly audit: Pick<Audit, 'history' | 'erase' | 'confirm'>;
}

const TEXT_CHARACTERS = 512;

/** The latest decisions and changes from the local store (an extension), and forgetting a user in them. */
export const createHistoryDoors = ({ audit, ...parts }: HistoryParts) => ({
  list: async (call: Call): Promise<JsonReply> => {
    // Whoever may read the gateway may read what it did; auditors need nothing else (D4).
    const { principal } = call;
    if (!holds(principal, 'gateway.read') && !holds(principal, 'audit.read'))
      throw lacksPermission('audit.read');
    const filter = readFilter(call);
    const { events, hasMore } = await reach(() => audit.history(call.principal.organization.id, filter));
    const items = events.map((event) => ({
      id: String(event['event_id']),
      object: 'policy_gateway.event' as const,
      ...event,
    }));
    return json(envelope(items, hasMore));
  },

  erase: async (call: Call): Promise<JsonReply> => {
    const { principal, requestId, route } = call;
    // It reaches beyond the project that a project key or a JWT speaks for.
    if (principal.kind !== 'admin') throw lacksPermission('gateway.write');
    const user = queryText(call, 'user');
    if (user === undefined) throw invalidParameter('user', 'is required.');
    const organizationId = principal.organization.id;
    return actOnce(call, parts, async () => {
      const erased = await reach(() => audit.erase(organizationId, user));
      // That it was done is on record; whose events they were is not.
      const facts = {
        ...blankFacts('admin', organizationId),
        key_id: principal.keyId,
        request_id: requestId,
        endpoint: route.path,
        reason_code: 'history_erased',
        details: { operation: route.operation, erased },
      };
      await reach(() => audit.confirm(facts));
      return { object: 'policy_gateway.erasure', erased };
    });
  },
});

export type HistoryDoors = ReturnType<typeof createHistoryDoors>;

const readFilter = (call: Call): HistoryFilter => {
  const { projectId: own } = call.principal;
  const { after, limit } = readPage(call, 'evt');
  const projectId = queryText(call, 'project_id');
  if (own !== null && projectId !== undefined && projectId !== own)
    throw invalidParameter('project_id', 'must be the project of the credential.');
  const texts = {
    eventType: queryChoice(call, 'event_type', eventTypes),
    decision: queryText(call, 'decision'),
    policyId: queryText(call, 'policy_id'),
    projectId: own ?? projectId,
    keyId: queryText(call, 'key_id'),
    user: queryText(call, 'user'),
    requestId: queryText(call, 'request_id'),
    sinceMs: queryTime(call, 'since'),
    untilMs: queryTime(call, 'until'),
    after,
  };
  const given = Object.entries(texts).filter(([, value]) => value !== undefined);
  return { ...(Object.fromEntries(given) as Omit<HistoryFilter, 'limit'>), limit };
};

const queryText = (call: Call, name: string): string | undefined => {
  const [value, ...more] = call.query.getAll(name);
  if (value === undefined) return undefined;
  if (more.length > 0 || value === '' || value.length > TEXT_CHARACTERS)
    throw invalidParameter(name, `must be one text of 1 to ${TEXT_CHARACTERS} characters.`);
  return value;
};

const queryChoice = <T extends string>(call: Call, name: string, known: readonly T[]): T | undefined => {
  const value = queryText(call, name);
  const found = known.find((one) => one === value);
  if (value !== undefined && found === undefined)
    throw invalidParameter(name, `must be one of ${known.join(', ')}.`);
  return found;
};

/** A time as ISO 8601 writes it: with a day, and a zone where it has hours. */
const ISO = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/;

const queryTime = (call: Call, name: string): number | undefined => {
  const value = queryText(call, name);
  if (value === undefined) return undefined;
  const timeMs = ISO.test(value) ? Date.parse(value) : NaN;
  if (Number.isNaN(timeMs)) throw invalidParameter(name, 'must be a time such as 2031-01-31T12:00:00Z.');
  return timeMs;
};

const reach = async <T>(ask: () => Promise<T>): Promise<T> => {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof AuditUnavailable)) throw error;
    throw new GatewayError('audit_unavailable', 'The audit trail does not answer. Try again shortly.', {
      retryAfterS: 1,
      cause: error,
    });
  }
};
