import { isObject } from '../event.js';
import type { Fields, Reading } from './fields.js';
import type {
  FunctionTool,
  MaybeField,
  NeutralRequest,
  OutputFormat,
  ToolChoice,
} from './neutral-request.js';

type Shared = Pick<
  NeutralRequest,
  'userId' | 'metadata' | 'cacheKey' | 'cacheRetention' | 'serviceTier' | 'store' | 'parallelTools'
>;

/** Fields that Chat Completions and Responses spell alike. */
export const readShared = (fields: Fields, reading: Reading): Shared => {
  const safetyId = fields.maybeText('safety_identifier');
  const user = fields.maybeText('user');
  if (safetyId !== null && user !== null) reading.leave(user.at, 'hint');
  return {
    userId: safetyId ?? user,
    metadata: fields.maybeObject('metadata'),
    cacheKey: fields.maybeText('prompt_cache_key'),
    cacheRetention: fields.maybeText('prompt_cache_retention'),
    serviceTier: fields.maybeText('service_tier'),
    store: fields.maybeFlag('store'),
    parallelTools: fields.maybeFlag('parallel_tool_calls'),
  };
};

/** How much reasoning, where one word says both whether and how hard. */
export const readEffort = (
  effort: MaybeField<string>,
): Pick<NeutralRequest['reasoning'], 'wanted' | 'effort'> =>
  effort === null
    ? { wanted: null, effort: null }
    : {
        wanted: { at: effort.at, value: effort.value !== 'none' },
        effort: effort.value === 'none' ? null : effort,
      };

/** The default detail of an image says nothing. */
export const readDetail = (fields: Fields): MaybeField<string> => {
  const detail = fields.maybeText('detail');
  return detail?.value === 'auto' ? null : detail;
};

const MODES: Readonly<Record<string, ToolChoice['mode']>> = { auto: 'auto', required: 'any', none: 'none' };

/** The words for a choice, and where the two formats put the names of functions. */
export const readChoice = (
  fields: Fields,
  reading: Reading,
  nameIn: (inner: Fields, reading: Reading) => string,
): ToolChoice | null => {
  const choice = fields.take('tool_choice');
  if (choice === undefined) return null;
  const at = 'tool_choice';
  if (typeof choice === 'string' && Object.hasOwn(MODES, choice))
    return { at, mode: MODES[choice]!, name: null, allowed: null };
  if (isObject(choice) && choice.type === 'function')
    return reading.object(choice, at, (inner) => ({
      at,
      mode: 'tool',
      name: nameIn(inner, reading),
      allowed: null,
    }));
  if (isObject(choice) && choice.type === 'allowed_tools')
    return reading.object(choice, at, (inner) => readAllowed(inner, reading, nameIn));
  reading.leave(at, 'meaning');
  return null;
};

const readAllowed = (
  choice: Fields,
  reading: Reading,
  nameIn: (inner: Fields, reading: Reading) => string,
): ToolChoice => {
  const read = (inner: Fields): ToolChoice => ({
    at: choice.at,
    mode: inner.maybeText('mode')?.value === 'required' ? 'any' : 'auto',
    name: null,
    allowed: reading.typed(inner.take('tools'), inner.path('tools'), {
      function: (tool) => [nameIn(tool, reading)],
    }),
  });
  const nested = choice.take('allowed_tools');
  return nested === undefined ? read(choice) : reading.object(nested, choice.path('allowed_tools'), read);
};

/** A function as both formats describe it, nested in one and flat in the other. */
export const readFunction = (fields: Fields, at: string): FunctionTool => ({
  at,
  name: fields.text('name'),
  description: fields.maybeText('description')?.value ?? null,
  schema: fields.maybeObject('parameters')?.value ?? null,
  strict: fields.maybeFlag('strict')?.value ?? null,
});

const readSchema = (fields: Fields, at: string): OutputFormat => ({
  kind: 'json_schema',
  at,
  name: fields.maybeText('name'),
  description: fields.maybeText('description')?.value ?? null,
  schema: fields.maybeObject('schema')?.value ?? {},
  strict: fields.maybeFlag('strict')?.value ?? null,
});

/** The form of the answer; a schema may stand in an object of its own. */
export const readFormat = (format: unknown, at: string, reading: Reading): OutputFormat | null => {
  if (format === undefined) return null;
  return reading.object(format, at, (inner): OutputFormat | null => {
    switch (inner.text('type')) {
      case 'text':
        return null;
      case 'json_object':
        return { kind: 'json_object', at: inner.path('type') };
      case 'json_schema': {
        const nested = inner.take('json_schema');
        return nested === undefined
          ? readSchema(inner, at)
          : reading.object(nested, inner.path('json_schema'), (schema) => readSchema(schema, at));
      }
      default:
        reading.leave(inner.path('type'), 'meaning');
        return null;
    }
  });
};
