import t from 'tap';
import { defaultFlags } from '../../../src/core/upstream-flags.js';
import { bridge } from '../../../src/dialects/bridge.js';
import { adaptBody } from '../../../src/dialects/translate/same-format.js';

const sampling = { temperature: 0.5, top_p: 0.9, top_k: 5 };

t.test('without flags a body goes on as it is, not copied', async (t) => {
  const body = { ...sampling, tools: [{ type: 'web_search' }] };
  for (const format of ['messages', 'chat', 'responses'] as const) {
    t.equal(adaptBody(format, body).body, body);
    t.equal(adaptBody(format, body, defaultFlags).body, body);
  }
});

t.test('D42 drop_sampling leaves out what a model refuses, in every format, and names it', async (t) => {
  const flags = { dropSampling: true };
  t.same(adaptBody('messages', { model: 'm', ...sampling }, flags), {
    body: { model: 'm' },
    dropped: ['temperature', 'top_p', 'top_k'],
  });
  t.same(
    adaptBody('chat', { seed: 1, frequency_penalty: 1, presence_penalty: 0, temperature: null }, flags),
    {
      body: { seed: 1, temperature: null },
      dropped: ['frequency_penalty', 'presence_penalty'],
    },
  );
  t.same(adaptBody('responses', { input: 'a', temperature: 1 }, flags), {
    body: { input: 'a' },
    dropped: ['temperature'],
  });
});

t.test('D42 drop_reasoning leaves out what asks for it and keeps what stands beside it', async (t) => {
  const flags = { dropReasoning: true };
  const format = { type: 'json_schema', schema: {} };
  t.same(
    adaptBody(
      'messages',
      { thinking: { type: 'adaptive' }, output_config: { effort: 'low', format } },
      flags,
    ),
    { body: { output_config: { format } }, dropped: ['thinking', 'output_config.effort'] },
  );
  t.same(adaptBody('messages', { output_config: { effort: 'low' } }, flags).body, {});
  t.same(adaptBody('messages', { output_config: { format } }, flags).dropped, []);
  t.same(adaptBody('chat', { reasoning_effort: 'high' }, flags), { body: {}, dropped: ['reasoning_effort'] });
  t.same(adaptBody('responses', { reasoning: { effort: 'high' } }, flags).body, {});
});

t.test('D42 drop_server_tools keeps the tools of the caller', async (t) => {
  const flags = { dropServerTools: true };
  const own = { name: 'look', input_schema: {} };
  t.same(adaptBody('messages', { tools: [own, { type: 'web_search_20250305', name: 'web' }] }, flags), {
    body: { tools: [own] },
    dropped: ['tools.*'],
  });
  t.same(
    adaptBody('responses', { tools: [{ type: 'web_search' }], tool_choice: 'auto', input: 'a' }, flags).body,
    { input: 'a' },
    'a choice among none goes with them',
  );
  const called = { type: 'function', function: { name: 'f' } };
  t.same(adaptBody('chat', { tools: [called], web_search_options: {} }, flags), {
    body: { tools: [called] },
    dropped: ['web_search_options'],
  });
});

t.test('lift_system_turns moves later system text to where the format has its start', async (t) => {
  const flags = { liftSystemTurns: true };
  const user = { role: 'user', content: 'hi' };
  const text = (value: string) => ({ type: 'text', text: value });
  t.same(
    adaptBody(
      'messages',
      {
        system: 'a',
        messages: [user, { role: 'system', content: [text('b')] }, { role: 'system', content: 'c' }],
      },
      flags,
    ).body,
    { system: [text('a'), text('b'), text('c')], messages: [user] },
  );
  const late = { role: 'developer', content: 'late' };
  t.same(adaptBody('chat', { messages: [user, late] }, flags).body, { messages: [late, user] });
  t.same(adaptBody('responses', { input: [user, late] }, flags).body, { input: [late, user] });
  const plain = { input: 'text' };
  t.equal(adaptBody('responses', plain, flags).body, plain);
});

t.test('max_tokens_field renames the bound of a chat request', async (t) => {
  const flags = { maxTokensField: 'max_tokens' as const };
  t.same(adaptBody('chat', { max_completion_tokens: 5 }, flags).body, { max_tokens: 5 });
  t.same(adaptBody('chat', { max_tokens: 6 }, flags).body, { max_tokens: 6 });
  t.same(adaptBody('responses', { max_output_tokens: 5 }, flags).body, { max_output_tokens: 5 });
});

t.test('D42 a bridge within one format applies the flags and tells what was dropped', async (t) => {
  const body = { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'a' }], temperature: 1.5 };
  const request = { model: 'm', stream: false, maxOutputTokens: 5, flaggedCategories: [], body };
  const crossed = bridge('messages', 'messages').forward(request, {
    upstreamModel: 'up',
    clientHeaders: { 'anthropic-version': '2026-10-21' },
    defaultMaxTokens: 9,
    flags: { dropSampling: true },
  });
  t.same(JSON.parse(crossed.body), { model: 'up', max_tokens: 5, messages: body.messages });
  t.same(crossed.dropped, ['temperature']);
  t.equal(crossed.headers['anthropic-version'], '2026-10-21', 'no longer the version that knows temperature');
});
