import type { Usage } from '../../core/usage.js';
import type { Json } from '../dialect.js';
import { objectIn } from '../event.js';
import { tokensIn, usageOfPrompt } from '../tokens.js';

export const readResponsesUsage = (usage: Json): Usage => {
  const input = objectIn(usage, 'input_tokens_details');
  return usageOfPrompt({
    prompt: tokensIn(usage, 'input_tokens'),
    cacheRead: tokensIn(input, 'cached_tokens'),
    cacheWrite: tokensIn(input, 'cache_write_tokens'),
    output: tokensIn(usage, 'output_tokens'),
    reasoning: tokensIn(objectIn(usage, 'output_tokens_details'), 'reasoning_tokens'),
  });
};
