import { GatewayError } from '../../core/errors.js';
import { POLICIES } from './layout.js';
import type { PolicyBook } from './book.js';
import { createPolicy, type NewPolicy } from './change.js';
import { checkRule } from './rule.js';

/** A policy the configuration wants to exist. */
export interface SeedPolicy extends NewPolicy {
  readonly id: string;
  readonly publish: boolean;
}

/** Creates the policies that are absent and changes nothing that is there; any number of replicas may do it at once. */
export const seedPolicies = async (
  book: PolicyBook,
  organizationId: string,
  policies: readonly SeedPolicy[],
): Promise<void> => {
  for (const { id, publish, ...policy } of policies) {
    if (await book.records.get(organizationId, POLICIES, id)) continue;
    try {
      checkRule(policy.rule);
      await createPolicy(book, organizationId, policy, { id, publish });
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'already_exists') continue;
      if (!(error instanceof GatewayError)) throw error;
      throw new Error(`The bootstrap policy ${id} cannot be made: ${error.message}`, { cause: error });
    }
  }
};
