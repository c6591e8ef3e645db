import type { Json } from '../dialect.js';
import { isObject, objectIn } from '../event.js';

export const objectsIn = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []);

const WRITTEN = ['content', 'refusal', 'reasoning_content', 'reasoning'] as const;

/** Whether a choice of a chunk brings text, reasoning or a piece of a tool call. */
export const hasToken = (choice: Json): boolean => {
  const delta = objectIn(choice, 'delta');
  return (
    WRITTEN.some((key) => typeof delta[key] === 'string' && delta[key] !== '') ||
    objectsIn(delta.tool_calls).length > 0
  );
};

/** The indexes of the choices that end with this chunk. Some servers write '' for one that goes on. */
export const finishedIn = (choices: readonly Json[]): unknown[] =>
  choices
    .filter(({ finish_reason: reason }) => typeof reason === 'string' && reason !== '')
    .map((choice) => choice.index);

/** The error a chunk brings, as the object that every client reads; null = none. */
export const errorIn = (event: string | null, chunk: Json): Json | null => {
  const error = chunk.error ?? (event === 'error' ? chunk : null);
  if (error === null || isObject(error)) return error;
  const message = typeof error === 'string' ? error : 'The provider failed.';
  return { message, type: 'provider_error', param: null, code: null };
};
