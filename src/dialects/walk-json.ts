import type { Json } from './dialect.js';

export type Role = 'system' | 'user' | 'assistant' | 'tool';

/** Sees one text of a request and gives what stands there from now on: the same, or another; no other where it is fixed. */
export type Visit = (text: string, role: Role, at: string, isFixed?: boolean) => string;

export type Walk = (value: unknown, role: Role, at: string, visit: Visit) => unknown;

export const member = (json: Json, key: string, walk: Walk, role: Role, at: string, visit: Visit): Json => {
  const before = json[key];
  if (before === undefined) return json;
  const after = walk(before, role, at === '' ? key : `${at}.${key}`, visit);
  return after === before ? json : { ...json, [key]: after };
};

export const list =
  (walk: Walk): Walk =>
  (value, role, at, visit) => {
    if (!Array.isArray(value)) return value;
    const before: readonly unknown[] = value;
    const after = before.map((each, i) => walk(each, role, `${at}.${i}`, visit));
    return after.some((each, i) => each !== before[i]) ? after : before;
  };

export const text: Walk = (value, role, at, visit) =>
  typeof value === 'string' && value !== '' ? visit(value, role, at) : value;
