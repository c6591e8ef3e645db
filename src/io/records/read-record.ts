import * as v from 'valibot';
import type { Stored } from './records.js';

/** What a record says. One that cannot be read is a fault of the store, never shown to a client. */
export const readRecord = <TSchema extends v.GenericSchema>(
  schema: TSchema,
  stored: Stored,
): v.InferOutput<TSchema> => {
  const read = v.safeParse(schema, stored.value);
  if (read.success) return read.output;
  const at = v.getDotPath(read.issues[0]) ?? '(root)';
  throw new Error(`The stored record ${stored.id} cannot be read at ${at}.`);
};
