import { GatewayError, invalidParameter } from '../../core/errors.js';
import type { Call } from '../../core/exchange.js';
import { looksLikeId } from '../../core/ids.js';
import type { Page } from '../../io/records/records.js';
import { queryInteger } from './parse.js';

const CURSOR_CHARACTERS = 200;
const DEFAULT_LIMIT = 20;
const LARGEST_LIMIT = 100;

/** The page a list request asks for (D2); `idPrefix` is the kind of id its cursor must be. */
export const readPage = (call: Call, idPrefix: string): Page => {
  const after = call.query.get('after');
  if (after !== null && (after.length > CURSOR_CHARACTERS || !looksLikeId(idPrefix, after)))
    throw new GatewayError('invalid_cursor', 'after: must be the id of an object of an earlier page.', {
      param: 'after',
    });
  return {
    ...(after !== null && { after }),
    limit: queryInteger(call, 'limit', 1, LARGEST_LIMIT) ?? DEFAULT_LIMIT,
    order: readOrder(call),
  };
};

const readOrder = (call: Call): 'asc' | 'desc' => {
  const order = call.query.get('order') ?? 'asc';
  if (order !== 'asc' && order !== 'desc') throw invalidParameter('order', 'must be asc or desc.');
  return order;
};

export interface Envelope<T> {
  readonly object: 'list';
  readonly data: readonly T[];
  readonly first_id?: string;
  readonly last_id?: string;
  readonly has_more: boolean;
}

/** The list envelope (seed 2.5); an empty page has no first and no last. */
export const envelope = <T extends { readonly id: string }, E extends object = object>(
  items: readonly T[],
  hasMore: boolean,
  extra?: E,
): Envelope<T> & Partial<E> => {
  const [first, last] = [items[0], items.at(-1)];
  return {
    object: 'list',
    data: items,
    ...(first && last && { first_id: first.id, last_id: last.id }),
    has_more: hasMore,
    ...extra,
  } as Envelope<T> & Partial<E>;
};
