import t from 'tap';
import type { DialectName } from '../../../src/dialects/dialect.js';
import { mapRequestTexts } from '../../../src/dialects/request-texts.js';
import { formats, openDesk, type Json } from '../../support/review.js';
import { BAD, base, paths, user } from './plain-requests.js';
import { doors, houses, MAIL } from './rows.js';

const schemas: Readonly<Record<string, Json>> = {
  'a title': { type: 'object', title: BAD },
  'a key': { type: 'object', properties: { [BAD]: { type: 'string' } } },
  'an enum': { type: 'object', properties: { x: { type: 'string', enum: [BAD] } } },
  'a default': { type: 'object', properties: { x: { type: 'object', default: { type: BAD } } } },
  'an example': { type: 'object', examples: [{ id: BAD }] },
  'a pattern': { type: 'object', properties: { x: { type: 'string', pattern: BAD } } },
  'a description in a list': { type: 'object', description: [BAD] },
};
const schemaPlaces: Readonly<Record<DialectName, Readonly<Record<string, (schema: Json) => Json>>>> = {
  messages: {
    tools: (schema) => ({ tools: [{ name: 'look', input_schema: schema }] }),
    output_config: (schema) => ({ output_config: { format: { type: 'json_schema', schema } } }),
  },
  chat: {
    tools: (schema) => ({ tools: [{ type: 'function', function: { name: 'look', parameters: schema } }] }),
    response_format: (schema) => ({
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
    }),
  },
  responses: {
    tools: (schema) => ({ tools: [{ type: 'function', name: 'look', parameters: schema }] }),
    'text.format': (schema) => ({ text: { format: { type: 'json_schema', name: 'x', schema } } }),
  },
};

const assistant = (...content: readonly Json[]): Json => ({
  messages: [user, { role: 'assistant', content }, user],
});
const items = (...input: readonly Json[]): Json => ({ input: [user, ...input, user] });
const turns: Readonly<Record<DialectName, Readonly<Record<string, (text: string) => Json>>>> = {
  messages: {
    'a key of an input': (text) =>
      assistant({ type: 'tool_use', id: 'a', name: 'look', input: { deep: [{ [text]: 1 }] } }),
    'a result of code': (text) =>
      assistant({
        type: 'code_execution_tool_result',
        tool_use_id: 'a',
        content: { type: 'code_execution_result', stdout: text, stderr: '', return_code: 0, content: [] },
      }),
    'a source': (text) =>
      assistant({
        type: 'search_result',
        source: text,
        title: 'x',
        content: [{ type: 'text', text: 'x' }],
      }),
    'a citation': (text) =>
      assistant({ type: 'text', text: 'x', citations: [{ type: 'char_location', cited_text: text }] }),
    'a block nobody knows': (text) => assistant({ type: 'new', inside: [{ of: { it: text } }] }),
  },
  chat: {
    'a name': (text) => ({ messages: [{ ...user, name: text }] }),
    'a custom call': (text) => ({
      messages: [
        user,
        {
          role: 'assistant',
          tool_calls: [{ id: 'a', type: 'custom', custom: { name: 'x', input: text } }],
        },
        { role: 'tool', tool_call_id: 'a', content: 'x' },
      ],
    }),
    'a part nobody knows': (text) => ({ messages: [{ role: 'user', content: [{ type: 'new', of: text }] }] }),
  },
  responses: {
    'an output of a shell': (text) =>
      items({
        type: 'shell_call_output',
        call_id: 'a',
        output: [{ stdout: 'x', stderr: text, outcome: { type: 'exit', exit_code: 0 } }],
      }),
    'a command': (text) => items({ type: 'shell_call', call_id: 'a', action: { commands: ['ls', text] } }),
    'a patch': (text) =>
      items({ type: 'apply_patch_call', call_id: 'a', operation: { type: 'x', path: 'x', diff: text } }),
    'a result of a search': (text) =>
      items({ type: 'file_search_call', id: 'a', queries: ['x'], results: [{ file_id: 'x', text }] }),
  },
};
/** A key is what calls are made of: it is read, and stays. */
const stays = new Set(['a key of an input']);

for (const format of formats)
  t.test(`${doors[format]}: no place of a request is left out`, async (t) => {
    const { talker, ask } = await openDesk(t, houses);
    const refused = async (name: string, more: Json): Promise<void> => {
      await t.test(`D31 a denied term is found in ${name}`, async (t) => {
        talker.forget();
        const answer = await ask('denying', paths[format], { ...base[format], ...more });
        t.equal(answer.status, 400);
        t.match(await answer.text(), /Output blocked by content filtering policy/);
        t.equal(talker.seen.length, 0, 'the upstream never hears of it');
      });
    };
    for (const [place, put] of Object.entries(schemaPlaces[format]))
      for (const [name, schema] of Object.entries(schemas)) await refused(`${name} in ${place}`, put(schema));
    for (const [name, put] of Object.entries(turns[format])) {
      await refused(name, put(BAD));
      if (!stays.has(name))
        await t.test(`D19 personal data is masked in ${name}`, async (t) => {
          const given = { ...base[format], ...put(`Ask ${MAIL}.`) };
          const told = mapRequestTexts(format, given, (text) => text.replaceAll(MAIL, '[EMAIL_1]'));
          t.equal(JSON.stringify(told), JSON.stringify(given).replaceAll(MAIL, '[EMAIL_1]'));
        });
    }
  });
