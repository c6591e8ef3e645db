import * as v from 'valibot';
import { invalidRequest } from '../core/errors.js';
import type { Json } from './dialect.js';
import { isObject } from './event.js';

/** Categories a request may ask to be blocked, beside those that always are (seed 4.10). */
const flaggableCategories = ['harassment', 'hate', 'illicit', 'sexual'] as const;

export const flaggedCategories = v.optional(
  v.array(
    v.picklist(flaggableCategories, `must be one of ${flaggableCategories.join(', ')}`),
    'must be an array of strings',
  ),
);

export const model = v.pipe(v.string('must be a string'), v.minLength(1, 'must not be empty'));

export const flag = v.boolean('must be true or false');

export const atLeastOne = v.pipe(
  v.number('must be an integer'),
  v.integer('must be an integer'),
  v.minValue(1, 'must be at least 1'),
);

export const temperature = v.pipe(
  v.number('must be a number'),
  v.minValue(0, 'must be between 0 and 2'),
  v.maxValue(2, 'must be between 0 and 2'),
);

export const anyObject = v.custom<Json>(isObject, 'must be an object');

/** A string, or an array of what `item` allows; the fault is named where it lies. */
export const stringOrArrayOf = <Item extends v.GenericSchema>(item: Item, message: string) => {
  const array = v.array(item, message);
  const string = v.string(message);
  return v.lazy((input) => (Array.isArray(input) ? array : string));
};

/** Gives the body itself, typed: no schema here changes a value. Throws for the first field at fault. */
export const check = <Schema extends v.GenericSchema>(
  schema: Schema,
  body: unknown,
): v.InferOutput<Schema> => {
  if (!isObject(body)) throw invalidRequest('body', 'must be a JSON object');
  const result = v.safeParse(schema, body, { abortEarly: true });
  if (result.success) return body;
  const [issue] = result.issues;
  const missing = issue.received === 'undefined';
  throw invalidRequest(v.getDotPath(issue) ?? 'body', missing ? 'is required' : issue.message);
};
