import { invalidRequest } from '../../core/errors.js';
import type { DialectName, Json } from '../dialect.js';
import { isObject } from '../event.js';
import { fates } from './fates.js';
import type { Leftover, MaybeField } from './neutral-request.js';

export type TypeReader<Value> = (fields: Fields, reading: Reading) => readonly Value[];

/** One reading of a request: what it found no place for is kept. */
export class Reading {
  readonly dialect: DialectName;
  readonly leftovers: Leftover[] = [];

  constructor(dialect: DialectName) {
    this.dialect = dialect;
  }

  leave(at: string, kind: Leftover['kind']): void {
    this.leftovers.push({ at, kind });
  }

  /** Gives an object's fields to `read`; those it did not take meet their fate. null is as good as absent. */
  object<Value>(json: unknown, at: string, read: (fields: Fields) => Value): Value {
    if (!isObject(json)) throw invalidRequest(at, 'must be an object');
    const fields = new Fields(json, at);
    const value = read(fields);
    const known = at === '' ? fates[this.dialect].body : fates[this.dialect].below;
    for (const key of fields.remaining()) {
      const fate = Object.hasOwn(known, key) ? known[key]! : 'hint';
      if (fate !== 'form') this.leave(fields.path(key), fate);
    }
    return value;
  }

  /** The parts of an array, each read by its type; a type that nobody reads is left as a whole. */
  typed<Value>(
    list: unknown,
    at: string,
    readers: Readonly<Record<string, TypeReader<Value>>>,
    isServerTool: (type: string) => boolean = () => false,
  ): Value[] {
    if (!Array.isArray(list)) throw invalidRequest(at, 'must be a string or an array');
    return list.flatMap((item: unknown, index) => {
      const itemAt = `${at}.${index}`;
      if (!isObject(item)) throw invalidRequest(itemAt, 'must be an object');
      const type = typeof item.type === 'string' ? item.type : '';
      if (Object.hasOwn(readers, type))
        return this.object(item, itemAt, (fields) => readers[type]!(fields, this));
      this.leave(itemAt, isServerTool(type) ? 'server_tool' : 'meaning');
      return [];
    });
  }

  /** Each object of an array; an absent one is empty. */
  objects<Value>(list: unknown, at: string, read: (fields: Fields, index: number) => Value): Value[] {
    if (list === undefined) return [];
    if (!Array.isArray(list)) throw invalidRequest(at, 'must be an array');
    return list.map((item: unknown, index) =>
      this.object(item, `${at}.${index}`, (fields) => read(fields, index)),
    );
  }
}

const isNothing = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);

/** The fields of one object, each of which is taken or remains. */
export class Fields {
  readonly at: string;
  readonly #json: Json;
  readonly #taken = new Set<string>();

  constructor(json: Json, at: string) {
    this.#json = json;
    this.at = at;
  }

  path(key: string): string {
    return this.at === '' ? key : `${this.at}.${key}`;
  }

  remaining(): string[] {
    return Object.keys(this.#json).filter((key) => !this.#taken.has(key) && !isNothing(this.#json[key]));
  }

  /** Takes the field, whatever it is; null is given as undefined. */
  take(key: string): unknown {
    this.#taken.add(key);
    return Object.hasOwn(this.#json, key) ? (this.#json[key] ?? undefined) : undefined;
  }

  /** Takes the field only if it says what is meant anyway. */
  takeIf(key: string, isDefault: (value: unknown) => boolean): void {
    if (isDefault(this.#json[key])) this.#taken.add(key);
  }

  peek(key: string): unknown {
    return Object.hasOwn(this.#json, key) ? this.#json[key] : undefined;
  }

  #maybe<Value>(key: string, is: (value: unknown) => value is Value, word: string): MaybeField<Value> {
    const value = this.take(key);
    if (value === undefined) return null;
    if (!is(value)) throw invalidRequest(this.path(key), `must be ${word}`);
    return { at: this.path(key), value };
  }

  maybeText(key: string): MaybeField<string> {
    return this.#maybe(key, (value) => typeof value === 'string', 'a string');
  }

  maybeNumber(key: string): MaybeField<number> {
    return this.#maybe(key, (value) => typeof value === 'number', 'a number');
  }

  maybeFlag(key: string): MaybeField<boolean> {
    return this.#maybe(key, (value) => typeof value === 'boolean', 'true or false');
  }

  maybeObject(key: string): MaybeField<Json> {
    return this.#maybe(key, isObject, 'an object');
  }

  text(key: string): string {
    const field = this.maybeText(key);
    if (field === null) throw invalidRequest(this.path(key), 'is required');
    return field.value;
  }
}
