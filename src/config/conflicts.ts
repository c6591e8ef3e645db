import { accounts } from './conflicts/accounts.js';
import type { Section } from './conflicts/check.js';
import { catalog, modelUses, passthroughs } from './conflicts/models.js';
import { limiter, listener, storage, tokens } from './conflicts/process.js';
import type { Finding } from './faults.js';
import type { Config } from './schema.js';

const checks = [listener, storage, tokens, catalog, passthroughs, modelUses, limiter, accounts];

/** What is wrong between keys that are each well formed. */
export function findConflicts(
  config: Config,
  given: object,
  sound: (section: Section) => boolean,
): Finding[] {
  return checks.filter(({ reads }) => reads.every(sound)).flatMap((check) => check.find(config, given));
}
