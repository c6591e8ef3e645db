import * as v from 'valibot';
import type { DocSchema, QueryDoc } from '../../core/exchange.js';
import { integer, text } from './parse.js';

/** What an answer in JSON looks like. */
export const jsonAnswer = (schema: DocSchema): Readonly<Record<string, DocSchema>> => ({
  'application/json': schema,
});

/** The three parameters of every list (D2). */
export const pageQuery: Readonly<Record<string, QueryDoc>> = {
  after: { about: 'The id of the last object of the page before.', schema: text(1, 200) },
  limit: { about: 'How many objects to give at most; 20 where it is absent.', schema: integer(1, 100) },
  order: { about: 'Oldest first (`asc`, the default) or newest first.', schema: v.picklist(['asc', 'desc']) },
};

/** Whole Unix seconds. */
export const seconds = v.pipe(v.number(), v.integer(), v.minValue(0));

export const id = text(1, 200);

/** The list envelope (seed 2.5). */
export const listOf = (title: string, item: v.GenericSchema) =>
  v.pipe(
    v.strictObject({
      object: v.literal('list'),
      data: v.array(item),
      first_id: v.optional(id),
      last_id: v.optional(id),
      has_more: v.boolean(),
    }),
    v.title(title),
  );

/** What a deletion answers. */
export const deletionOf = (title: string, object: string) =>
  v.pipe(v.strictObject({ id, object: v.literal(object), deleted: v.literal(true) }), v.title(title));
