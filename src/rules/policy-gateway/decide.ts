import {
  alwaysBlocked,
  covers,
  decisions,
  type Decision,
  type Direction,
  type Judgement,
  type Match,
  type PolicyFinding,
} from '../../core/review.js';
import { modeOf, type GatewayConfig } from './config.js';
import { standings, type Standing } from './rollout.js';

/** All that was found on one side of an exchange, before anybody judges it. */
export interface Findings {
  readonly direction: Direction;
  /** Categories that reached their threshold. */
  readonly categories: readonly string[];
  /** Their scores, where there are any. */
  readonly scores?: ReadonlyMap<string, number>;
  /** Categories the request itself wants blocked. */
  readonly requestFlagged: readonly string[];
  /** Terms of the denylist that occur. */
  readonly denylist: readonly string[];
  /** There is an allowlist, and none of its terms occurs. */
  readonly allowlistMiss: boolean;
  readonly allowlistHits: readonly string[];
  readonly policies: readonly PolicyFinding[];
  /** Values that are masked, by kind. */
  readonly redactions: readonly { readonly name: string; readonly count: number }[];
}

export const noFindings = (direction: Direction): Findings => nothing[direction];

const nothingIn = (direction: Direction): Findings => ({
  direction,
  categories: [],
  requestFlagged: [],
  denylist: [],
  allowlistMiss: false,
  allowlistHits: [],
  policies: [],
  redactions: [],
});
const nothing = { request: nothingIn('request'), response: nothingIn('response') };

/** The name under which a missed allowlist is listed. */
export const NO_LISTED_TERM = 'no_listed_term';

/** `rewrite` and `summary` share one step (D18). */
export const severityOf = (decision: Decision): number =>
  decision === 'summary' ? decisions.indexOf('rewrite') : decisions.indexOf(decision);

/** A reason as this organization words it (D21); an allow is always `ALLOW`. */
export const reasonCodeOf = ({ rules }: GatewayConfig, reason: string): string => {
  const codes = rules.reason_codes;
  if (reason === 'ALLOW' || codes.length === 0 || codes.includes(reason)) return reason;
  return codes.find((code) => code !== 'ALLOW') ?? reason;
};

/**
 * What happens to an exchange, and why: the one function behind enforcement and simulation (D20). The most severe
 * decision wins; of equals, always-blocked categories and the request's own, then policies by age, then the gateway
 * configuration, which alone is subject to its rollout (D31).
 */
export const decide = (config: GatewayConfig, findings: Findings, standing: Standing): Judgement => {
  const { direction } = findings;
  if (isEmpty(findings)) return plainAllow(direction, standing);
  const matches: Match[] = [];
  const triggered: string[] = [];
  const add = (kind: Match['kind'], name: string, enforcing: boolean, more: Partial<Match> = {}): void => {
    matches.push({ kind, direction, name, ...more, enforcing });
  };

  let isBlocked = false;
  let candidate: Decision | null = standing.decides ? 'allow' : null;
  const fire = (decision: Decision): void => {
    if (candidate !== null && severityOf(decision) > severityOf(candidate)) candidate = decision;
  };

  for (const category of findings.categories) {
    if (triggered.includes(category)) continue;
    const always = covers(alwaysBlocked, category) || covers(findings.requestFlagged, category);
    if (!always && !(standing.decides && covers(config.rules.flagged_categories, category))) continue;
    if (always) isBlocked = true;
    else fire(modeOf(config));
    triggered.push(category);
    const score = findings.scores?.get(category);
    add('category', category, always || standing.enforces, score === undefined ? {} : { score });
  }

  let policy: PolicyFinding | null = null;
  for (const found of findings.policies) {
    if (!found.matched && !found.fallback) continue;
    const acts = found.matched && found.mode === 'enforcing';
    if (acts && (policy === null || isOlder(found, policy))) policy = found;
    add('policy', found.id, acts, {
      score: found.score,
      policyName: found.name,
      policyVersion: found.version,
      ...(found.fallback && { fallback: true }),
    });
  }

  if (standing.decides) {
    if (findings.denylist.length > 0) fire(modeOf(config));
    for (const term of new Set(findings.denylist)) add('denylist', term, standing.enforces);
    if (findings.allowlistMiss) {
      fire('refuse');
      add('allowlist', NO_LISTED_TERM, standing.enforces);
    }
    for (const term of new Set(findings.allowlistHits)) add('allowlist', term, false);
    for (const { name } of findings.redactions) add('redaction', name, standing.enforces);
  }
  if (matches.length === 0) return plainAllow(direction, standing);

  // Blocks and policies refuse, and nothing is more severe: they come before the configuration whatever it says.
  const outranked = isBlocked || policy !== null;
  const decision = outranked ? 'refuse' : (candidate ?? 'allow');
  const enforced = outranked || standing.enforces;
  return {
    decision,
    effective: enforced ? decision : 'allow',
    enforced,
    rolloutMode: standing.mode,
    reasonCode: reasonCodeOf(config, decision.toUpperCase()),
    policyId: isBlocked || decision === 'allow' ? null : (policy?.id ?? config.policy_id),
    triggeredCategories: triggered,
    matches,
    direction,
    redactions: standing.enforces ? findings.redactions.reduce((sum, { count }) => sum + count, 0) : 0,
    candidate,
  };
};

const isEmpty = (findings: Findings): boolean =>
  !findings.allowlistMiss &&
  findings.categories.length === 0 &&
  findings.denylist.length === 0 &&
  findings.allowlistHits.length === 0 &&
  findings.policies.length === 0 &&
  findings.redactions.length === 0;

const isOlder = (one: PolicyFinding, other: PolicyFinding): boolean =>
  one.createdAt < other.createdAt || (one.createdAt === other.createdAt && one.id < other.id);

const allowIn = (direction: Direction, standing: Standing): Judgement =>
  Object.freeze({
    decision: 'allow',
    effective: 'allow',
    enforced: standing.enforces,
    rolloutMode: standing.mode,
    reasonCode: 'ALLOW',
    policyId: null,
    triggeredCategories: Object.freeze([]),
    matches: Object.freeze([]),
    direction,
    redactions: 0,
    candidate: standing.decides ? 'allow' : null,
  });

const allows = new Map<Standing, Readonly<Record<Direction, Judgement>>>(
  Object.values(standings).map((standing) => [
    standing,
    { request: allowIn('request', standing), response: allowIn('response', standing) },
  ]),
);

/** Nothing was found: the same value every time. */
export const plainAllow = (direction: Direction, standing: Standing): Judgement =>
  allows.get(standing)?.[direction] ?? allowIn(direction, standing);
