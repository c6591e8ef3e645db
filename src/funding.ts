import type { Log } from './core/log.js';
import type { Accounts } from './rules/auth/accounts.js';
import { getFunds } from './rules/auth/funds.js';
import { CREDITS } from './rules/auth/layout.js';
import type { Credits } from './rules/limits/limiter.js';

/** Takes every grant over into the limiter's balance, whoever made it: this process, another replica, a command. */
export interface Funding {
  /** Whether the limiter was told of the organization's funds; it hears of every change from then on. */
  knows(organizationId: string): boolean;
  /** Answers the balance; null = the organization was never given credits. */
  readonly fund: (organizationId: string) => Promise<number | null>;
  /** The same, but a store that is away is only noted: the grant is taken over once it is back. */
  ensure(organizationId: string): Promise<void>;
  stop(): void;
}

const RETRY_MS = 1_000;

export const keepFunded = (accounts: Accounts, credits: Credits, log: Log): Funding => {
  const known = new Set<string>();
  const doubtful = new Set<string>();
  const fund = async (organizationId: string): Promise<number | null> => {
    const funds = await getFunds(accounts, organizationId);
    const balance = funds && (await credits.fund(organizationId, funds));
    known.add(organizationId);
    return balance;
  };
  const ensure = async (organizationId: string): Promise<void> => {
    try {
      await fund(organizationId);
      doubtful.delete(organizationId);
    } catch (error) {
      if (doubtful.size === 0) log.warn({ err: error }, 'Granted credits cannot be taken over yet.');
      known.add(organizationId);
      doubtful.add(organizationId);
    }
  };

  let running = Promise.resolve();
  /** One after another: a change of everything must not become a flood of reads. */
  const refresh = (organizationIds: readonly string[]): void => {
    running = running.then(async () => {
      for (const id of organizationIds) await ensure(id);
    });
  };
  const retry = setInterval(() => {
    if (doubtful.size > 0) refresh([...doubtful]);
  }, RETRY_MS);
  retry.unref();
  const unwatch = accounts.records.watch((change) => {
    if (change === null) refresh([...known]);
    else if (change.collection === CREDITS && known.has(change.partition)) refresh([change.partition]);
  });
  return {
    knows: (organizationId) => known.has(organizationId),
    fund,
    ensure,
    stop: () => {
      clearInterval(retry);
      unwatch();
    },
  };
};
