import { LRUCache } from 'lru-cache';
import type { Clock } from '../core/clock.js';
import { balanceUnavailable, invalidParameter, lacksPermission, notFound } from '../core/errors.js';
import { json, type Call, type JsonReply } from '../core/exchange.js';
import { holds, type Organization, type Principal } from '../core/principal.js';
import type { RefusalFacts } from '../rules/limits/facts.js';
import type { AdmitReply, Credits, Reading } from '../rules/limits/limiter.js';
import type { Refusals } from '../rules/limits/refusals.js';
import { pathId } from './administration/parse.js';
import { metrics } from './limit-schemas.js';
import { policyHeadersOf } from './review/policy-headers.js';

export interface LimitParts {
  readonly credits: Credits;
  /** Where a caller and the user it names stand; counts nothing. */
  readonly read: (principal: Principal, user: string | null) => Promise<AdmitReply>;
  readonly tierOf: (organization: Organization) => { readonly name: string };
  /** Opens a balance the limiter does not know yet; null = there are no credits at all. */
  readonly fund: (organizationId: string) => Promise<number | null>;
  readonly refusals: Pick<Refusals, 'find'>;
  readonly clock: Clock;
}

interface Balance {
  readonly credits: number;
  readonly atMs: number;
}

/** A reading older than this is not shown (seed 2.10). */
const STALE_MS = 5_000;
const MOST_BALANCES = 10_000;
/** Stands for "no key" where only an organization or a project is asked about. */
const NO_KEY = '-';

const seconds = (ms: number): number => Math.floor(ms / 1_000);
const secondsUp = (ms: number): number => Math.ceil(ms / 1_000);

/** Credits and limits, for those who are held to them. */
export const createLimitDoors = (parts: LimitParts) => {
  const { clock } = parts;
  const balances = new LRUCache<string, Balance>({ max: MOST_BALANCES });

  /** As it is; while the store is away, as it was a moment ago. */
  const balanceOf = async (organizationId: string): Promise<Balance> => {
    try {
      const found = await parts.credits.balance(organizationId);
      const credits = found ?? (await parts.fund(organizationId)) ?? 0;
      const balance = { credits, atMs: clock.nowMs() };
      balances.set(organizationId, balance);
      return balance;
    } catch (error) {
      const last = balances.get(organizationId);
      if (last && clock.nowMs() - last.atMs <= STALE_MS) return last;
      throw balanceUnavailable(error);
    }
  };

  const read = async (principal: Principal, user: string | null): Promise<JsonReply> => {
    const reply = await parts.read(principal, user);
    const shown = reply.readings.filter(isShown);
    return json({
      object: 'limits',
      tier: parts.tierOf(principal.organization).name,
      as_of: seconds(reply.nowMs),
      limits: shown.map((reading) => showReading(reading, reply.nowMs)),
      credits: showCredits(reply.credits),
    });
  };

  return {
    credits: async ({ principal: { organization } }: Call): Promise<JsonReply> => {
      const { credits, atMs } = organization.metered
        ? await balanceOf(organization.id)
        : { credits: null, atMs: clock.nowMs() };
      return json({ object: 'credit_balance', remaining_credits: credits, as_of: seconds(atMs) });
    },

    own: ({ principal, headers }: Call): Promise<JsonReply> => read(principal, policyHeadersOf(headers).user),

    organization: async ({ principal, query }: Call): Promise<JsonReply> => {
      const [projectId, keyId] = [query.get('project_id'), query.get('key_id')];
      if (keyId !== null && projectId === null) throw invalidParameter('key_id', 'needs project_id.');
      const asked = {
        ...principal,
        projectId: checkedId('project_id', projectId),
        keyId: checkedId('key_id', keyId) ?? NO_KEY,
        creditBudget: null,
      };
      return read(asked, null);
    },

    request: async (call: Call): Promise<JsonReply> => {
      const { principal } = call;
      const requestId = pathId(call, 'request_id');
      if (principal.kind === 'admin' && !holds(principal, 'limits.read'))
        throw lacksPermission('limits.read');
      const facts = await parts.refusals.find(principal.organization.id, requestId);
      if (!facts || !mayRead(principal, facts))
        throw notFound('No request of this id was refused by a limit in the last hour.');
      return json(showFacts(facts));
    },
  };
};

export type LimitDoors = ReturnType<typeof createLimitDoors>;

/** Nothing of a key or user that nobody asked about, and of a quota only what it bounds. */
const isShown = ({ scope, id, metric, limit }: Reading): boolean =>
  id === NO_KEY ? scope !== 'key' && scope !== 'user' : limit !== null || !metric.startsWith('quota');

const ID_CHARACTERS = 200;

const checkedId = (name: string, id: string | null): string | null => {
  if (id !== null && (id === '' || id.length > ID_CHARACTERS))
    throw invalidParameter(name, `must have 1 to ${ID_CHARACTERS} characters.`);
  return id;
};

const mayRead = ({ kind, keyId, projectId }: Principal, facts: RefusalFacts): boolean =>
  kind === 'admin' || facts.keyId === keyId || (projectId !== null && facts.projectId === projectId);

const showReading = ({ scope, id, metric, limit, used, reserved, resetMs }: Reading, nowMs: number) => ({
  scope,
  id,
  metric: metrics[metric],
  limit,
  used,
  reserved,
  remaining: limit === null ? null : Math.max(0, limit - used),
  reset_at: secondsUp(nowMs + resetMs),
});

const showCredits = (credits: AdmitReply['credits']) =>
  credits && {
    remaining_credits: credits.balance,
    available_credits: credits.available,
    key_budget_remaining: credits.keyAvailable,
  };

const showFacts = (facts: RefusalFacts) => ({
  object: 'request.limits',
  request_id: facts.requestId,
  code: facts.outcome === 'limit' ? 'rate_limit_exceeded' : 'insufficient_credits',
  decided_at: seconds(facts.atMs),
  project_id: facts.projectId,
  api_key_id: facts.keyId,
  requested: { tokens: facts.tokens, credits: facts.credits },
  available_credits: facts.availableCredits,
  retry_at: facts.outcome === 'limit' ? secondsUp(facts.atMs + facts.retryMs) : null,
  degraded: facts.degraded,
  violated: facts.violated.map(({ scope, id, metric, limit, used, reserved, freesAtMs }) => ({
    scope,
    id,
    metric: metrics[metric],
    limit,
    used,
    reserved,
    frees_at: secondsUp(freesAtMs),
  })),
});
