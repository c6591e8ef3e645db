import type { Call } from '../../core/exchange.js';
import type { Actor } from '../../rules/policy-gateway/facts.js';

/** Who calls, as events name them. */
export const actorOf = ({ principal, requestId, route }: Call): Actor => ({
  organizationId: principal.organization.id,
  projectId: principal.projectId,
  keyId: principal.keyId,
  requestId,
  endpoint: route.path,
});
