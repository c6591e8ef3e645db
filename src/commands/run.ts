import { didYouMean } from '../config/suggest.js';
import { GatewayError } from '../core/errors.js';
import { StoreUnavailable } from '../io/records/records.js';
import { openapi, schema, version } from './about.js';
import { verifyAudit } from './audit.js';
import { backup, restore } from './backup.js';
import { check } from './check.js';
import { ConfigError, FAILED, MISUSED, OK, UsageError, type Command, type Terminal } from './command.js';
import { addToBalance, notePayment } from './credits.js';
import { doctor } from './doctor.js';
import { reasonOf } from './doctor/finding.js';
import { healthcheck } from './healthcheck.js';
import { helpOf, overview, usageOf } from './help.js';
import { createKey, listKeys, revokeKey } from './keys.js';
import { createOrg, listOrgs, setOrg } from './orgs.js';
import { readInput } from './read-input.js';
import { serve } from './serve.js';

/** Every command; a new one is added here and nowhere else. */
export const commands: readonly Command[] = [
  serve,
  check,
  createKey,
  listKeys,
  revokeKey,
  createOrg,
  setOrg,
  listOrgs,
  addToBalance,
  notePayment,
  backup,
  restore,
  verifyAudit,
  doctor,
  schema,
  openapi,
  version,
  healthcheck,
];

/** Runs a command line and gives the exit code: 0 done, 1 failed, 2 wrong usage or configuration. */
export async function run(words: readonly string[], terminal: Terminal): Promise<number> {
  try {
    return await dispatch(words, terminal);
  } catch (error) {
    if (error instanceof ConfigError) terminal.err(error.message);
    else terminal.err(`sluice: ${explain(error)}`);
    return isMisuse(error) ? MISUSED : FAILED;
  }
}

const isMisuse = (error: unknown): boolean =>
  error instanceof ConfigError ||
  error instanceof UsageError ||
  (error instanceof GatewayError && error.code === 'invalid_parameter');

async function dispatch(words: readonly string[], terminal: Terminal): Promise<number> {
  const [first = 'serve'] = words;
  if (first === 'help' || first === '--help' || first === '-h') return showHelp(words.slice(1), terminal);
  if (first === '--version' || first === '-v') return dispatch(['version', ...words.slice(1)], terminal);
  if (first.startsWith('-')) return dispatch(['serve', ...words], terminal);
  const command = findCommand(words);
  if (!command) return refuse(words, terminal);
  try {
    const input = readInput(command, words.slice(command.name.split(' ').length));
    if (!input.switches.has('help')) return await command.run(input, terminal);
    terminal.out(helpOf(command));
    return OK;
  } catch (error) {
    if (error instanceof UsageError) error.message += `\nusage: ${usageOf(command)}`;
    throw error;
  }
}

const findCommand = (words: readonly string[]): Command | undefined =>
  commands.find(({ name }) => name === words.slice(0, name.split(' ').length).join(' '));

const familyOf = (word: string): Command[] => commands.filter(({ name }) => name.startsWith(`${word} `));

function showHelp(words: readonly string[], terminal: Terminal): number {
  const command = findCommand(words);
  const family = familyOf(words[0] ?? '');
  if (words.length > 0 && !command && family.length === 0) return refuse(words, terminal);
  terminal.out(command ? helpOf(command) : overview(family.length > 0 ? family : commands));
  return OK;
}

function refuse([first = '', second]: readonly string[], terminal: Terminal): number {
  const family = familyOf(first);
  if (family.length > 0 && (second === undefined || second === '--help' || second === '-h')) {
    const toldOnRequest = second !== undefined;
    terminal[toldOnRequest ? 'out' : 'err'](overview(family));
    return toldOnRequest ? OK : MISUSED;
  }
  const asked = family.length > 0 ? `${first} ${second ?? ''}` : first;
  const known = family.length > 0 ? family.map(({ name }) => name) : names();
  throw new UsageError(
    `unknown command ${JSON.stringify(asked)}${didYouMean(asked, known)}\nsee: sluice help`,
  );
}

const names = (): string[] => [...new Set(commands.map(({ name }) => name.split(' ')[0]!)), 'help'];

function explain(error: unknown): string {
  if (error instanceof StoreUnavailable) return `the store does not answer (${reasonOf(error)})`;
  if (error instanceof UsageError || error instanceof GatewayError || error instanceof Error)
    return error.message;
  return 'something unknown went wrong';
}
