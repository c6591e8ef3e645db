import type { NeutralRequest } from './neutral-request.js';

/** The request that leaves everything to the model. */
export const nothingAsked: NeutralRequest = {
  stream: false,
  system: [],
  turns: [],
  tools: [],
  toolChoice: null,
  parallelTools: null,
  maxTokens: null,
  sampling: {
    temperature: null,
    topP: null,
    topK: null,
    seed: null,
    frequencyPenalty: null,
    presencePenalty: null,
    logitBias: null,
  },
  stop: null,
  reasoning: { wanted: null, effort: null, budgetTokens: null, summary: null },
  output: null,
  verbosity: null,
  userId: null,
  metadata: null,
  cacheKey: null,
  cacheRetention: null,
  serviceTier: null,
  store: null,
  leftovers: [],
};
