import type { BlockKind } from '../core/events.js';
import { argumentsText } from './decoding.js';
import type { DialectName, Json } from './dialect.js';
import { isObject, objectIn } from './event.js';
import type { Channel, Said } from './guard.js';
import { BETWEEN, fixedTexts, FREE, treatmentOf } from './places.js';

type Path = readonly (string | number)[];

const listIn = (value: unknown): readonly (readonly [Json, number])[] =>
  Array.isArray(value)
    ? value.flatMap((each: unknown, i) => (isObject(each) ? [[each, i] as const] : []))
    : [];

/** The text at a place; none where there is no string. */
const at = (json: Json, key: string, kind: BlockKind, path: Path): readonly Said[] => {
  const text = json[key];
  if (typeof text !== 'string' || text === '') return [];
  return [{ channel: { kind, id: [...path, key].join('.') }, text, path: [...path, key] }];
};

/** A call: its name, then its arguments, which some write as the object itself. */
const call = (json: Json, key: string, path: Path): readonly Said[] => {
  const channel = { kind: 'tool', id: path.join('.') } as const;
  const text = argumentsText(json[key]);
  return [
    { channel, text: `${typeof json.name === 'string' ? json.name : ''} `, path: null },
    ...(text === ''
      ? []
      : [{ channel, text, path: [...path, key], ...(json[key] !== text && { json: true as const }) }]),
  ];
};

/** Every text of what has no place of its own here: results of the upstream's tools, sources, whatever comes next year. */
export const otherTexts = (
  value: unknown,
  path: Path,
  channelOf: (at: Path) => Channel = (at) => ({ kind: 'text', id: at.join('.') }),
): readonly Said[] => {
  const said: Said[] = [];
  const look = (each: unknown, under: string, at: Path, isFree: boolean): void => {
    if (Array.isArray(each)) each.forEach((one, i) => look(one, under, [...at, i], isFree));
    else if (isObject(each))
      for (const [key, member] of Object.entries(each))
        look(
          member,
          key,
          [...at, key],
          // A document's own text stands where others have bytes.
          isFree || (FREE.has(key) && typeof member === 'object') || (key === 'data' && each.type === 'text'),
        );
    else if (typeof each === 'string' && each !== '' && (isFree || treatmentOf(under, each) === 'read'))
      said.push({ channel: channelOf(at), text: each, path: at });
  };
  look(value, String(path.at(-1) ?? ''), path, false);
  const fixed = fixedTexts(value);
  if (fixed.length > 0)
    said.push({ channel: channelOf([...path, 'fixed']), text: fixed.join(BETWEEN), path: null });
  return said;
};

/** An object but for what is read elsewhere. */
export const without = (json: Json, keys: readonly string[]): Json =>
  Object.fromEntries(Object.entries(json).filter(([key]) => !keys.includes(key)));

const messagesTexts = (body: Json): readonly Said[] => [
  ...listIn(body.content).flatMap(([block, i]) => {
    const path = ['content', i];
    if ('input' in block)
      return [...call(block, 'input', path), ...otherTexts(without(block, ['input', 'name']), path)];
    return [
      ...at(block, 'text', 'text', path),
      ...at(block, 'thinking', 'reasoning', path),
      ...otherTexts(without(block, ['text', 'thinking']), path),
    ];
  }),
  ...at(objectIn(body, 'stop_details'), 'explanation', 'refusal', ['stop_details']),
];

/** Calls of functions say their arguments, all others their input. */
const callTexts = (made: Json, path: Path): readonly Said[] => [
  ...(isObject(made.function) ? call(made.function, 'arguments', [...path, 'function']) : []),
  ...(isObject(made.custom) ? call(made.custom, 'input', [...path, 'custom']) : []),
  ...otherTexts(without(made, ['function', 'custom']), path),
];

/** What the walk of a message reads by itself. */
const CHAT_KEYS = ['reasoning_content', 'reasoning', 'content', 'refusal'];
/** Sound is not text; what it says comes as a transcript. */
const CHAT_PARTS = ['audio', 'tool_calls', 'function_call'];

/** What a message of chat says anywhere else. */
export const chatOthers = (message: Json): Json =>
  without(message, [...CHAT_PARTS, ...CHAT_KEYS.filter((key) => typeof message[key] === 'string')]);

/** Some upstreams tell their sources beside the choices. */
export const CHAT_SOURCES = ['citations', 'search_results', 'related_questions'];

const chatTexts = (body: Json): readonly Said[] => [
  ...listIn(body.choices).flatMap(([choice, i]) => {
    const message = objectIn(choice, 'message');
    const path = ['choices', i, 'message'];
    return [
      ...at(message, 'reasoning_content', 'reasoning', path),
      ...at(message, 'reasoning', 'reasoning', path),
      ...at(message, 'content', 'text', path),
      ...at(message, 'refusal', 'refusal', path),
      ...at(objectIn(message, 'audio'), 'transcript', 'text', [...path, 'audio']),
      ...listIn(message.tool_calls).flatMap(([made, j]) => callTexts(made, [...path, 'tool_calls', j])),
      ...(isObject(message.function_call)
        ? call(message.function_call, 'arguments', [...path, 'function_call'])
        : []),
      ...otherTexts(chatOthers(message), path),
    ];
  }),
  ...CHAT_SOURCES.flatMap((key) => otherTexts(body[key], [key])),
];

const RESPONSES_KEYS = ['summary', 'content', 'arguments', 'input', 'code', 'name'];

const responsesTexts = (body: Json): readonly Said[] =>
  listIn(body.output).flatMap(([item, i]) => {
    const path = ['output', i];
    const kind = item.type === 'reasoning' ? 'reasoning' : 'text';
    const calls = (['arguments', 'input', 'code'] as const).filter((key) => typeof item[key] === 'string');
    return [
      ...listIn(item.summary).flatMap(([part, j]) => at(part, 'text', 'reasoning', [...path, 'summary', j])),
      ...listIn(item.content).flatMap(([part, j]) => [
        ...at(part, 'text', kind, [...path, 'content', j]),
        ...at(part, 'refusal', 'refusal', [...path, 'content', j]),
        ...otherTexts(without(part, ['text', 'refusal', 'logprobs']), [...path, 'content', j]),
      ]),
      ...calls.flatMap((key) => call(item, key, path)),
      ...otherTexts(
        without(
          item,
          RESPONSES_KEYS.filter((key) => Array.isArray(item[key]) || typeof item[key] === 'string'),
        ),
        path,
      ),
    ];
  });

/** All text of a whole answer, by format, in its order. */
export const answerTexts: Readonly<Record<DialectName, (body: Json) => readonly Said[]>> = {
  messages: messagesTexts,
  chat: chatTexts,
  responses: responsesTexts,
};
