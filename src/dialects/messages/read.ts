import * as v from 'valibot';
import type { InferenceRequest, Json } from '../dialect.js';
import { isObject } from '../event.js';
import {
  atLeastOne,
  check,
  flag,
  flaggedCategories,
  model,
  stringOrArrayOf,
  temperature,
} from '../request.js';

const anyBlock = v.looseObject({ type: v.string('must be a string') }, 'must be a content block');
const textBlock = v.looseObject({ type: v.literal('text'), text: v.string('must be a string') });
const block = v.lazy((input) => (isObject(input) && input.type === 'text' ? textBlock : anyBlock));
const content = stringOrArrayOf(block, 'must be a string or an array of content blocks');

export const messagesBody = v.looseObject({
  model,
  messages: v.pipe(
    v.array(
      v.looseObject(
        { role: v.picklist(['user', 'assistant', 'system'], 'must be user, assistant or system'), content },
        'must be an object',
      ),
      'must be an array',
    ),
    v.minLength(1, 'must hold at least one message'),
  ),
  max_tokens: v.optional(atLeastOne),
  temperature: v.optional(temperature),
  stream: v.optional(flag),
  system: v.optional(content),
  flagged_categories: flaggedCategories,
});

const keepsAll = (edit: unknown): boolean =>
  isObject(edit) &&
  edit.type === 'clear_thinking_20251015' &&
  (edit.keep === 'all' || (isObject(edit.keep) && edit.keep.type === 'all'));

/** Edits that say to remove nothing are consumed here (D41). */
const withoutIdleEdits = (body: Json): Json => {
  const { context_management: management, ...rest } = body;
  if (!isObject(management) || !Array.isArray(management.edits)) return body;
  const edits = (management.edits as unknown[]).filter((edit) => !keepsAll(edit));
  return edits.length === 0 ? rest : { ...body, context_management: { ...management, edits } };
};

export const readMessages = (input: unknown): InferenceRequest => {
  const { flagged_categories: flagged = [], ...body } = check(messagesBody, input);
  return {
    model: body.model,
    stream: body.stream ?? false,
    maxOutputTokens: body.max_tokens ?? null,
    flaggedCategories: flagged,
    body: withoutIdleEdits(body),
  };
};
