import type { UpstreamFlags } from '../../core/upstream-flags.js';
import type { Price } from '../../core/usage.js';
import { orderByWeight } from './order.js';

/** One provider that serves a model. */
export interface Target {
  readonly provider: string;
  /** What the provider calls it; null = as the client wrote it. */
  readonly upstreamModel: string | null;
  /** Its share of the requests beside the other weights; 0 = only when the others fail. */
  readonly weight: number;
  readonly flags: UpstreamFlags;
  /** Where a provider of another format takes Messages requests as they are; null = nowhere. */
  readonly messagesPath: string | null;
}

/** A row of the `models` configuration. */
export interface Model {
  /** An exact name, or a prefix followed by `*`. */
  readonly name: string;
  readonly aliases: readonly string[];
  /** Names that a list of models shows for a prefix. */
  readonly listed: readonly string[];
  /** At least one. */
  readonly targets: readonly Target[];
  /** Names of other models, tried in order. */
  readonly fallbacks: readonly string[];
  readonly maxOutputTokens: number;
  readonly price: Price;
}

/** One provider that can serve a request, and what it costs there. */
export interface Choice extends Omit<Target, 'weight'> {
  readonly upstreamModel: string;
  readonly maxOutputTokens: number;
  readonly price: Price;
  /** Of another model than the one that was asked for. */
  readonly isFallback: boolean;
}

export interface Resolved {
  /** The configured name: bounded, so fit for a metric's label. */
  readonly label: string;
  /** The targets of the model itself first, then its fallbacks. */
  readonly choices: readonly Choice[];
}

/** A name that clients may ask for, as a list shows it. */
export interface Listed {
  readonly id: string;
  readonly provider: string;
  readonly maxOutputTokens: number;
}

export type Dearest = Pick<Choice, 'price' | 'maxOutputTokens'>;

const isPrefix = (name: string): boolean => name.endsWith('*');

const matchesModel = (pattern: string, name: string): boolean =>
  isPrefix(pattern) ? name.startsWith(pattern.slice(0, -1)) : name === pattern;

/** Whether a key with this list of names and prefixes may use a model; null = it may use all. */
export const mayUse = (allowed: readonly string[] | null, name: string): boolean =>
  allowed === null || allowed.some((pattern) => matchesModel(pattern, name));

/** Finds who serves a model name: exact names and aliases first, then the longest matching prefix. */
export class Catalog {
  readonly #models: readonly Model[];
  readonly #exact = new Map<string, Model>();
  readonly #prefixes: readonly Model[];
  readonly #dearest = new Map<Model, Dearest>();

  constructor(models: readonly Model[]) {
    this.#models = models;
    for (const model of models)
      for (const name of [model.name, ...model.aliases]) if (!isPrefix(name)) this.#exact.set(name, model);
    this.#prefixes = models
      .filter(({ name }) => isPrefix(name))
      .sort((one, other) => other.name.length - one.name.length);
  }

  /** `draw` decides which of several targets comes first: the same one gives the same order, many share by weight. */
  resolve(name: string, draw: string): Resolved | null {
    const model = this.#find(name);
    if (!model) return null;
    const choices = choicesOf(model, name, draw, false);
    for (const fallback of model.fallbacks) {
      const found = this.#find(fallback);
      if (found) choices.push(...choicesOf(found, fallback, draw, true));
    }
    return { label: model.name, choices };
  }

  /** What a request for this model may cost at most, whichever of its choices answers; null = there is no such model. */
  dearest(name: string): Dearest | null {
    const model = this.#find(name);
    if (!model) return null;
    let known = this.#dearest.get(model);
    if (!known) this.#dearest.set(model, (known = dearestOf(this.resolve(name, '')!.choices)));
    return known;
  }

  /** The names a key may use, in the order of the configuration; of a prefix those the operator or the key names. */
  list(allowed: readonly string[] | null): readonly Listed[] {
    const named = this.#models.flatMap(({ name, aliases, listed }) => [
      ...(isPrefix(name) ? listed : [name]),
      ...aliases,
    ]);
    const asked = (allowed ?? []).filter((name) => !isPrefix(name));
    return [...new Set([...named, ...asked])].flatMap((id) => this.#show(id, allowed) ?? []);
  }

  /** One name that a key may use, listed or not; null = it may not, or there is no such model. */
  look(id: string, allowed: readonly string[] | null): Listed | null {
    return isPrefix(id) ? null : this.#show(id, allowed);
  }

  #show(id: string, allowed: readonly string[] | null): Listed | null {
    const model = mayUse(allowed, id) ? this.#find(id) : undefined;
    return model
      ? { id, provider: model.targets[0]!.provider, maxOutputTokens: model.maxOutputTokens }
      : null;
  }

  #find(name: string): Model | undefined {
    return this.#exact.get(name) ?? this.#prefixes.find((model) => matchesModel(model.name, name));
  }
}

const choicesOf = (model: Model, asked: string, draw: string, isFallback: boolean): Choice[] =>
  orderByWeight(model.targets, draw).map(({ provider, upstreamModel, flags, messagesPath }) => ({
    provider,
    upstreamModel: upstreamModel ?? (isPrefix(model.name) ? asked : model.name),
    flags,
    messagesPath,
    maxOutputTokens: model.maxOutputTokens,
    price: model.price,
    isFallback,
  }));

const dearestOf = (choices: readonly Choice[]): Dearest => {
  const most = (of: (choice: Choice) => number): number => Math.max(...choices.map(of));
  return {
    price: {
      inputPerMtok: most(({ price }) => price.inputPerMtok),
      outputPerMtok: most(({ price }) => price.outputPerMtok),
      cacheReadPerMtok: most(({ price }) => price.cacheReadPerMtok),
      cacheWritePerMtok: most(({ price }) => price.cacheWritePerMtok),
    },
    maxOutputTokens: most(({ maxOutputTokens }) => maxOutputTokens),
  };
};
