import type { ModelConfig } from './schema.js';

/** The providers of a model, by name. */
export const servedBy = ({ provider, targets }: ModelConfig): readonly string[] =>
  provider === null ? targets.map((target) => target.provider) : [provider];
