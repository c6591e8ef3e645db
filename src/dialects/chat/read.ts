import * as v from 'valibot';
import type { InferenceRequest } from '../dialect.js';
import { anyObject, atLeastOne, check, flag, flaggedCategories, model, temperature } from '../request.js';

const CHOICES_BOUND = 128;

export const chatBody = v.looseObject({
  model,
  messages: v.pipe(
    v.array(v.looseObject({ role: v.string('must be a string') }, 'must be an object'), 'must be an array'),
    v.minLength(1, 'must hold at least one message'),
  ),
  stream: v.nullish(flag),
  stream_options: v.nullish(v.looseObject({ include_usage: v.nullish(flag) }, 'must be an object')),
  temperature: v.nullish(temperature),
  max_tokens: v.nullish(atLeastOne),
  max_completion_tokens: v.nullish(atLeastOne),
  n: v.nullish(v.pipe(atLeastOne, v.maxValue(CHOICES_BOUND, `must be at most ${CHOICES_BOUND}`))),
  tools: v.nullish(v.array(anyObject, 'must be an array of objects')),
  flagged_categories: flaggedCategories,
});

export const readChat = (input: unknown): InferenceRequest => {
  const { flagged_categories: flagged = [], ...body } = check(chatBody, input);
  return {
    model: body.model,
    stream: body.stream ?? false,
    maxOutputTokens: body.max_completion_tokens ?? body.max_tokens ?? null,
    flaggedCategories: flagged,
    body,
  };
};
