import { loadConfig } from '../config/load.js';
import { formatFault } from '../config/faults.js';
import type { Environment } from '../config/references.js';
import type { Config } from '../config/schema.js';

/** Where a command speaks and what it knows of its surroundings. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Whether a person reads `out`. */
  readonly isInteractive: boolean;
  readonly environment: Environment;
}

export interface Option {
  /** What stands for its value in help; a switch has none. */
  readonly value?: string;
  readonly about: string;
}

export interface Command {
  /** One or two words: `check`, `keys create`. */
  readonly name: string;
  readonly about: string;
  /** Names of the arguments; optional ones in brackets; a last one with dots may be repeated. */
  readonly arguments?: readonly string[];
  readonly options?: Readonly<Record<string, Option>>;
  /** Gives the exit code. */
  run(input: Input, terminal: Terminal): Promise<number>;
}

/** A command line that was read against a command. */
export interface Input {
  readonly arguments: readonly string[];
  readonly values: Readonly<Record<string, string>>;
  readonly switches: ReadonlySet<string>;
}

/** The command line is wrong. */
export class UsageError extends Error {}

/** The configuration is wrong; one line per fault. */
export class ConfigError extends Error {}

export const OK = 0;
export const FAILED = 1;
export const MISUSED = 2;

export const configOption = {
  config: {
    value: 'FILE',
    about: 'the configuration file (or SLUICE_CONFIG); without one, the built-in defaults',
  },
} as const;

export const jsonOption = { json: { about: 'print JSON, for scripts' } } as const;

export const configFile = (input: Input, { environment }: Terminal): string | null => {
  const file = input.values['config'] ?? environment['SLUICE_CONFIG'] ?? '';
  return file === '' ? null : file;
};

export async function readConfig(input: Input, terminal: Terminal): Promise<Config> {
  const result = await loadConfig(configFile(input, terminal), terminal.environment);
  if ('faults' in result) throw new ConfigError(result.faults.map(formatFault).join('\n'));
  return result.config;
}
