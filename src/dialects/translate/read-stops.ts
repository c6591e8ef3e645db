import { invalidRequest } from '../../core/errors.js';
import type { Fields } from './fields.js';
import type { MaybeField } from './neutral-request.js';

/** One text or several at which an answer is to stop. */
export const readStops = (fields: Fields, key: string): MaybeField<readonly string[]> => {
  const value = fields.take(key);
  if (value === undefined) return null;
  const list: unknown[] = Array.isArray(value) ? value : [value];
  const texts = list.filter((stop) => typeof stop === 'string');
  if (texts.length < list.length) throw invalidRequest(fields.path(key), 'must be a string or strings');
  return texts.length === 0 ? null : { at: fields.path(key), value: texts };
};
