import { formatFault } from '../../src/config/faults.js';
import { parseConfig } from '../../src/config/load.js';
import type { Environment } from '../../src/config/references.js';
import type { Config } from '../../src/config/schema.js';
import { configFrom } from '../support/configuration.js';

/** The faults of a text, as a user sees them. */
export async function faultsOf(text: string, environment: Environment = {}): Promise<string[]> {
  const result = await parseConfig(text, 'gateway.yaml', environment);
  return 'faults' in result ? result.faults.map(formatFault) : [];
}

/** The configuration a text gives; throws its faults. */
export const configOf = (text: string, env: Record<string, string> = {}): Promise<Config> =>
  configFrom(text, { env });
