import type { Call } from '../../core/exchange.js';
import type { Direction } from '../../core/review.js';
import { compileConfig } from '../../rules/policy-gateway/compile.js';
import type { GatewayConfig } from '../../rules/policy-gateway/config.js';
import { sampledStanding } from '../../rules/policy-gateway/rollout.js';
import { createRedactor } from '../../text/redact.js';
import type { Inspection, Place } from '../policy-gateway/simulate.js';
import { Collected } from './collected.js';
import { createInspect } from './inspect.js';
import type { ReviewParts } from './review.js';
import { looksForData, type Scene } from './scene.js';

/** Reads one text as an exchange would be read, under a configuration that need not be the stored one (D20). */
export const createInspection = (parts: ReviewParts) => {
  const inspect = createInspect(parts);
  return async (
    { principal, route, signal }: Call,
    text: string,
    direction: Direction,
    config: GatewayConfig,
  ): Promise<Inspection> => {
    const { organization, projectId } = principal;
    const compiled = await compileConfig(config);
    const scene: Scene = {
      compiled,
      policies: await parts.policiesOf(organization.id),
      standing: sampledStanding(config, parts.spikes.isRolledBack(organization.id, config.policy_id)),
      subject: { projectId, model: '', endpoint: route.path, user: null, isSimulated: true },
      flagged: [],
    };
    const found = await inspect(text, direction, scene, signal);
    const collected = new Collected(direction, scene.flagged);
    collected.categories(found.categories, found.scores);
    collected.denied(found.denied);
    collected.policies(found.policies);
    if (compiled.allowlist && direction === 'request') {
      collected.listed(found.listed);
      collected.allowlistMiss = found.listed.length === 0;
    }
    const places: Place[] = [
      ...(compiled.denylist?.find(text) ?? []).map(({ term, from, to }) => ({
        kind: 'denylist' as const,
        name: term,
        from,
        to,
      })),
      ...(compiled.allowlist?.find(text) ?? []).map(({ term, from, to }) => ({
        kind: 'allowlist' as const,
        name: term,
        from,
        to,
      })),
    ];
    if (looksForData(scene))
      for (const { kind, from, to } of createRedactor().spans(text)) {
        collected.masked(kind);
        places.push({ kind: 'redaction', name: kind, from, to });
      }
    return { findings: collected.findings, places };
  };
};
