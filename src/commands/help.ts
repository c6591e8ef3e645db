import type { Command } from './command.js';
import { optionsOf } from './read-input.js';

const columns = (rows: readonly (readonly [string, string])[]): string => {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n');
};

export const usageOf = ({ name, arguments: names = [] }: Command): string =>
  ['sluice', name, ...names, '[options]'].join(' ');

export const helpOf = (command: Command): string => {
  const options = Object.entries(optionsOf(command)).map(
    ([name, { value, about }]) => [value === undefined ? `--${name}` : `--${name} ${value}`, about] as const,
  );
  return `${usageOf(command)}\n\n${command.about}\n\n${columns(options)}\n`;
};

/** All commands, or those of one family. */
export const overview = (commands: readonly Command[]): string =>
  `sluice [command] [options]

A policy gateway for language models. Without a command it serves.

${columns(commands.map(({ name, arguments: names = [], about }) => [[name, ...names].join(' '), about]))}

sluice help COMMAND tells more. Exit codes: 0 done, 1 failed, 2 wrong usage or configuration.
`;
