import { GatewayError } from '../../core/errors.js';
import type { Call } from '../../core/exchange.js';
import type { GatewayConfig } from '../../rules/policy-gateway/config.js';
import { refusalHeaders, type ShowPolicy } from '../../rules/policy-gateway/headers.js';
import { policyHeadersOf } from './policy-headers.js';

export interface ProjectCheckParts {
  readonly configOf: (organizationId: string) => GatewayConfig | Promise<GatewayConfig>;
  readonly show: ShowPolicy;
}

/** D25: on every road of an application, also those that nobody reviews. */
export const createProjectCheck =
  ({ configOf, show }: ProjectCheckParts) =>
  async ({ principal, headers }: Pick<Call, 'principal' | 'headers'>): Promise<void> => {
    const { project } = policyHeadersOf(headers);
    if (project === null || project === principal.projectId) return;
    const config = await configOf(principal.organization.id);
    if (!config.org_controls.project_keys) return;
    throw new GatewayError('project_mismatch', `This key does not belong to the project ${project}.`, {
      param: 'x-policy-project',
      headers: { ...refusalHeaders(config, 'REFUSE', show), 'x-should-retry': 'false' },
    });
  };
