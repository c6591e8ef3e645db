import t from 'tap';
import { messagesDialect } from '../../../src/dialects/messages/dialect.js';

const valid = { model: 'claude-x', messages: [{ role: 'user', content: 'hi' }] };

const faults: readonly [title: string, body: unknown, param: string][] = [
  ['no object', [], 'body'],
  ['null', null, 'body'],
  ['no model', { messages: valid.messages }, 'model'],
  ['an empty model', { ...valid, model: '' }, 'model'],
  ['a model that is a number', { ...valid, model: 3 }, 'model'],
  ['no messages', { model: 'm' }, 'messages'],
  ['empty messages', { ...valid, messages: [] }, 'messages'],
  ['messages that are no array', { ...valid, messages: {} }, 'messages'],
  ['a message that is a string', { ...valid, messages: ['hi'] }, 'messages.0'],
  ['no role', { ...valid, messages: [{ content: 'hi' }] }, 'messages.0.role'],
  [
    'an unknown role',
    { ...valid, messages: [...valid.messages, { role: 'tool', content: '' }] },
    'messages.1.role',
  ],
  ['no content', { ...valid, messages: [{ role: 'user' }] }, 'messages.0.content'],
  ['content that is a number', { ...valid, messages: [{ role: 'user', content: 1 }] }, 'messages.0.content'],
  [
    'a block that is a string',
    { ...valid, messages: [{ role: 'user', content: ['x'] }] },
    'messages.0.content.0',
  ],
  [
    'a block without a type',
    { ...valid, messages: [{ role: 'user', content: [{ type: 'image' }, {}] }] },
    'messages.0.content.1.type',
  ],
  [
    'a text block without text',
    { ...valid, messages: [{ role: 'user', content: [{ type: 'text' }] }] },
    'messages.0.content.0.text',
  ],
  ['max_tokens 0', { ...valid, max_tokens: 0 }, 'max_tokens'],
  ['max_tokens 1.5', { ...valid, max_tokens: 1.5 }, 'max_tokens'],
  ['max_tokens as text', { ...valid, max_tokens: '9' }, 'max_tokens'],
  ['temperature -0.1', { ...valid, temperature: -0.1 }, 'temperature'],
  ['temperature 2.1', { ...valid, temperature: 2.1 }, 'temperature'],
  ['stream as text', { ...valid, stream: 'true' }, 'stream'],
  ['system as a number', { ...valid, system: 5 }, 'system'],
  ['a system block without text', { ...valid, system: [{ type: 'text' }] }, 'system.0.text'],
  ['an unknown category', { ...valid, flagged_categories: ['hate', 'self-harm'] }, 'flagged_categories.1'],
  ['categories as text', { ...valid, flagged_categories: 'hate' }, 'flagged_categories'],
];

for (const [title, body, param] of faults) {
  t.test(`4.10 ${title} is refused, naming ${param}`, async (t) => {
    t.throws(() => messagesDialect.read(body), { code: 'invalid_request', status: 400, param });
  });
}

t.test('4.10 a missing field is called required', async (t) => {
  t.throws(() => messagesDialect.read({ messages: valid.messages }), { message: 'model: is required' });
});

t.test('4.10 what the walk acts on is read', async (t) => {
  t.match(
    messagesDialect.read({ ...valid, stream: true, max_tokens: 1, flagged_categories: ['hate', 'illicit'] }),
    {
      model: 'claude-x',
      stream: true,
      maxOutputTokens: 1,
      flaggedCategories: ['hate', 'illicit'],
    },
  );
  t.match(messagesDialect.read(valid), { stream: false, maxOutputTokens: null, flaggedCategories: [] });
});

t.test('D35 unknown fields, block types and system turns pass, own fields are taken out', async (t) => {
  const body = JSON.parse(
    `{"model":"m","messages":[{"role":"system","content":"s","x":1},{"role":"user","content":[{"type":"novel","a":{"constructor":1}}]}],
      "thinking":{"type":"adaptive"},"metadata":{"user_id":"u"},"constructor":2,"__proto__":{"a":1}}`,
  ) as Record<string, unknown>;
  const { body: kept } = messagesDialect.read({ ...body, flagged_categories: ['hate'] });
  t.equal(JSON.stringify(kept), JSON.stringify(body));
});

const edits = (...list: unknown[]): unknown => ({ ...valid, context_management: { edits: list } });

t.test('D41 edits that remove nothing are consumed, others stay', async (t) => {
  const idle = { type: 'clear_thinking_20251015', keep: 'all' };
  const idleToo = { type: 'clear_thinking_20251015', keep: { type: 'all' } };
  const acting = { type: 'clear_thinking_20251015', keep: { type: 'thinking_turns', value: 1 } };
  t.notOk('context_management' in messagesDialect.read(edits(idle, idleToo)).body);
  const clearing = { type: 'clear_tool_uses_20250919' };
  for (const body of [edits(acting), edits(clearing)]) t.same(messagesDialect.read(body).body, body);
  t.same(messagesDialect.read(edits(idle, clearing)).body, edits(clearing));
  t.same(messagesDialect.read(edits(acting, idleToo)).body, edits(acting));
});

const forward = (body: object, headers: Record<string, string> = {}) => {
  const request = messagesDialect.read({ ...valid, ...body });
  const sent = messagesDialect.forward(request, {
    upstreamModel: 'up',
    clientHeaders: headers,
    defaultMaxTokens: 4096,
  });
  return { ...sent, body: JSON.parse(sent.body) as Record<string, unknown> };
};

t.test('the upstream gets its own model name and a token bound', async (t) => {
  t.same(forward({}).body, { ...valid, model: 'up', max_tokens: 4096 });
  t.equal(forward({ max_tokens: 7 }).body.max_tokens, 7);
});

t.test('D42 the version of the client goes on, unless the request samples', async (t) => {
  const newest = { 'anthropic-version': '2026-10-21' };
  t.equal(forward({}).headers['anthropic-version'], '2023-06-01');
  t.equal(forward({}, newest).headers['anthropic-version'], '2026-10-21');
  for (const sampling of [{ temperature: 0 }, { top_p: 0.9 }, { top_k: 5 }])
    t.equal(forward(sampling, newest).headers['anthropic-version'], '2023-06-01');
  t.equal(forward({ temperature: 1.7 }).body.temperature, 1);
  t.equal(forward({ temperature: 0.3 }).body.temperature, 0.3);
});

t.test('D42 betas go on, less what was consumed', async (t) => {
  const headers = { 'anthropic-beta': 'a-1, context-management-2025-06-27,b-2' };
  const idle = { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] };
  t.equal(forward({ context_management: idle }, headers).headers['anthropic-beta'], 'a-1,b-2');
  t.equal(
    forward({ context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } }, headers).headers[
      'anthropic-beta'
    ],
    'a-1,context-management-2025-06-27,b-2',
  );
  t.notOk('anthropic-beta' in forward({}).headers);
  t.notOk('anthropic-beta' in forward({}, { 'anthropic-beta': 'context-management-2025-06-27' }).headers);
});
