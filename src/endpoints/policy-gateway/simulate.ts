import type { AuditFacts, EventContent } from '../../core/audit.js';
import { json, type Call, type JsonReply } from '../../core/exchange.js';
import type { Direction, Judgement, Match } from '../../core/review.js';
import type { OnceParts } from '../../rules/idempotency/once.js';
import { fillDefaults, type GatewayConfig } from '../../rules/policy-gateway/config.js';
import { decide, noFindings, type Findings } from '../../rules/policy-gateway/decide.js';
import { simulationFacts } from '../../rules/policy-gateway/facts.js';
import { sampledStanding } from '../../rules/policy-gateway/rollout.js';
import { getConfig } from '../../rules/policy-gateway/store.js';
import { actOnce } from '../administration/mutate.js';
import { parseBody } from '../administration/parse.js';
import { actorOf } from './actor.js';
import { NewSimulation, type AskedSimulation } from './simulate-schemas.js';

/** Where one of the findings stands in the text. */
export interface Place {
  readonly kind: Match['kind'];
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/** What every rule made of a text. */
export interface Inspection {
  readonly findings: Findings;
  readonly places: readonly Place[];
}

export interface SimulateParts extends OnceParts {
  /** Reads a text as enforcement would, for the caller's organization and project. */
  readonly inspect: (
    call: Call,
    text: string,
    direction: Direction,
    config: GatewayConfig,
  ) => Promise<Inspection>;
  readonly isRolledBack: (organizationId: string, policyId: string) => boolean;
  readonly record: (facts: AuditFacts) => Promise<void>;
  /** What an event keeps of a text; null = nothing. */
  readonly contentOf: ((text: string, direction: Direction) => EventContent) | null;
}

/** Seed 4.8: the function that decides on requests, its inputs replaced by the scenario (D20). */
export const createSimulateDoor =
  (parts: SimulateParts) =>
  async (call: Call): Promise<JsonReply> => {
    const asked = parseBody(NewSimulation, call.body);
    const run = (): Promise<object> => simulate(parts, call, asked);
    // One that leaves no event changes nothing, so it may be run as often as it is sent.
    return asked.persist ? actOnce(call, parts, run) : json(await run());
  };

const simulate = async (parts: SimulateParts, call: Call, asked: AskedSimulation): Promise<object> => {
  const { id } = call.principal.organization;
  const candidate = asked.config ?? asked.policy;
  const config = candidate ? fillDefaults(candidate) : (await getConfig(parts, id)).config;
  const { text, direction = 'request' } = asked.scenario ?? {};
  const categories = asked.scenario?.categories ?? asked.categories;

  const inspection = text === undefined ? null : await parts.inspect(call, text, direction, config);
  const findings = inspection?.findings ?? noFindings(direction);
  const standing = sampledStanding(config, parts.isRolledBack(id, config.policy_id));
  const judgement = decide(config, categories ? { ...findings, categories } : findings, standing);

  if (asked.persist)
    await parts.record({
      ...simulationFacts(actorOf(call), config, judgement),
      ...(text !== undefined && parts.contentOf && { content: parts.contentOf(text, direction) }),
    });
  return {
    decision: judgement.decision,
    reason_code: judgement.reasonCode,
    triggered_categories: judgement.triggeredCategories,
    rollout_mode: judgement.rolloutMode,
    policy_id: judgement.policyId ?? config.policy_id,
    ...(inspection && showInspected(judgement, inspection.places)),
  };
};

const showInspected = ({ effective, enforced, matches }: Judgement, places: readonly Place[]) => ({
  effective_decision: effective,
  enforced,
  matches: matches.map((match) => ({
    kind: match.kind,
    name: match.name,
    enforcing: match.enforcing,
    ...(match.score !== undefined && { score: match.score }),
    ...(match.policyName !== undefined && { policy_name: match.policyName }),
    ...(match.fallback && { fallback: true }),
    ...(match.policyVersion !== undefined && { policy_version: match.policyVersion }),
    places: places
      .filter(({ kind, name }) => kind === match.kind && name === match.name)
      .map(({ from, to }) => ({ from, to })),
  })),
});
