import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/schema.js';
import { servedBy } from '../config/served-by.js';
import { storeFolder } from '../store.js';
import { configOption, FAILED, jsonOption, OK, readConfig, type Command } from './command.js';
import { ok, warn, type Finding } from './doctor/finding.js';
import { examineNode, examinePort, examineTls } from './doctor/machine.js';
import { examineProviders } from './doctor/providers.js';
import { examineStore } from './doctor/store.js';
import { formatJson } from './table.js';

function examineSecrets(config: Config): Finding[] {
  const folder = storeFolder(config);
  const { pepper, jwt } = config.auth;
  const findings: Finding[] = [];
  if (pepper !== '') findings.push(ok('pepper', 'configured'));
  else if (folder === null) findings.push(warn('pepper', 'new at every start', 'set auth.pepper'));
  else
    findings.push(
      ok('pepper', existsSync(join(folder, 'pepper')) ? `in ${folder}` : 'made at the first start'),
    );
  if (jwt.enabled && jwt.secret !== '' && Buffer.byteLength(jwt.secret) < 32)
    findings.push(
      warn('jwt', 'auth.jwt.secret is shorter than 32 bytes', 'use a longer one: it can be guessed offline'),
    );
  return findings;
}

function examinePrices({ models, providers, bootstrap }: Config): Finding[] {
  if (!bootstrap.organizations.some(({ credits }) => credits !== null)) return [];
  const free = models.filter(
    (model) =>
      servedBy(model).some((provider) => providers[provider]?.kind !== 'simulator') &&
      model.price.input_per_mtok === 0 &&
      model.price.output_per_mtok === 0,
  );
  return free.map(({ name }) =>
    warn('prices', `${name} costs nothing, so credits do not bound it`, 'set its price, if it has one'),
  );
}

export const doctor: Command = {
  name: 'doctor',
  about:
    'Look for what would go wrong: configuration, store, clock, providers, port, permissions. Costs nothing.',
  options: { ...jsonOption, ...configOption },
  async run(input, terminal) {
    const config = await readConfig(input, terminal);
    const findings: Finding[] = [
      examineNode(),
      ok('configuration', 'valid'),
      ...examineSecrets(config),
      ...examinePrices(config),
      ...examineTls(config),
      ...(await examinePort(config)),
      ...(await examineStore(config)),
      ...(await examineProviders(config)),
    ];
    terminal.out(input.switches.has('json') ? formatJson(findings) : findings.map(format).join('\n'));
    return findings.some(({ state }) => state === 'fail') ? FAILED : OK;
  },
};

const format = ({ state, what, detail, hint }: Finding): string =>
  `${state.padEnd(4)}  ${what}: ${detail}${hint === undefined ? '' : `; ${hint}`}`;
