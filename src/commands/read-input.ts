import { parseArgs } from 'node:util';
import { didYouMean } from '../config/suggest.js';
import { UsageError, type Command, type Input } from './command.js';

const HELP: Command['options'] = { help: { about: 'show this help' } };

export const optionsOf = (command: Command): NonNullable<Command['options']> => ({
  ...command.options,
  ...HELP,
});

/** Reads what follows a command's name. Throws a UsageError that says what is wrong and what was probably meant. */
export function readInput(command: Command, words: readonly string[]): Input {
  const options = optionsOf(command);
  const { tokens } = parseArgs({
    args: [...words],
    strict: false,
    tokens: true,
    allowPositionals: true,
    options: Object.fromEntries(
      Object.entries(options).map(([name, { value }]) => [
        name,
        { type: value === undefined ? 'boolean' : 'string' },
      ]),
    ),
  });
  const given: string[] = [];
  const values: Record<string, string> = {};
  const switches = new Set<string>();
  for (const token of tokens) {
    if (token.kind === 'positional') given.push(token.value);
    if (token.kind !== 'option') continue;
    const name = token.name === 'h' ? 'help' : token.name;
    const option = Object.hasOwn(options, name) ? options[name] : undefined;
    if (!option)
      throw new UsageError(`unknown option ${token.rawName}${suggestOption(name, Object.keys(options))}`);
    if (option.value === undefined) {
      if (token.value !== undefined) throw new UsageError(`--${name} takes no value`);
      switches.add(name);
    } else {
      if (token.value === undefined)
        throw new UsageError(`--${name} needs a value: --${name} ${option.value}`);
      values[name] = token.value;
    }
  }
  if (!switches.has('help')) checkArguments(command, given);
  return { arguments: given, values, switches };
}

const suggestOption = (name: string, known: readonly string[]): string =>
  didYouMean(name, known).replace(/mean (.+)\?/, 'mean --$1?');

function checkArguments({ arguments: names = [] }: Command, given: readonly string[]): void {
  const missing = names.filter((name) => !name.startsWith('[')).slice(given.length);
  if (missing.length > 0) throw new UsageError(`missing ${missing.join(' and ')}`);
  const extra = names.at(-1)?.endsWith('...') ? [] : given.slice(names.length);
  if (extra.length > 0) throw new UsageError(`unexpected argument ${JSON.stringify(extra[0])}`);
}

/** A whole number or an amount of money, as the user typed it. */
export function readNumber(text: string, what: string): number {
  const number = Number(text);
  if (text.trim() === '' || !Number.isFinite(number)) throw new UsageError(`${what} must be a number`);
  return number;
}

export const readList = (text: string | undefined): string[] | undefined =>
  text
    ?.split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
