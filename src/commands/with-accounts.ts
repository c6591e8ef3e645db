import { silentLog } from '../core/log.js';
import type { Page } from '../io/records/records.js';
import type { Accounts } from '../rules/auth/accounts.js';
import { getFunds } from '../rules/auth/funds.js';
import { openCredits } from '../limits.js';
import { openAccounts } from '../store.js';
import { readConfig, type Input, type Terminal } from './command.js';

/** Opens the configured store for the length of one command; a gateway may be running on it. */
export async function withAccounts<T>(
  input: Input,
  terminal: Terminal,
  work: (accounts: Accounts) => Promise<T>,
): Promise<T> {
  const config = await readConfig(input, terminal);
  const accounts = await openAccounts(config, silentLog);
  try {
    return await work(accounts);
  } finally {
    await accounts.records.close();
  }
}

/** The same with the balances of the limiter. `balanceOf` takes over what was granted and gives what is left. */
export async function withBalances<T>(
  input: Input,
  terminal: Terminal,
  work: (accounts: Accounts, balanceOf: (organizationId: string) => Promise<number | null>) => Promise<T>,
): Promise<T> {
  const config = await readConfig(input, terminal);
  return withAccounts(input, terminal, async (accounts) => {
    const limiter = await openCredits(config, silentLog);
    try {
      return await work(accounts, async (organizationId) => {
        const funds = await getFunds(accounts, organizationId);
        return funds && limiter.credits.fund(organizationId, funds);
      });
    } finally {
      await limiter.close();
    }
  });
}

const PAGE = 100;

/** Every item of a paged list. */
export async function listAll<T extends { readonly id: string }>(
  list: (page: Page) => Promise<{ readonly items: readonly T[]; readonly hasMore: boolean }>,
): Promise<T[]> {
  const all: T[] = [];
  for (let hasMore = true; hasMore;) {
    const after = all.at(-1)?.id;
    const page = await list({ limit: PAGE, ...(after !== undefined && { after }) });
    all.push(...page.items);
    hasMore = page.hasMore && page.items.length > 0;
  }
  return all;
}
