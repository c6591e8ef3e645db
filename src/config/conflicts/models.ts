import type { Finding } from '../faults.js';
import type { Config } from '../schema.js';
import { didYouMean } from '../suggest.js';
import { findRepeats, isOwnPath, type Check } from './check.js';

const matches = (pattern: string, name: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;

export const servesModel = (models: Config['models'], name: string): boolean =>
  models.some((model) => matches(model.name, name) || model.aliases.includes(name));

export const catalog: Check = {
  reads: ['providers', 'models'],
  find({ providers, models }, given) {
    if (!('models' in given) && 'providers' in given && !Object.hasOwn(providers, 'sim'))
      return [{ path: ['models'], message: 'is missing; name at least one model of your providers' }];
    if (models.length === 0) return [{ path: ['models'], message: 'is empty; name at least one model' }];
    const names = models.flatMap((model) => [model.name, ...model.aliases]);
    const findings: Finding[] = findRepeats(
      models.flatMap((model, index) => [
        { what: model.name, path: ['models', index, 'name'], message: 'is taken by another model' },
        ...model.aliases.map((alias, at) => ({
          what: alias,
          path: ['models', index, 'aliases', at],
          message: 'is taken by another model',
        })),
      ]),
    );
    for (const [index, model] of models.entries()) {
      if (!Object.hasOwn(providers, model.provider))
        findings.push({
          path: ['models', index, 'provider'],
          message: `is not a name under providers${didYouMean(model.provider, Object.keys(providers))}`,
        });
      for (const [at, fallback] of model.fallbacks.entries()) {
        const path = ['models', index, 'fallbacks', at];
        if (!servesModel(models, fallback))
          findings.push({ path, message: `is not a configured model${didYouMean(fallback, names)}` });
        else if (fallback === model.name || model.aliases.includes(fallback))
          findings.push({ path, message: 'is the model itself' });
      }
    }
    return findings;
  },
};

export const passthroughs: Check = {
  reads: ['providers'],
  find({ providers }) {
    const uses = Object.entries(providers).flatMap(([name, provider]) =>
      provider.kind === 'simulator'
        ? []
        : provider.passthrough.map(({ path }, index) => ({
            what: path,
            at: ['providers', name, 'passthrough', index, 'path'],
          })),
    );
    return [
      ...findRepeats(
        uses.map(({ what, at }) => ({ what, path: at, message: 'is already passed to another provider' })),
      ),
      ...uses
        .filter(({ what }) => isOwnPath(what))
        .map(({ at }) => ({ path: at, message: 'is a path of the gateway itself' })),
    ];
  },
};

export const modelUses: Check = {
  reads: ['models', 'credits', 'policies'],
  find({ models, credits, policies }) {
    const findings: Finding[] = [];
    const names = models.map(({ name }) => name);
    const free = credits.free_request;
    if (free.enabled && !servesModel(models, free.model))
      findings.push({
        path: ['credits', 'free_request', 'model'],
        message: `is not a configured model${didYouMean(free.model, names)}`,
      });
    if (policies.judge.kind === 'model' && !servesModel(models, policies.judge.model))
      findings.push({
        path: ['policies', 'judge', 'model'],
        message: `is not a configured model${didYouMean(policies.judge.model, names)}`,
      });
    return findings;
  },
};
