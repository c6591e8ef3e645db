import { addCredits, recordPayment } from '../rules/auth/credits.js';
import { configOption, jsonOption, OK, type Command } from './command.js';
import { readNumber } from './read-input.js';
import { formatJson } from './table.js';
import { withAccounts, withBalances } from './with-accounts.js';

export const addToBalance: Command = {
  name: 'credits add',
  about: 'Add credits to a balance; take some back with: credits add ORG -- -N',
  arguments: ['ORG', 'CREDITS'],
  options: {
    reason: { value: 'TEXT', about: 'kept with the change' },
    ...jsonOption,
    ...configOption,
  },
  async run(input, terminal) {
    const [organization, text] = input.arguments as [string, string];
    const amount = readNumber(text, 'CREDITS');
    const reason = input.values['reason'] ?? 'command line';
    const balance = await withBalances(input, terminal, async (accounts, balanceOf) => {
      await addCredits(accounts, organization, amount, reason);
      return balanceOf(organization);
    });
    const shown = { organization_id: organization, remaining_credits: balance };
    terminal.out(input.switches.has('json') ? formatJson(shown) : `${organization} has ${balance} credits.`);
    return OK;
  },
};

export const notePayment: Command = {
  name: 'credits payment',
  about: 'Record a payment in US dollars, which may raise the tier; it adds no credits.',
  arguments: ['ORG', 'USD'],
  options: { ...jsonOption, ...configOption },
  async run(input, terminal) {
    const [organization, text] = input.arguments as [string, string];
    const usd = readNumber(text, 'USD');
    const { lifetimePaidUsd } = await withAccounts(input, terminal, (accounts) =>
      recordPayment(accounts, organization, usd),
    );
    const shown = { organization_id: organization, lifetime_paid_usd: lifetimePaidUsd };
    terminal.out(
      input.switches.has('json')
        ? formatJson(shown)
        : `${organization} has paid ${lifetimePaidUsd} USD in all.`,
    );
    return OK;
  },
};
