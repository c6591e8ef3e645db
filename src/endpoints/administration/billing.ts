import { GatewayError, invalidParameter } from '../../core/errors.js';
import { json, type Call, type JsonReply } from '../../core/exchange.js';
import type { Organization } from '../../core/principal.js';
import { GLOBAL } from '../../io/records/records.js';
import { addCredits, recordPayment } from '../../rules/auth/credits.js';
import type { Grant } from '../../rules/auth/funds.js';
import { addSums, noSums, type UsageRow } from '../../rules/usage/layout.js';
import { listUsage } from '../../rules/usage/report.js';
import type { Tally } from '../../rules/usage/tally.js';
import type { AccountParts } from './admin-keys.js';
import { NewCreditGrant, NewPayment } from './billing-schemas.js';
import { mutate } from './mutate.js';
import { parseBody, queryInteger } from './parse.js';

export interface BillingParts extends AccountParts {
  /** Takes a grant over into the balance and gives it. */
  readonly fund: (organizationId: string) => Promise<number | null>;
  readonly tierOf: (organization: Organization) => { readonly name: string };
  readonly tally: Pick<Tally, 'flush'>;
}

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;

/** Credits, payments and usage of an organization. */
export const createBillingDoors = (parts: BillingParts) => {
  const { accounts, records } = parts;
  return {
    grant: async (call: Call): Promise<JsonReply> => {
      const { amount, reason } = parseBody(NewCreditGrant, call.body);
      const { id } = call.principal.organization;
      return mutate(call, parts, async (also) => {
        const grant = await addCredits(accounts, id, amount, reason, {
          also: (made) => also({ body: showGrant(made, null), provisional: true }),
        });
        // The grant stands; a balance that cannot be told yet follows by itself.
        const balance = await parts.fund(id).catch(() => null);
        return { body: showGrant(grant, balance) };
      });
    },

    pay: async (call: Call): Promise<JsonReply> => {
      const { usd } = parseBody(NewPayment, call.body);
      const show = (organization: Organization) => ({
        object: 'organization.payment',
        usd,
        lifetime_paid_usd: organization.lifetimePaidUsd,
        tier: parts.tierOf(organization).name,
      });
      // Organizations live in GLOBAL, so the kept answer does too: one commit holds both.
      return mutate(
        call,
        parts,
        async (also) => {
          const organization = await recordPayment(accounts, call.principal.organization.id, usd, {
            also: (changed) => also({ body: show(changed) }),
          });
          return { body: show(organization) };
        },
        GLOBAL,
      );
    },

    usage: async (call: Call): Promise<JsonReply> => {
      const query = readQuery(call, accounts.clock.nowMs());
      await parts.tally.flush();
      const { rows, hasMore, lastId } = await listUsage(records, call.principal.organization.id, query);
      const [first, last] = [rows[0], hasMore ? lastId : rows.at(-1)?.id];
      return json({
        object: 'list',
        data: rows.map(showRow),
        ...(first && { first_id: first.id }),
        ...(last && (first || hasMore) && { last_id: last }),
        has_more: hasMore,
      });
    },
  };
};

export type BillingDoors = ReturnType<typeof createBillingDoors>;

const showGrant = ({ id, amount, reason, createdAtS }: Grant, balance: number | null) => ({
  object: 'organization.credit_grant',
  id,
  amount,
  reason,
  created_at: createdAtS,
  remaining_credits: balance,
});

const showRow = ({ id, day, projectId, keyId, models }: UsageRow) => ({
  object: 'organization.usage',
  id,
  day,
  project_id: projectId,
  api_key_id: keyId,
  ...Object.values(models).reduce(addSums, noSums),
  models: Object.entries(models).map(([model, sums]) => ({ model, ...sums })),
});

const CURSOR = /^\d{4}-\d\d-\d\d\.[\w.-]{1,280}$/;
const TEXT_CHARACTERS = 200;

const readQuery = (call: Call, nowMs: number) => {
  const { query } = call;
  const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  const readDay = (name: string, otherwise: string): string => {
    const text = query.get(name);
    if (text === null) return otherwise;
    if (!/^\d{4}-\d\d-\d\d$/.test(text) || Number.isNaN(Date.parse(text)))
      throw invalidParameter(name, 'must be a day such as 2031-01-31.');
    return text;
  };
  const readText = (name: string): string | null => {
    const text = query.get(name);
    if (text !== null && (text === '' || text.length > TEXT_CHARACTERS))
      throw invalidParameter(name, `must have 1 to ${TEXT_CHARACTERS} characters.`);
    return text;
  };
  const after = query.get('after');
  if (after !== null && !CURSOR.test(after))
    throw new GatewayError('invalid_cursor', 'after: must be the last_id of an earlier page.', {
      param: 'after',
    });
  return {
    from: readDay('from', dayOf(nowMs - DEFAULT_DAYS * DAY_MS)),
    to: readDay('to', dayOf(nowMs)),
    projectId: readText('project_id'),
    keyId: readText('key_id'),
    model: readText('model'),
    after,
    limit: queryInteger(call, 'limit', 1, 100) ?? 20,
  };
};
