import type { BlockKind } from '../core/events.js';
import { argumentsText } from './decoding.js';
import type { DialectName, Json } from './dialect.js';
import { isObject, objectIn } from './event.js';
import type { Channel, Said } from './guard.js';

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

/** Where the upstream's own tools say what they gave. */
const RESULT_KEYS = ['text', 'stdout', 'stderr'];

/** What a tool of the upstream gave, at any depth of its block. */
export const resultTexts = (value: unknown, channel: Channel | null, path: Path): readonly Said[] => {
  if (Array.isArray(value)) return value.flatMap((each, i) => resultTexts(each, channel, [...path, i]));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]): readonly Said[] => {
    const at = [...path, key];
    if (typeof member !== 'string') return resultTexts(member, channel, at);
    if (member === '' || !RESULT_KEYS.includes(key)) return [];
    return [{ channel: channel ?? { kind: 'text', id: at.join('.') }, text: member, path: at }];
  });
};

const messagesTexts = (body: Json): readonly Said[] => [
  ...listIn(body.content).flatMap(([block, i]) => {
    const path = ['content', i];
    if ('input' in block) return call(block, 'input', path);
    if ('content' in block) return resultTexts(block.content, null, [...path, 'content']);
    return [...at(block, 'text', 'text', path), ...at(block, 'thinking', 'reasoning', path)];
  }),
  ...at(objectIn(body, 'stop_details'), 'explanation', 'refusal', ['stop_details']),
];

const chatTexts = (body: Json): readonly Said[] =>
  listIn(body.choices).flatMap(([choice, i]) => {
    const message = objectIn(choice, 'message');
    const path = ['choices', i, 'message'];
    return [
      ...at(message, 'reasoning_content', 'reasoning', path),
      ...at(message, 'reasoning', 'reasoning', path),
      ...at(message, 'content', 'text', path),
      ...listIn(message.content).flatMap(([part, j]) => at(part, 'text', 'text', [...path, 'content', j])),
      ...at(message, 'refusal', 'refusal', path),
      ...at(objectIn(message, 'audio'), 'transcript', 'text', [...path, 'audio']),
      ...listIn(message.tool_calls).flatMap(([made, j]) =>
        call(objectIn(made, 'function'), 'arguments', [...path, 'tool_calls', j, 'function']),
      ),
      ...(isObject(message.function_call)
        ? call(message.function_call, 'arguments', [...path, 'function_call'])
        : []),
    ];
  });

const responsesTexts = (body: Json): readonly Said[] =>
  listIn(body.output).flatMap(([item, i]) => {
    const path = ['output', i];
    const kind = item.type === 'reasoning' ? 'reasoning' : 'text';
    return [
      ...listIn(item.summary).flatMap(([part, j]) => at(part, 'text', 'reasoning', [...path, 'summary', j])),
      ...listIn(item.content).flatMap(([part, j]) => [
        ...at(part, 'text', kind, [...path, 'content', j]),
        ...at(part, 'refusal', 'refusal', [...path, 'content', j]),
      ]),
      ...(['arguments', 'input', 'code'] as const).flatMap((key) =>
        typeof item[key] === 'string' ? call(item, key, path) : [],
      ),
      ...at(item, 'output', 'text', path),
      ...listIn(item.outputs).flatMap(([each, j]) => at(each, 'logs', 'text', [...path, 'outputs', j])),
    ];
  });

/** All text of a whole answer, by format, in its order. */
export const answerTexts: Readonly<Record<DialectName, (body: Json) => readonly Said[]>> = {
  messages: messagesTexts,
  chat: chatTexts,
  responses: responsesTexts,
};
