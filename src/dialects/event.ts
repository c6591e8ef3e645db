import { GatewayError } from '../core/errors.js';
import type { Frame } from '../io/sse/frame.js';
import type { Json } from './dialect.js';

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A member that is an object itself; an empty one where it is anything else. */
export const objectIn = (json: Json, key: string): Json => {
  const value = json[key];
  return isObject(value) ? value : {};
};

export const unreadable = (message: string, cause?: unknown): GatewayError =>
  new GatewayError('provider_error', message, { cause });

/** The event's data as an object. Throws the provider_error that ends the stream. */
export const readEvent = (frame: Frame): Json => {
  let event: unknown;
  try {
    event = JSON.parse(frame.data ?? '');
  } catch {
    // The parser's own error quotes what it read.
    throw unreadable('The provider sent an event that is not JSON.');
  }
  if (!isObject(event)) throw unreadable('The provider sent an event that is not an object.');
  return event;
};

export const DONE = '[DONE]';

/** Whether an event without its blank line is all there: one that was cut is no JSON. */
export const isWhole = (frame: Frame): boolean => {
  const { data } = frame;
  if (data === null || data === DONE) return data === DONE;
  try {
    return isObject(JSON.parse(data));
  } catch {
    return false;
  }
};

/** Data that says nothing by itself; clients of every format stumble over it in the wrong place. */
export const isFiller = (frame: Frame): boolean => frame.data === '' || frame.data === DONE;

/** What kind of event this is: its name, else its data's `type`; null where neither is there, as in a comment. */
export const eventType = (frame: Frame): string | null => {
  if (frame.event !== null) return frame.event;
  if (frame.data === null || isFiller(frame)) return null;
  const { type } = readEvent(frame);
  return typeof type === 'string' ? type : null;
};
