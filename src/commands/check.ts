import { formatFault } from '../config/faults.js';
import { loadConfig } from '../config/load.js';
import { configFile, configOption, jsonOption, MISUSED, OK, type Command } from './command.js';
import { formatJson } from './table.js';

export const check: Command = {
  name: 'check',
  about: 'Check a configuration file; touches nothing else.',
  arguments: ['[FILE]'],
  options: { ...jsonOption, ...configOption },
  async run(input, terminal) {
    const file = input.arguments[0] ?? configFile(input, terminal);
    const result = await loadConfig(file, terminal.environment);
    const faults = 'faults' in result ? result.faults : [];
    if (input.switches.has('json')) terminal.out(formatJson({ valid: faults.length === 0, faults }));
    else if (faults.length > 0) terminal.err(faults.map(formatFault).join('\n'));
    else terminal.out(`${file ?? 'The built-in configuration'} is valid.`);
    return faults.length === 0 ? OK : MISUSED;
  },
};
