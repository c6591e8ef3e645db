import { GatewayError, invalidRequest } from '../core/errors.js';
import { json, type Call, type JsonReply } from '../core/exchange.js';
import type { Catalog, Listed } from '../rules/models/catalog.js';

/** When a model was made is not known here; both formats take the beginning of time for that. */
const UNKNOWN_TIME_S = 0;
const UNKNOWN_TIME = new Date(UNKNOWN_TIME_S).toISOString();

const DEFAULT_LIMIT = 20;
const LARGEST_LIMIT = 1_000;

const asOpenai = ({ id, provider }: Listed) => ({
  id,
  object: 'model',
  created: UNKNOWN_TIME_S,
  owned_by: provider,
});

const asMessages = ({ id, maxOutputTokens }: Listed) => ({
  type: 'model',
  id,
  display_name: id,
  created_at: UNKNOWN_TIME,
  max_input_tokens: null,
  max_tokens: maxOutputTokens,
});

/** Clients of the Messages format say so with every request. */
const speaksMessages = ({ headers }: Call): boolean => headers['anthropic-version'] !== undefined;

const readLimit = ({ query }: Call): number => {
  const given = query.get('limit');
  if (given === null) return DEFAULT_LIMIT;
  const limit = /^\d{1,4}$/.test(given) ? Number(given) : 0;
  if (limit < 1 || limit > LARGEST_LIMIT)
    throw invalidRequest('limit', `must be a whole number from 1 to ${LARGEST_LIMIT}`);
  return limit;
};

const placeOf = (models: readonly Listed[], param: string, id: string): number => {
  const place = models.findIndex((model) => model.id === id);
  if (place < 0)
    throw new GatewayError('invalid_cursor', `${param}: must be the id of a listed model.`, { param });
  return place;
};

/** A page as the Messages format asks for it. */
const page = (models: readonly Listed[], call: Call) => {
  const [after, before] = [call.query.get('after_id'), call.query.get('before_id')];
  const limit = readLimit(call);
  if (after !== null && before !== null)
    throw invalidRequest('before_id', 'does not go together with after_id');
  const end = before === null ? models.length : placeOf(models, 'before_id', before);
  const start = after === null ? 0 : placeOf(models, 'after_id', after) + 1;
  const left = models.slice(start, end);
  const shown = before === null ? left.slice(0, limit) : left.slice(-limit);
  return {
    data: shown.map(asMessages),
    has_more: shown.length < left.length,
    first_id: shown[0]?.id ?? null,
    last_id: shown.at(-1)?.id ?? null,
  };
};

/** What the key may ask for, in the shape the caller's headers ask for. */
export const createModelDoors = (catalog: Catalog) => ({
  list: async (call: Call): Promise<JsonReply> => {
    const models = catalog.list(call.principal.models);
    return json(speaksMessages(call) ? page(models, call) : { object: 'list', data: models.map(asOpenai) });
  },

  get: async (call: Call): Promise<JsonReply> => {
    const { model = '', '*': rest } = call.params;
    // A name may hold slashes.
    const id = rest === undefined ? model : `${model}/${rest}`;
    const found = catalog.look(id, call.principal.models);
    if (!found) throw new GatewayError('model_not_found', `There is no model ${id}.`, { param: 'model' });
    return json(speaksMessages(call) ? asMessages(found) : asOpenai(found));
  },
});

export type ModelDoors = ReturnType<typeof createModelDoors>;
