import type { Price } from '../../core/usage.js';

/** A row of the `models` configuration. */
export interface Model {
  /** An exact name, or a prefix followed by `*`. */
  readonly name: string;
  readonly aliases: readonly string[];
  readonly provider: string;
  /** What the provider calls it; null = as the client wrote it. */
  readonly upstreamModel: string | null;
  /** Names of other models, tried in order. */
  readonly fallbacks: readonly string[];
  readonly maxOutputTokens: number;
  readonly price: Price;
}

/** One provider that can serve a request, and what it costs there. */
export interface Choice {
  readonly provider: string;
  readonly upstreamModel: string;
  readonly maxOutputTokens: number;
  readonly price: Price;
}

export interface Resolved {
  /** The configured name: bounded, so fit for a metric's label. */
  readonly label: string;
  /** The model itself first, then its fallbacks. */
  readonly choices: readonly Choice[];
}

export type Dearest = Pick<Choice, 'price' | 'maxOutputTokens'>;

export const matchesModel = (pattern: string, name: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;

/** Finds who serves a model name: exact names and aliases first, then the longest matching prefix. */
export class Catalog {
  readonly #exact = new Map<string, Model>();
  readonly #prefixes: readonly Model[];
  readonly #dearest = new Map<Model, Dearest>();

  constructor(models: readonly Model[]) {
    for (const model of models) {
      for (const name of [model.name, ...model.aliases])
        if (!name.endsWith('*')) this.#exact.set(name, model);
    }
    this.#prefixes = models
      .filter((model) => model.name.endsWith('*'))
      .sort((one, other) => other.name.length - one.name.length);
  }

  resolve(name: string): Resolved | null {
    const model = this.#find(name);
    if (!model) return null;
    const fallbacks = model.fallbacks.flatMap((fallback) => {
      const found = this.#find(fallback);
      return found ? [choice(found, fallback)] : [];
    });
    return { label: model.name, choices: [choice(model, name), ...fallbacks] };
  }

  /** What a request for this model may cost at most, whichever of its choices answers; null = there is no such model. */
  dearest(name: string): Dearest | null {
    const model = this.#find(name);
    if (!model) return null;
    let known = this.#dearest.get(model);
    if (!known) this.#dearest.set(model, (known = dearestOf(this.resolve(name)!.choices)));
    return known;
  }

  #find(name: string): Model | undefined {
    return this.#exact.get(name) ?? this.#prefixes.find((model) => matchesModel(model.name, name));
  }
}

const choice = (model: Model, asked: string): Choice => ({
  provider: model.provider,
  upstreamModel: model.upstreamModel ?? (model.name.endsWith('*') ? asked : model.name),
  maxOutputTokens: model.maxOutputTokens,
  price: model.price,
});

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
