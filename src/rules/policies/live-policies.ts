import type { Clock } from '../../core/clock.js';
import type { Log } from '../../core/log.js';
import { createLive, type Live } from '../../io/records/live.js';
import type { Records, Stored } from '../../io/records/records.js';
import type { RuleCompiler } from './compiler.js';
import { POLICIES } from './layout.js';
import type { PolicySet } from './policy-set.js';
import { compilePublishedSlowly } from './published.js';
import { readPublished, type PublishedPolicy } from './published-policy.js';

export interface LivePoliciesOptions {
  readonly records: Records;
  readonly compiler: RuleCompiler;
  readonly clock: Clock;
  readonly log: Log;
  /** A policy could not be read or compiled, or failed on what it read: it does not match. */
  readonly onFault?: (policyId: string) => void;
  /** An organization's policies can no longer be confirmed (true), or can be again (false). */
  readonly onStale?: (organizationId: string, stale: boolean) => void;
  readonly maxOrganizations?: number;
}

const PAGE = 100;

/** The policies in force in each organization, compiled when they change; a publish acts within a second (D32). */
export const createLivePolicies = (options: LivePoliciesOptions): Live<PolicySet> => {
  const { records, compiler, clock, log, onFault = () => {}, onStale, maxOrganizations } = options;
  const read = (stored: Stored): PublishedPolicy[] => {
    try {
      const policy = readPublished(stored);
      return policy ? [policy] : [];
    } catch (error) {
      log.error({ err: error, policy: stored.id }, 'A policy cannot be read; it does not act.');
      onFault(stored.id);
      return [];
    }
  };
  return createLive<PolicySet>({
    records,
    clock,
    log,
    load: async (organizationId, previous) => {
      const stored = await readAll(records, organizationId);
      return compilePublishedSlowly(stored.flatMap(read), compiler, { onFault, previous });
    },
    touches: ({ collection }) => collection === POLICIES,
    ...(onStale && { onStale }),
    ...(maxOrganizations !== undefined && { max: maxOrganizations }),
  });
};

const readAll = async (records: Records, organizationId: string): Promise<readonly Stored[]> => {
  const all: Stored[] = [];
  for (;;) {
    const after = all.at(-1)?.id;
    const page = await records.list(organizationId, POLICIES, {
      limit: PAGE,
      ...(after !== undefined && { after }),
    });
    all.push(...page.items);
    if (!page.hasMore) return all;
  }
};
