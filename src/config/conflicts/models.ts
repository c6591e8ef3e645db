import type { Finding, Path } from '../faults.js';
import type { Config } from '../schema.js';
import { servedBy } from '../served-by.js';
import { didYouMean } from '../suggest.js';
import { findRepeats, isOwnPath, type Check } from './check.js';

const matches = (pattern: string, name: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;

export const servesModel = (models: Config['models'], name: string): boolean =>
  models.some((model) => matches(model.name, name) || model.aliases.includes(name));

type Model = Config['models'][number];
type Providers = Config['providers'];

/** Names that only one model may have. */
const nameUses = (model: Model, index: number) => {
  const use = (key: string, message: string) => (what: string, at: number) => ({
    what,
    path: ['models', index, key, at],
    message,
  });
  return [
    { what: model.name, path: ['models', index, 'name'], message: 'is taken by another model' },
    ...model.aliases.map(use('aliases', 'is taken by another model')),
    ...model.listed.map(use('listed', 'is the name of a model already')),
  ];
};

const findStrays = (model: Model, path: Path): Finding[] =>
  model.listed.flatMap((name, at) => {
    if (!model.name.endsWith('*'))
      return [{ path: [...path, 'listed', at], message: 'has no effect: the model is listed by its name' }];
    return matches(model.name, name)
      ? []
      : [{ path: [...path, 'listed', at], message: `does not begin as ${model.name} says` }];
  });

const strangeProvider = (provider: string, providers: Providers, path: Path): Finding[] =>
  Object.hasOwn(providers, provider)
    ? []
    : [{ path, message: `is not a name under providers${didYouMean(provider, Object.keys(providers))}` }];

/** Who serves it: one provider, or several targets. */
const findUnserved = (model: Model, providers: Providers, path: Path): Finding[] => {
  const { provider, targets, upstream_model: upstreamModel } = model;
  if (targets.length === 0)
    return provider === null
      ? [{ path: [...path, 'provider'], message: 'is missing; name one, or several under targets' }]
      : strangeProvider(provider, providers, [...path, 'provider']);
  const findings = targets.flatMap((target, at) =>
    strangeProvider(target.provider, providers, [...path, 'targets', at, 'provider']),
  );
  if (provider !== null)
    findings.push({ path: [...path, 'provider'], message: 'stands beside targets; give one of the two' });
  if (upstreamModel !== null)
    findings.push({ path: [...path, 'upstream_model'], message: 'belongs to each of the targets' });
  if (targets.every(({ weight }) => weight === 0))
    findings.push({ path: [...path, 'targets'], message: 'must have a weight above 0 among them' });
  return [
    ...findings,
    ...findRepeats(
      targets.map((target, at) => ({
        what: JSON.stringify([target.provider, target.upstream_model]),
        path: [...path, 'targets', at],
        message: 'is the same target again; give one of them a larger weight',
      })),
    ),
  ];
};

/** A flag for servers of another kind is a mistake in the making. */
const findIdleFlags = (model: Model, providers: Providers, path: Path): Finding[] => {
  const idle = (flags: Model['flags'] | undefined, names: readonly string[], place: Path): Finding[] => {
    const kinds = names.map((name) => (Object.hasOwn(providers, name) ? providers[name]!.kind : null));
    const isUsed = kinds.some(
      (kind) => kind === null || kind === 'openai_chat' || kind === 'openai_responses',
    );
    return flags?.native_messages && !isUsed
      ? [
          {
            path: [...place, 'flags', 'native_messages'],
            message: 'has no effect: it is for providers of kind openai_chat or openai_responses',
          },
        ]
      : [];
  };
  return [
    ...idle(model.flags, servedBy(model), path),
    ...model.targets.flatMap((target, at) => idle(target.flags, [target.provider], [...path, 'targets', at])),
  ];
};

const findLostFallbacks = (model: Model, models: Config['models'], path: Path): Finding[] => {
  const names = models.flatMap(({ name, aliases }) => [name, ...aliases]);
  return model.fallbacks.flatMap((fallback, at) => {
    const place = [...path, 'fallbacks', at];
    if (!servesModel(models, fallback))
      return [{ path: place, message: `is not a configured model${didYouMean(fallback, names)}` }];
    const isItself = fallback === model.name || model.aliases.includes(fallback);
    return isItself ? [{ path: place, message: 'is the model itself' }] : [];
  });
};

export const catalog: Check = {
  reads: ['providers', 'models'],
  find({ providers, models }, given) {
    if (!('models' in given) && 'providers' in given && !Object.hasOwn(providers, 'sim'))
      return [{ path: ['models'], message: 'is missing; name at least one model of your providers' }];
    if (models.length === 0) return [{ path: ['models'], message: 'is empty; name at least one model' }];
    return [
      ...findRepeats(models.flatMap(nameUses)),
      ...models.flatMap((model, index) => {
        const path = ['models', index];
        return [
          ...findUnserved(model, providers, path),
          ...findStrays(model, path),
          ...findIdleFlags(model, providers, path),
          ...findLostFallbacks(model, models, path),
        ];
      }),
    ];
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
