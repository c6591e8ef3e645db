import type { DialectName, Json } from './dialect.js';
import { isObject } from './event.js';
import { BETWEEN, fixedTexts, FREE, treatmentOf } from './places.js';
import { schema } from './schema-texts.js';
import { list, member, text, type Role, type Visit, type Walk } from './walk-json.js';

export type { Role, Visit };

/** Every string inside, whatever its place, and numbers that are long enough to be somebody's: arguments of calls. */
const strings: Walk = (value, role, at, visit) => {
  if (typeof value === 'string') return text(value, role, at, visit);
  if (typeof value === 'number' && Math.abs(value) >= LONG_NUMBER) {
    const told = visit(String(value), role, at);
    return told === String(value) ? value : told;
  }
  if (Array.isArray(value)) return list(strings)(value, role, at, visit);
  if (!isObject(value)) return value;
  return Object.keys(value).reduce<Json>((json, key) => member(json, key, strings, role, at, visit), value);
};
const LONG_NUMBER = 100_000_000;

const roles: Readonly<Record<string, Role>> = {
  system: 'system',
  developer: 'system',
  assistant: 'assistant',
  tool: 'tool',
  function: 'tool',
};

const roleOf = ({ role }: Json): Role =>
  (typeof role === 'string' && Object.hasOwn(roles, role) && roles[role]) || 'user';

/** Whose text stands in a block or an item, by what it is; null = its surroundings say so. */
const roleByType = ({ type, role }: Json): Role | null => {
  // Who says that a user speaks cannot unsay it, for the allowlist is about users.
  if (typeof type !== 'string' || typeof role === 'string') return null;
  if (/_(output|result)$/.test(type)) return type === 'search_result' ? null : 'tool';
  return /_(call|use|list_tools|approval_request)$|^(reasoning|thinking|compaction)/.test(type)
    ? 'assistant'
    : null;
};

/** All of a block, an item or whatever else a format may hold: known or not, its strings are text. */
const anything: Walk = (value, role, at, visit) => {
  if (Array.isArray(value)) return list(anything)(value, role, at, visit);
  if (!isObject(value)) return text(value, role, at, visit);
  const own = roleByType(value) ?? role;
  return Object.keys(value).reduce<Json>((json, key) => {
    const { [key]: held } = value;
    if (typeof held === 'string')
      return isText(value, key, held) ? member(json, key, text, own, at, visit) : json;
    if (FREE.has(key)) return member(json, key, strings, own, at, visit);
    return member(json, key, Array.isArray(held) ? under(key) : anything, own, at, visit);
  }, value);
};

/** A list's strings are what its key says they are. */
const under =
  (key: string): Walk =>
  (value, role, at, visit) =>
    list((each, _role, place) =>
      typeof each === 'string' && treatmentOf(key, each) !== 'read'
        ? each
        : anything(each, role, place, visit),
    )(value, role, at, visit);

/** A document's own text stands where others have bytes. */
const isText = (json: Json, key: string, held: string): boolean =>
  (key === 'data' && json.type === 'text') ||
  (key === 'name' && isSpeaker(json)) ||
  treatmentOf(key, held) === 'read';

/** Who speaks may be named; the name of a tool is that of its calls. */
const isSpeaker = ({ role, type }: Json): boolean =>
  type === undefined && typeof role === 'string' && roleOf({ role }) !== 'tool';

/** What cannot be changed comes first and in one: it is nobody's turn to speak. */
const structure: Walk = (value, role, at, visit) => {
  const fixed = fixedTexts(value);
  if (fixed.length > 0) visit(fixed.join(BETWEEN), role === 'user' ? 'tool' : role, at, true);
  return anything(value, role, at, visit);
};

/** A turn of a conversation, in any format. */
const turn: Walk = (value, _role, at, visit) =>
  isObject(value)
    ? structure(value, roleByType(value) ?? roleOf(value), at, visit)
    : structure(value, 'user', at, visit);

const turns: Walk = (value, role, at, visit) =>
  Array.isArray(value) ? list(turn)(value, role, at, visit) : turn(value, role, at, visit);

/** Not for the model: who asks, how it is counted, and where. */
const ASIDE = new Set([
  ...['model', 'metadata', 'user', 'safety_identifier', 'prompt_cache_key', 'mcp_servers', 'service_tier'],
  ...['reasoning', 'thinking', 'stream_options', 'logit_bias', 'audio', 'include', 'modalities', 'betas'],
  ...['provider', 'models', 'transforms', 'stop', 'stop_sequences', 'context_management', 'truncation'],
]);

const walks: Readonly<Record<string, Walk>> = {
  system: structure,
  messages: turns,
  input: turns,
  instructions: structure,
  prediction: structure,
  prompt: structure,
  tools: list(schema),
  functions: list(schema),
};

/** What is not named here is a schema or like one; a mere word is an option. */
const option: Walk = (value, role, at, visit) =>
  typeof value === 'string' && /^[\w.:-]{0,128}$/.test(value) ? value : schema(value, role, at, visit);

const body: Walk = (value, role, at, visit) =>
  isObject(value)
    ? inOrder(Object.keys(value)).reduce<Json>(
        (json, key) =>
          ASIDE.has(key)
            ? json
            : member(json, key, (Object.hasOwn(walks, key) && walks[key]) || option, role, at, visit),
        value,
      )
    : value;

/** The application's own words first, then the conversation, then what is there for it, in whatever order they came. */
const ORDER = ['system', 'instructions', 'prompt', 'messages', 'input'];
const inOrder = (keys: readonly string[]): readonly string[] => [
  ...ORDER.filter((key) => keys.includes(key)),
  ...keys.filter((key) => !ORDER.includes(key)),
];

/** The first role is that of text which says nothing of its own: a bare `input` is the user's. */
const firstRoles: Readonly<Record<DialectName, Role>> = {
  messages: 'system',
  chat: 'system',
  responses: 'user',
};

/** Shows every text of a request, in its order; gives the body with what was changed, the very same where nothing was. */
export const mapRequestTexts = (dialect: DialectName, json: Json, visit: Visit): Json =>
  body(json, firstRoles[dialect], '', (given, role, at, isFixed) =>
    visit(given, isTalk(at) ? role : 'system', at, isFixed),
  ) as Json;

/** Everything else is told by the application. */
const isTalk = (at: string): boolean => /^(messages|input|prompt|prediction)(\.|$)/.test(at);

/** The request with an instruction of the gateway's own, behind what the application says to the model. */
export const instruct = (dialect: DialectName, body: Json, instruction: string): Json => {
  switch (dialect) {
    case 'messages': {
      const { system } = body;
      if (Array.isArray(system))
        return { ...body, system: [...(system as unknown[]), { type: 'text', text: instruction }] };
      return {
        ...body,
        system: typeof system === 'string' && system !== '' ? `${system}\n\n${instruction}` : instruction,
      };
    }
    case 'chat':
      return { ...body, messages: behindSystem(body.messages, { role: 'system', content: instruction }) };
    case 'responses': {
      const { instructions } = body;
      return {
        ...body,
        instructions:
          typeof instructions === 'string' && instructions !== ''
            ? `${instructions}\n\n${instruction}`
            : instruction,
      };
    }
  }
};

const behindSystem = (messages: unknown, added: Json): unknown => {
  if (!Array.isArray(messages)) return messages;
  const at = messages.findIndex((each: unknown) => !isObject(each) || roleOf(each) !== 'system');
  const index = at === -1 ? messages.length : at;
  return [...(messages.slice(0, index) as unknown[]), added, ...(messages.slice(index) as unknown[])];
};
