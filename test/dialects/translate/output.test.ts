import t from 'tap';
import type { Json } from '../../../src/dialects/dialect.js';
import { closeSchema, fitsStrictMode } from '../../../src/dialects/translate/schema.js';
import { translate } from './translating.js';

const closed = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
const open = { type: 'object', properties: { city: { type: 'string' } } };

t.test('4.10 an answer in JSON by a schema is asked for in every format', async (t) => {
  const messages = { output_config: { format: { type: 'json_schema', schema: closed } } };
  const chat = {
    response_format: { type: 'json_schema', json_schema: { name: 'n', schema: closed, strict: true } },
  };
  const responses = { text: { format: { type: 'json_schema', name: 'n', schema: closed, strict: true } } };

  t.same(translate('chat', 'responses', chat).body.text, responses.text);
  t.same(translate('responses', 'chat', responses).body.response_format, chat.response_format);
  const fromChat = translate('chat', 'messages', chat);
  t.same(fromChat.body.output_config, messages.output_config);
  t.same(fromChat.dropped, ['response_format.json_schema.name']);
  const fromResponses = translate('responses', 'messages', responses);
  t.same(fromResponses.body.output_config, messages.output_config);
  t.same(fromResponses.dropped, ['text.format.name']);
  const named = { name: 'answer', schema: closed, strict: true };
  t.same(translate('messages', 'chat', messages).body.response_format, {
    type: 'json_schema',
    json_schema: named,
  });
  t.same(translate('messages', 'responses', messages).body.text, {
    format: { type: 'json_schema', ...named },
  });
});

t.test('4.10 a schema that strict mode would refuse is sent without it', async (t) => {
  const { body } = translate('messages', 'chat', {
    output_config: { format: { type: 'json_schema', schema: open } },
  });
  t.same(body.response_format, { type: 'json_schema', json_schema: { name: 'answer', schema: open } });
});

t.test('4.10 an answer in any JSON is carried between kin; plain text is no wish', async (t) => {
  const any = { type: 'json_object' };
  t.same(translate('chat', 'responses', { response_format: any }).body.text, { format: any });
  t.same(translate('responses', 'chat', { text: { format: any } }).body.response_format, any);
  t.notOk('output_config' in translate('chat', 'messages', { response_format: { type: 'text' } }).body);
  t.notOk('output_config' in translate('responses', 'messages', { text: { format: { type: 'text' } } }).body);
});

t.test('4.10 a schema for Anthropic has closed objects, and its bounds in words', async (t) => {
  const schema = {
    $defs: { point: { type: 'object', properties: {}, additionalProperties: true } },
    type: 'object',
    description: 'All.',
    properties: {
      age: { type: 'integer', minimum: 1, description: 'Years.' },
      list: { type: 'array', items: open, minItems: 3 },
      either: { anyOf: [open, { type: 'null' }] },
      // A property may bear the name of a keyword.
      minimum: { type: 'string' },
    },
  };
  t.same(closeSchema(schema), {
    $defs: { point: { type: 'object', properties: {}, additionalProperties: false } },
    type: 'object',
    description: 'All.',
    properties: {
      age: { type: 'integer', description: 'Years.\n\n{"minimum":1}' },
      list: {
        type: 'array',
        items: { ...open, additionalProperties: false },
        description: '{"minItems":3}',
      },
      either: { anyOf: [{ ...open, additionalProperties: false }, { type: 'null' }] },
      minimum: { type: 'string' },
    },
    additionalProperties: false,
  });
});

t.test('4.10 strict mode is asked for only where every object is closed and whole', async (t) => {
  const inside = (schema: Json): Json => ({ ...closed, properties: { city: schema } });
  t.ok(fitsStrictMode(closed));
  t.ok(fitsStrictMode(inside(closed)));
  t.notOk(fitsStrictMode(open));
  t.notOk(fitsStrictMode(inside({ type: 'array', items: open })));
  t.notOk(fitsStrictMode(inside({ anyOf: [closed, open] })));
  t.notOk(fitsStrictMode({ ...closed, $defs: { a: open } }));
  t.notOk(fitsStrictMode({ ...closed, required: [] }));
});
