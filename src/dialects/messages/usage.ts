import type { Usage } from '../../core/usage.js';
import type { Json } from '../dialect.js';
import { objectIn } from '../event.js';
import { tokensIn } from '../tokens.js';

/**
 * A stream tells its usage in parts, each a total so far: what a part leaves out, or gives as 0, stays as it was.
 * Cached input stands beside `input_tokens`, not in it.
 */
export const mergeMessagesUsage = (before: Usage, usage: Json): Usage => ({
  input: tokensIn(usage, 'input_tokens') || before.input,
  cacheRead: tokensIn(usage, 'cache_read_input_tokens') || before.cacheRead,
  cacheWrite: tokensIn(usage, 'cache_creation_input_tokens') || before.cacheWrite,
  output: tokensIn(usage, 'output_tokens') || before.output,
  reasoning: tokensIn(objectIn(usage, 'output_tokens_details'), 'thinking_tokens') || before.reasoning,
});
