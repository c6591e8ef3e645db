import type { BlockKind } from '../core/events.js';
import type { Usage } from '../core/usage.js';
import { frame as encode } from '../io/sse/encode.js';
import { Frame } from '../io/sse/frame.js';
import type { CreditFields, Json } from './dialect.js';
import { isObject, readEvent } from './event.js';
import type { Channel, Guard, Said, Stop } from './guard.js';
import { treatmentOf } from './places.js';

/** What one frame says. */
export interface Heard {
  readonly said: readonly Said[];
  /** Channels that have all their text with this frame. */
  readonly closed: readonly Channel[];
  /** All text of the answer is there. */
  readonly last: boolean;
  /** It says again what was said before, so that what changed there changes here. */
  readonly repeats: boolean;
}

export const silence: Heard = { said: [], closed: [], last: false, repeats: false };

export interface Place {
  readonly channel: Channel;
  readonly path: readonly (string | number)[];
}

/** What an answer that is stopped still has to say. */
export interface Refusal extends Stop {
  readonly usage: Usage;
  readonly fields: CreditFields;
}

/** Reads the frames of one format beside their way through, and ends an answer that must not go on. */
export interface Ear {
  /** The text of a frame that is nothing but a further piece of the text before, known without a parse; else null. */
  plain(frame: Frame): string | null;
  /** Where the text that `plain` just gave belongs. */
  place(): Place;
  /** The piece that `plain` gave is on its way to the client. */
  leftPlain(frame: Frame, text: string): void;
  hear(frame: Frame): Heard;
  /** The frame is on its way to the client. */
  left(frame: Frame, said: readonly Said[], texts: readonly string[] | null): void;
  /** The format's own refusal, behind what has left. */
  refuse(refusal: Refusal): string;
}

/** A copy of JSON with another value at a place, and no probabilities around it: they spell the old text. */
const setIn = (json: unknown, path: readonly (string | number)[], value: unknown, depth = 0): unknown => {
  if (depth === path.length) return value;
  const key = path[depth]!;
  if (Array.isArray(json))
    return json.map((each: unknown, i) => (i === key ? setIn(each, path, value, depth + 1) : each));
  if (!isObject(json)) return json;
  return { ...unlikely(json), [key]: setIn(json[key], path, value, depth + 1) };
};

/** One format writes a list, which its clients walk; the other an object or null. */
const unlikely = (json: Json): Json => {
  if (!json.logprobs) return json;
  return { ...json, logprobs: Array.isArray(json.logprobs) ? [] : null };
};

export const setTexts = (json: Json, said: readonly Said[], texts: readonly string[]): Json =>
  said.reduce<Json>((result, { text, path, json: spelt }, i) => {
    const told = texts[i]!;
    return path === null || told === text
      ? result
      : (setIn(result, path, spelt ? parsed(told) : told) as Json);
  }, json);

/** Arguments that a change left unreadable are none. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
};

/** The frame with other text in the same places. */
export const retell = (frame: Frame, said: readonly Said[], texts: readonly string[]): Frame =>
  Frame.of(Buffer.from(encode(frame.event, setTexts(readEvent(frame), said, texts))));

/** Where formats repeat text, by the key that holds it. */
const REPEATED: Readonly<Record<string, BlockKind>> = {
  text: 'text',
  refusal: 'refusal',
  arguments: 'tool',
  input: 'tool',
  code: 'tool',
  output: 'text',
  logs: 'text',
};

/** The client's own words, and what it asked for, which was masked on its way there. */
const ECHOED = new Set([
  'metadata',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'tools',
  'instructions',
]);

const kindUnder = (key: string, text: string): BlockKind | null => {
  const { [key]: kind } = REPEATED;
  return kind ?? (treatmentOf(key, text) === 'read' ? 'text' : null);
};

const maskIn = (value: unknown, guard: Guard, under = ''): unknown => {
  if (typeof value === 'string') {
    const kind = kindUnder(under, value);
    return kind ? guard.mask(kind, value) : value;
  }
  if (Array.isArray(value)) return value.map((each) => maskIn(each, guard, under));
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(
    ([key, member]) => [key, ECHOED.has(key) ? member : maskIn(member, guard, key)] as const,
  );
  const masked: Json = Object.fromEntries(members);
  const changed = members.some(([key, member]) => typeof member === 'string' && member !== value[key]);
  return changed ? unlikely(masked) : masked;
};

/** A frame that repeats text, with the same changes. */
export const remask = (frame: Frame, guard: Guard): Frame =>
  Frame.of(Buffer.from(encode(frame.event, maskIn(readEvent(frame), guard) as Json)));
