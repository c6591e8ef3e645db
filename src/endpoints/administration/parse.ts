import * as v from 'valibot';
import { invalidParameter } from '../../core/errors.js';
import type { Call } from '../../core/exchange.js';

const PATH_ID_CHARACTERS = 200;

/** The body as its schema describes it; the first thing wrong with it is a 422 that names the place (D11). */
export const parseBody = <TSchema extends v.GenericSchema>(
  schema: TSchema,
  body: unknown,
): v.InferOutput<TSchema> => {
  if (Array.isArray(body)) throw invalidParameter('body', 'must be an object.');
  const parsed = v.safeParse(schema, body, { abortEarly: true });
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  throw invalidParameter(v.getDotPath(issue) ?? 'body', tell(issue));
};

/** Says what is wrong without repeating what was sent: it may be a secret. */
const tell = (issue: v.BaseIssue<unknown>): string => {
  if (issue.kind === 'validation') return issue.message;
  if (issue.type === 'strict_object' && issue.expected === 'never')
    return 'is not a property of this request.';
  if (issue.received === 'undefined') return 'is required.';
  return `must be ${issue.expected ?? 'something else'}.`;
};

/** An id from the path. */
export const pathId = (call: Call, name: string): string => {
  const id = call.params[name] ?? '';
  if (id === '' || countCharacters(id) > PATH_ID_CHARACTERS)
    throw invalidParameter(name, `must have 1 to ${PATH_ID_CHARACTERS} characters.`);
  return id;
};

/** A whole number from the query; null where it is absent. */
export const queryInteger = (call: Call, name: string, min: number, max: number): number | null => {
  const [text, ...more] = call.query.getAll(name);
  if (text === undefined) return null;
  const value = /^\d{1,10}$/.test(text) ? Number(text) : NaN;
  if (more.length > 0 || !(value >= min && value <= max))
    throw invalidParameter(name, `must be one whole number from ${min} to ${max}.`);
  return value;
};

/** Characters as JSON Schema counts them: a surrogate pair is one. */
const countCharacters = (text: string): number => {
  let count = text.length;
  for (let i = 0; i < text.length; i++) if (text.codePointAt(i)! > 0xffff) count--;
  return count;
};

/** Text of bounded length; reads as `minLength` and `maxLength` in the OpenAPI document. */
export const text = (min: number, max: number) => {
  const bound = v.maxLength<string, number, string>(max, `must have at most ${max} characters.`);
  const inCharacters: typeof bound = {
    ...bound,
    '~run': (dataset, config) =>
      dataset.typed && countCharacters(dataset.value) <= max ? dataset : bound['~run'](dataset, config),
  };
  const whole = v.pipe(v.string(), inCharacters);
  return min === 0 ? whole : v.pipe(whole, v.minLength(min, `must have ${min} to ${max} characters.`));
};

/** A whole number within bounds. */
export const integer = (min: number, max: number) =>
  v.pipe(
    v.number(),
    v.integer('must be a whole number.'),
    v.minValue(min, `must be at least ${min}.`),
    v.maxValue(max, `must be at most ${max}.`),
  );
