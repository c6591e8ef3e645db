import * as v from 'valibot';
import { GatewayError } from '../../core/errors.js';
import type { Json } from '../dialect.js';
import { isObject } from '../event.js';
import { detailOf } from './detail.js';

const anyObject = v.custom<Json>(isObject, 'dictionary');
const noObject = v.custom<Json>(() => false, 'object');

/** Valibot takes arrays for objects. */
const objectOf = <Entries extends v.ObjectEntries>(entries: Entries) => {
  const schema = v.looseObject(entries);
  return v.lazy((input) => (isObject(input) || input === undefined ? schema : noObject));
};

const string = v.string();
const objects = v.array(anyObject);
const stringOrObjects = v.lazy((input) => (Array.isArray(input) ? objects : string));

/** Both spellings of "remove nothing". */
const all = v.literal('all');
const allInside = objectOf({ type: all });
const keep = v.lazy((input) => (isObject(input) ? allInside : all));

export const countBody = objectOf({
  model: v.pipe(v.string(), v.minLength(1)),
  messages: v.pipe(v.array(objectOf({ content: stringOrObjects })), v.minLength(1)),
  system: v.nullish(stringOrObjects),
  tools: v.nullish(v.array(anyObject)),
  tool_choice: v.nullish(
    objectOf({ name: v.nullish(v.string()), disable_parallel_tool_use: v.nullish(v.boolean()) }),
  ),
  thinking: v.nullish(objectOf({ budget_tokens: v.nullish(v.pipe(v.number(), v.integer())) })),
  output_config: v.nullish(
    objectOf({
      format: v.nullish(objectOf({ type: v.literal('json_schema'), schema: anyObject })),
    }),
  ),
  context_management: v.nullish(
    objectOf({
      edits: v.nullish(v.array(objectOf({ type: v.literal('clear_thinking_20251015'), keep }))),
    }),
  ),
});

const DETAILS_BOUND = 100;
const CONSUMED: readonly string[] = ['context_management', 'flagged_categories'];

export interface CountRequest {
  readonly model: string;
  /** The body less what only the gateway reads, and less the edits, which only say to remove nothing. */
  readonly body: Json;
}

/** Reads the body of a count (seed 4.12, D41). Throws a 422 whose `detail` lists every fault. */
export const readCount = (input: unknown): CountRequest => {
  const result = v.safeParse(countBody, input);
  if (!result.success)
    throw new GatewayError('invalid_parameter', 'The body of the count is not valid.', {
      param: v.getDotPath(result.issues[0]) ?? 'body',
      detail: result.issues.slice(0, DETAILS_BOUND).map(detailOf),
    });
  // The body as it came, not the copy of it that validation made.
  const body = input as Json & { readonly model: string };
  const kept = Object.entries(body).filter(([key]) => !CONSUMED.includes(key));
  return { model: body.model, body: Object.fromEntries(kept) };
};
