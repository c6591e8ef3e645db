import fc from 'fast-check';
import t from 'tap';
import type { DialectName, Json } from '../../src/dialects/dialect.js';
import { instruct, mapRequestTexts } from '../../src/dialects/request-texts.js';

const bodies: Readonly<Record<DialectName, Json>> = {
  messages: {
    model: 'm',
    system: [{ type: 'text', text: 'sys', cache_control: { type: 'ephemeral' } }],
    tools: [{ name: 'look', description: 'looks', input_schema: { type: 'object' } }],
    messages: [
      { role: 'user', content: 'one' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'two', signature: 's' },
          { type: 'text', text: 'three' },
          { type: 'tool_use', id: 'a', name: 'look', input: { where: 'four', deep: [{ x: 'five' }], n: 3 } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'six' }] },
          {
            type: 'document',
            source: { type: 'text', media_type: 'text/plain', data: 'seven' },
            title: 'eight',
          },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
          { type: 'text', text: 'nine' },
        ],
      },
    ],
  },
  chat: {
    model: 'm',
    tools: [{ type: 'function', function: { name: 'look', description: 'looks', parameters: {} } }],
    messages: [
      { role: 'system', content: 'sys' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'one' },
          { type: 'image_url', image_url: { url: 'data:' } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{"x":"two"}' } }],
      },
      { role: 'tool', tool_call_id: 'a', content: 'three' },
      { role: 'user', content: 'four' },
    ],
  },
  responses: {
    model: 'm',
    instructions: 'sys',
    input: [
      { role: 'user', content: [{ type: 'input_text', text: 'one' }] },
      {
        type: 'reasoning',
        id: 'r',
        summary: [{ type: 'summary_text', text: 'two' }],
        encrypted_content: 'e',
      },
      { type: 'function_call', call_id: 'a', name: 'look', arguments: '{"x":"three"}' },
      { type: 'function_call_output', call_id: 'a', output: 'four' },
      { role: 'user', content: 'five' },
    ],
  },
};

const seen = (dialect: DialectName, body: Json): readonly (readonly [string, string, string])[] => {
  const texts: [string, string, string][] = [];
  mapRequestTexts(dialect, body, (text, role, at) => {
    texts.push([text, role, at]);
    return text;
  });
  return texts;
};

t.test('D31 every text of a request is read, with its role and its place', async (t) => {
  t.same(seen('messages', bodies.messages), [
    ['sys', 'system', 'system.0.text'],
    ['one', 'user', 'messages.0.content'],
    ['look\n|\nwhere\n|\ndeep\n|\nx\n|\nn', 'assistant', 'messages.1'],
    ['two', 'assistant', 'messages.1.content.0.thinking'],
    ['three', 'assistant', 'messages.1.content.1.text'],
    ['four', 'assistant', 'messages.1.content.2.input.where'],
    ['five', 'assistant', 'messages.1.content.2.input.deep.0.x'],
    ['six', 'tool', 'messages.2.content.0.content.0.text'],
    ['seven', 'user', 'messages.2.content.1.source.data'],
    ['eight', 'user', 'messages.2.content.1.title'],
    ['nine', 'user', 'messages.2.content.3.text'],
    ['look', 'system', 'tools.0'],
    ['looks', 'system', 'tools.0.description'],
  ]);
  t.same(seen('chat', bodies.chat), [
    ['sys', 'system', 'messages.0.content'],
    ['one', 'user', 'messages.1.content.0.text'],
    ['look', 'assistant', 'messages.2'],
    ['{"x":"two"}', 'assistant', 'messages.2.tool_calls.0.function.arguments'],
    ['three', 'tool', 'messages.3.content'],
    ['four', 'user', 'messages.4.content'],
    ['look', 'system', 'tools.0'],
    ['looks', 'system', 'tools.0.function.description'],
  ]);
  t.same(seen('responses', bodies.responses), [
    ['sys', 'system', 'instructions'],
    ['one', 'user', 'input.0.content.0.text'],
    ['two', 'assistant', 'input.1.summary.0.text'],
    ['look', 'assistant', 'input.2'],
    ['{"x":"three"}', 'assistant', 'input.2.arguments'],
    ['four', 'tool', 'input.3.output'],
    ['five', 'user', 'input.4.content'],
  ]);
  t.same(seen('responses', { model: 'm', input: 'hello' }), [['hello', 'user', 'input']]);
});

t.test('D35 a request that nobody changes is the very same, and a change touches nothing else', async (t) => {
  for (const dialect of ['messages', 'chat', 'responses'] as const) {
    const body = bodies[dialect];
    t.equal(
      mapRequestTexts(dialect, body, (text) => text),
      body,
    );
    const before = JSON.stringify(body);
    const changed = mapRequestTexts(dialect, body, (text) => text.replace('one', 'ONE'));
    t.equal(JSON.stringify(body), before);
    t.equal(JSON.stringify(changed), before.replace('"one"', '"ONE"'));
  }
});

t.test('D35 any JSON at all is walked without a fault', async () => {
  fc.assert(
    fc.property(
      fc.constantFrom('messages', 'chat', 'responses'),
      fc.object({ maxDepth: 4 }),
      (dialect, body) => {
        mapRequestTexts(dialect, { ...bodies[dialect], ...body }, (text) => text);
      },
    ),
  );
});

t.test('D18 an instruction of the gateway stands behind what the application says', async (t) => {
  t.equal(instruct('messages', { system: 'Be kind.' }, 'Be safe.').system, 'Be kind.\n\nBe safe.');
  t.same(instruct('messages', { system: [{ type: 'text', text: 'a' }] }, 'b').system, [
    { type: 'text', text: 'a' },
    { type: 'text', text: 'b' },
  ]);
  t.equal(instruct('messages', {}, 'b').system, 'b');
  t.same(instruct('chat', bodies.chat, 'b').messages, [
    (bodies.chat.messages as unknown[])[0],
    { role: 'system', content: 'b' },
    ...(bodies.chat.messages as unknown[]).slice(1),
  ]);
  t.equal(instruct('responses', { instructions: 'a' }, 'b').instructions, 'a\n\nb');
});
