import type { Json } from './dialect.js';
import { isObject } from './event.js';
import { BETWEEN, isKnownKey, isSecretKey } from './places.js';
import { list, member, type Walk } from './walk-json.js';

/** Sentences, each read by itself. */
const PROSE = new Set(['description', 'title', 'instructions']);
/** Values that whoever obeys the schema may write. */
const VALUES = new Set(['enum', 'const', 'default', 'example', 'examples', 'input_examples']);
/** Words of schemas and of tools, as their values. */
const WORDS = new Set(
  'object string number integer boolean array null function custom json_schema json_object text auto ephemeral'.split(
    ' ',
  ),
);

/** What is no sentence, once each: keys, names, patterns, values. There may be hundreds, so they are read in one. */
const words = (value: unknown): readonly string[] => {
  const found = new Set<string>();
  const look = (each: unknown, key: string, isValue: boolean): void => {
    if (typeof each === 'string') {
      if (each !== '' && (isValue || (!PROSE.has(key) && !WORDS.has(each)))) found.add(each);
    } else if (typeof each === 'number' && isValue) found.add(String(each));
    else if (Array.isArray(each)) for (const one of each) look(one, '', isValue);
    else if (isObject(each))
      for (const [name, member] of Object.entries(each)) {
        if (isSecretKey(name) && !isValue) continue;
        if (name !== '' && (isValue || !isKnownKey(name))) found.add(name);
        look(member, name, isValue || VALUES.has(name));
      }
  };
  look(value, '', false);
  return [...found];
};

/**
 * A tool, or the form an answer is to have. Sentences and values may be changed; a name may not, nor a key: calls and
 * other parts of the schema refer to them.
 */
export const schema: Walk = (value, role, at, visit) => {
  const before = words(value);
  const after = before.length > 0 ? visit(before.join(BETWEEN), role, at).split(BETWEEN) : [];
  const changed = new Map(
    after.length === before.length
      ? before.flatMap((word, i) => (after[i] === word ? [] : [[word, after[i]!] as const]))
      : [],
  );
  const replaced: Walk = (each, ...rest) => {
    if (typeof each === 'string') return changed.get(each) ?? each;
    if (typeof each === 'number') return changed.get(String(each)) ?? each;
    if (Array.isArray(each)) return list(replaced)(each, ...rest);
    return isObject(each)
      ? Object.keys(each).reduce<Json>((json, key) => member(json, key, replaced, ...rest), each)
      : each;
  };
  const sentences: Walk = (each, _role, place) => {
    if (Array.isArray(each)) return list(sentences)(each, role, place, visit);
    if (!isObject(each)) return each;
    return Object.keys(each).reduce<Json>((json, key) => {
      const { [key]: held } = each;
      if (typeof held === 'string' && held !== '' && PROSE.has(key))
        return member(json, key, (told, _, where) => visit(told as string, role, where), role, place, visit);
      return member(json, key, VALUES.has(key) ? replaced : sentences, role, place, visit);
    }, each);
  };
  return sentences(value, role, at, visit);
};
