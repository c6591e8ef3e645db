import type { Usage } from '../../core/usage.js';
import type { Json } from '../dialect.js';
import { objectIn } from '../event.js';
import { tokensIn, usageOfPrompt } from '../tokens.js';

export const readChatUsage = (usage: Json): Usage => {
  const prompt = objectIn(usage, 'prompt_tokens_details');
  return usageOfPrompt({
    prompt: tokensIn(usage, 'prompt_tokens'),
    cacheRead: tokensIn(prompt, 'cached_tokens'),
    cacheWrite: tokensIn(prompt, 'cache_write_tokens'),
    output: tokensIn(usage, 'completion_tokens'),
    reasoning: tokensIn(objectIn(usage, 'completion_tokens_details'), 'reasoning_tokens'),
  });
};
