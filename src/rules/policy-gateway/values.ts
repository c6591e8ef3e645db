import * as v from 'valibot';

/** Whether a text has at most so many characters, as JSON Schema counts them: a surrogate pair is one. */
const fits = (text: string, max: number): boolean => {
  if (text.length <= max) return true;
  if (text.length > 2 * max) return false;
  let count = text.length;
  for (let i = 0; i < text.length; i++) if (text.codePointAt(i)! > 0xffff) count--;
  return count <= max;
};

/** Text of bounded length; the OpenAPI document reads it as `maxLength`. */
export const text = (max: number) => {
  const bound = v.maxLength<string, number, string>(max, `must have at most ${max} characters.`);
  const inCharacters: typeof bound = {
    ...bound,
    '~run': (dataset, config) =>
      dataset.typed && fits(dataset.value, max) ? dataset : bound['~run'](dataset, config),
  };
  return v.pipe(v.string(), inCharacters);
};

const VISIBLE = /\S/;
const isBlank = (text: string): boolean =>
  !(text.charCodeAt(0) > 0x20 && text.charCodeAt(0) < 0x7f) && !VISIBLE.test(text);

/** Text that says something. */
export const word = (max: number) => v.pipe(text(max), v.regex(VISIBLE, 'must not be blank.'));

/** A bounded list of words. Only a list with a fault in it is walked by the schema, which then tells where. */
export const words = (most: number, max: number) => {
  const slow = v.pipe(v.array(word(max)), v.maxLength(most, `must have at most ${most} items.`));
  const isWord = (item: unknown): boolean => typeof item === 'string' && fits(item, max) && !isBlank(item);
  const quick: typeof slow = {
    ...slow,
    '~run': (dataset, config) => {
      const { value } = dataset;
      return Array.isArray(value) && value.length <= most && value.every(isWord)
        ? { typed: true, value: [...(value as string[])] }
        : slow['~run'](dataset, config);
    },
  };
  return quick;
};

export const amount = (min: number, max: number) =>
  v.pipe(v.number(), v.minValue(min, `must be at least ${min}.`), v.maxValue(max, `must be at most ${max}.`));

export const whole = (min: number, max: number) =>
  v.pipe(amount(min, max), v.integer('must be a whole number.'));

/** Unknown keys that valibot drops as dangerous; as own properties of a copy they are like any other. */
const DROPPED = ['constructor', 'prototype'];

/** An object whose unknown keys are kept (D17), all but `__proto__`. */
export const open = <TEntries extends v.ObjectEntries>(entries: TEntries) => {
  const loose = v.looseObject(entries);
  const whole: typeof loose = {
    ...loose,
    '~run': (dataset, config) => {
      const { value: given } = dataset;
      // To valibot an array is an object too; any other type gets the issue that an array deserves.
      if (Array.isArray(given)) return loose['~run']({ typed: false, value: 'array' }, config);
      const parsed = loose['~run'](dataset, config);
      if (parsed.typed && typeof given === 'object' && given !== null)
        for (const key of DROPPED) {
          const own = Object.getOwnPropertyDescriptor(given, key);
          if (own) Object.defineProperty(parsed.value, key, own);
        }
      return parsed;
    },
  };
  return whole;
};

/** A key with a default. */
export const setting = <
  const Schema extends v.GenericSchema,
  const Fallback extends v.Default<Schema, undefined>,
>(
  about: string,
  schema: Schema,
  fallback: Fallback,
) => v.pipe(v.optional(schema, fallback), v.description(about));
