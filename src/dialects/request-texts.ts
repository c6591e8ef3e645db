import type { DialectName, Json } from './dialect.js';
import { isObject } from './event.js';

export type Role = 'system' | 'user' | 'assistant' | 'tool';

/** Sees one text of a request and gives what stands there from now on: the same, or another. */
export type Visit = (text: string, role: Role, at: string) => string;

type Walk = (value: unknown, role: Role, at: string, visit: Visit) => unknown;

const member = (json: Json, key: string, walk: Walk, role: Role, at: string, visit: Visit): Json => {
  const before = json[key];
  if (before === undefined) return json;
  const after = walk(before, role, at === '' ? key : `${at}.${key}`, visit);
  return after === before ? json : { ...json, [key]: after };
};

const list =
  (walk: Walk): Walk =>
  (value, role, at, visit) => {
    if (!Array.isArray(value)) return value;
    const before: readonly unknown[] = value;
    const after = before.map((each, i) => walk(each, role, `${at}.${i}`, visit));
    return after.some((each, i) => each !== before[i]) ? after : before;
  };

const text: Walk = (value, role, at, visit) =>
  typeof value === 'string' && value !== '' ? visit(value, role, at) : value;

/** Every string inside, whatever its place: arguments of calls, schemas' descriptions. */
const strings: Walk = (value, role, at, visit) => {
  if (typeof value === 'string') return text(value, role, at, visit);
  if (Array.isArray(value)) return list(strings)(value, role, at, visit);
  if (!isObject(value)) return value;
  return Object.keys(value).reduce<Json>((json, key) => member(json, key, strings, role, at, visit), value);
};

const either =
  (item: Walk): Walk =>
  (value, role, at, visit) =>
    typeof value === 'string' ? text(value, role, at, visit) : list(item)(value, role, at, visit);

const members =
  (parts: Readonly<Record<string, Walk>>): Walk =>
  (value, role, at, visit) =>
    isObject(value)
      ? Object.keys(parts).reduce<Json>((json, key) => member(json, key, parts[key]!, role, at, visit), value)
      : value;

/** Content blocks of every format: what a block may hold as text stands under one of these. */
const block: Walk = (value, role, at, visit) =>
  isObject(value)
    ? members({
        text,
        thinking: text,
        refusal: text,
        input: strings,
        title: text,
        context: text,
        content: either(block),
        source: members({ data: plainData(value), content: either(block) }),
      })(value, value.type === 'tool_result' ? 'tool' : role, at, visit)
    : value;

/** A document's own text; bytes in base64 are none. */
const plainData = ({ source }: Json): Walk =>
  isObject(source) && source.type === 'text' ? text : (value) => value;

const call = members({
  function: members({ name: text, arguments: text }),
  custom: members({ input: text }),
});

const roles: Readonly<Record<string, Role>> = {
  system: 'system',
  developer: 'system',
  assistant: 'assistant',
  tool: 'tool',
  function: 'tool',
};

const roleOf = ({ role }: Json): Role => (typeof role === 'string' && roles[role]) || 'user';

const message: Walk = (value, _role, at, visit) =>
  isObject(value)
    ? members({
        content: either(block),
        refusal: text,
        reasoning_content: text,
        tool_calls: list(call),
        function_call: members({ arguments: text }),
      })(value, roleOf(value), at, visit)
    : value;

const itemRoles: Readonly<Record<string, Role>> = {
  function_call: 'assistant',
  custom_tool_call: 'assistant',
  reasoning: 'assistant',
  function_call_output: 'tool',
  custom_tool_call_output: 'tool',
};

const item: Walk = (value, _role, at, visit) => {
  if (!isObject(value)) return value;
  const role = (typeof value.type === 'string' && itemRoles[value.type]) || roleOf(value);
  return members({
    content: either(block),
    summary: list(block),
    arguments: text,
    input: text,
    output: either(block),
    text,
    code: text,
    outputs: strings,
  })(value, role, at, visit);
};

/** Descriptions at any depth: of a tool, and of all that its schema names. */
const described: Walk = (value, role, at, visit) => {
  if (Array.isArray(value)) return list(described)(value, role, at, visit);
  if (!isObject(value)) return value;
  return Object.keys(value).reduce<Json>(
    (json, key) => member(json, key, key === 'description' ? textOrDeeper : described, role, at, visit),
    value,
  );
};
/** A schema may have a property of this very name. */
const textOrDeeper: Walk = (value, role, at, visit) =>
  typeof value === 'string' ? text(value, role, at, visit) : described(value, role, at, visit);

const walks: Readonly<Record<DialectName, Walk>> = {
  messages: members({ system: either(block), messages: list(message), tools: described }),
  chat: members({
    messages: list(message),
    tools: described,
    functions: described,
    prediction: members({ content: either(block) }),
  }),
  responses: members({
    instructions: text,
    prompt: members({ variables: strings }),
    input: either(item),
    tools: described,
  }),
};

/** The first role is that of text which says nothing of its own: a bare `input` is the user's. */
const firstRoles: Readonly<Record<DialectName, Role>> = {
  messages: 'system',
  chat: 'system',
  responses: 'user',
};

/** Shows every text of a request, in its order; gives the body with what was changed, the very same where nothing was. */
export const mapRequestTexts = (dialect: DialectName, body: Json, visit: Visit): Json =>
  walks[dialect](body, firstRoles[dialect], '', (given, role, at) =>
    visit(given, isToldByApplication(at) ? 'system' : role, at),
  ) as Json;

const isToldByApplication = (at: string): boolean => at === 'instructions' || at.startsWith('tools.');

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
