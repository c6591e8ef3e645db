import * as v from 'valibot';
import type { InferenceRequest } from '../dialect.js';
import {
  anyObject,
  atLeastOne,
  check,
  flag,
  flaggedCategories,
  model,
  stringOrArrayOf,
  temperature,
} from '../request.js';

export const responsesBody = v.looseObject({
  model,
  input: v.nullish(stringOrArrayOf(anyObject, 'must be a string or an array of items')),
  instructions: v.nullish(v.string('must be a string')),
  stream: v.nullish(flag),
  temperature: v.nullish(temperature),
  max_output_tokens: v.nullish(atLeastOne),
  tools: v.nullish(v.array(anyObject, 'must be an array of objects')),
  flagged_categories: flaggedCategories,
});

export const readResponses = (input: unknown): InferenceRequest => {
  const { flagged_categories: flagged = [], ...body } = check(responsesBody, input);
  return {
    model: body.model,
    stream: body.stream ?? false,
    maxOutputTokens: body.max_output_tokens ?? null,
    flaggedCategories: flagged,
    body,
  };
};
