import t from 'tap';
import type { Json } from '../../../src/dialects/dialect.js';
import { readSignature, tagSignature } from '../../../src/dialects/translate/signature.js';
import { translate } from './translating.js';

const budget = { flags: { thinking: 'budget' } } as const;

t.test('4.10 a budget of reasoning becomes an effort', async (t) => {
  for (const [tokens, effort] of [
    [1_024, 'low'],
    [4_000, 'medium'],
    [15_999, 'medium'],
    [31_999, 'high'],
  ] as const) {
    const body = { max_tokens: 64_000, thinking: { type: 'enabled', budget_tokens: tokens } };
    t.equal(translate('messages', 'chat', body).body.reasoning_effort, effort);
    t.same(translate('messages', 'responses', body).body.reasoning, { effort });
  }
});

t.test('4.10 a stated effort wins over a budget, which is named', async (t) => {
  const { body, dropped } = translate('messages', 'chat', {
    thinking: { type: 'enabled', budget_tokens: 2_000 },
    output_config: { effort: 'max' },
  });
  t.equal(body.reasoning_effort, 'max');
  t.same(dropped, ['thinking.budget_tokens']);
});

t.test(
  '4.10 reasoning left to the model, or between tools only, is named where it cannot be said',
  async (t) => {
    const adaptive = translate('messages', 'chat', { thinking: { type: 'adaptive' } });
    t.notOk('reasoning_effort' in adaptive.body);
    t.same(adaptive.dropped, ['thinking']);
    const between = translate('messages', 'responses', {
      thinking: { type: 'between_tools' },
      output_config: { effort: 'low' },
    });
    t.same(between.body.reasoning, { effort: 'low' });
    t.same(between.dropped, ['thinking.type']);
  },
);

t.test('4.10 how much reasoning is shown is carried where both formats can say it', async (t) => {
  const thinking = (display: string) => ({ thinking: { type: 'enabled', budget_tokens: 9_000, display } });
  t.same(translate('messages', 'responses', thinking('summarized')).body.reasoning, {
    effort: 'medium',
    summary: 'auto',
  });
  t.same(translate('messages', 'responses', thinking('omitted')).body.reasoning, { effort: 'medium' });
  t.same(translate('messages', 'chat', thinking('omitted')).dropped, ['thinking.display']);
  t.same(
    translate('responses', 'messages', { reasoning: { effort: 'low', summary: 'detailed' } }).body.thinking,
    { type: 'adaptive', display: 'summarized' },
  );
});

t.test('4.10 older models are told a budget below the bound of tokens', async (t) => {
  const ask = (body: Json) => translate('chat', 'messages', { reasoning_effort: 'high', ...body }, budget);
  t.same(ask({ max_tokens: 64_000 }).body.thinking, { type: 'enabled', budget_tokens: 16_384 });
  t.same(ask({ max_tokens: 5_000 }).body.thinking, { type: 'enabled', budget_tokens: 4_999 });
  const small = ask({ max_tokens: 1_024 });
  t.notOk('thinking' in small.body, 'no room');
  t.same(small.dropped, ['reasoning_effort']);
});

t.test('4.10 older models do not reason on in calls they did not sign', async (t) => {
  const messages = [
    { role: 'user', content: 'a' },
    {
      role: 'assistant',
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'a', content: 'ok' },
  ];
  const body = { reasoning_effort: 'high', max_tokens: 64_000, messages };
  const old = translate('chat', 'messages', body, budget);
  t.notOk('thinking' in old.body);
  t.same(old.dropped, ['reasoning_effort']);
  t.same(translate('chat', 'messages', body).body.thinking, { type: 'adaptive' }, 'newer ones do');
});

t.test('4.10 a call that must be made comes before reasoning', async (t) => {
  const tools = [{ type: 'function', function: { name: 'f' } }];
  const { body, dropped } = translate('chat', 'messages', {
    tools,
    tool_choice: 'required',
    reasoning_effort: 'high',
  });
  t.notOk('thinking' in body);
  t.same(body.output_config, { effort: 'high' });
  t.same(dropped, []);
});

t.test('4.10 models that refuse to be asked are not', async (t) => {
  const flags = { dropReasoning: true };
  const fromChat = translate('chat', 'messages', { reasoning_effort: 'low' }, { flags });
  t.notOk('thinking' in fromChat.body || 'output_config' in fromChat.body);
  t.same(fromChat.dropped, ['reasoning_effort']);
  const body = { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'low' } };
  for (const to of ['chat', 'responses'] as const) {
    const sent = translate('messages', to, body, { flags });
    t.notOk('reasoning_effort' in sent.body || 'reasoning' in sent.body);
    t.same([...sent.dropped].sort(), ['output_config.effort', 'thinking', 'thinking.display']);
  }
});

const thought = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' };
const history = (...content: Json[]): Json => ({
  messages: [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: [...content, { type: 'text', text: 'b' }] },
    { role: 'user', content: 'c' },
  ],
});

t.test('4.10 reasoning signed by another vendor is left out and named, never forged', async (t) => {
  for (const to of ['chat', 'responses'] as const) {
    const { body, dropped } = translate(
      'messages',
      to,
      history(thought, { type: 'redacted_thinking', data: 'x' }),
    );
    t.notMatch(JSON.stringify(body), /Hm\.|c2ln|reasoning/);
    t.same(dropped, ['messages.*.content.*.thinking', 'messages.*.content.*.data']);
  }
  const { body, dropped } = translate('responses', 'messages', {
    input: [
      { role: 'user', content: 'a' },
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'Hm.' }],
        encrypted_content: 'gAAA',
      },
      { role: 'assistant', content: 'b' },
    ],
  });
  t.notMatch(JSON.stringify(body), /Hm\.|gAAA|thinking/);
  t.same(dropped, ['input.*.encrypted_content']);
  t.same(
    translate('chat', 'messages', {
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: 'b', reasoning_content: 'Hm.' },
      ],
    }).dropped,
    ['messages.*.reasoning_content'],
  );
});

t.test('4.10 servers that keep reasoning as text get it as text', async (t) => {
  const { body, dropped } = translate('messages', 'chat', history(thought), {
    flags: { takesReasoningText: true },
  });
  t.match((body.messages as Json[])[1], { role: 'assistant', content: 'b', reasoning_content: 'Hm.' });
  t.same(dropped, []);
});

t.test(
  '4.10 reasoning goes back to its issuer byte for byte, through a client of another format',
  async (t) => {
    const fromMessages = translate(
      'messages',
      'responses',
      history({ ...thought, signature: tagSignature('responses', 'gAAA') }),
    );
    t.same((fromMessages.body.input as Json[])[1], {
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'Hm.' }],
      encrypted_content: 'gAAA',
    });
    t.same(fromMessages.dropped, []);
    const fromResponses = translate('responses', 'messages', {
      input: [
        {
          type: 'reasoning',
          id: 'rs_1',
          summary: [{ type: 'summary_text', text: 'Hm.' }],
          encrypted_content: tagSignature('messages', 'c2ln'),
        },
        { role: 'assistant', content: 'b' },
        { role: 'user', content: 'c' },
      ],
    });
    t.same((fromResponses.body.messages as Json[])[0], {
      role: 'assistant',
      content: [thought, { type: 'text', text: 'b' }],
    });
    t.same(fromResponses.dropped, []);
  },
);

t.test('4.10 proof for the next request is asked for where the client can keep it', async (t) => {
  const include = ['reasoning.encrypted_content'];
  t.same(translate('messages', 'responses', { output_config: { effort: 'low' } }).body.include, include);
  t.notOk('include' in translate('messages', 'responses', {}).body);
  t.notOk('include' in translate('messages', 'responses', { thinking: { type: 'disabled' } }).body);
  t.notOk('include' in translate('chat', 'responses', { reasoning_effort: 'low' }).body);
});

t.test('4.10 a signature without a tag belongs to its own format', async (t) => {
  t.same(readSignature('abc', 'messages'), { issuer: 'messages', value: 'abc' });
  t.same(readSignature(tagSignature('chat', 'a.b\nc'), 'messages'), { issuer: 'chat', value: 'a.b\nc' });
  t.equal(readSignature('', 'messages'), null);
  t.equal(readSignature(undefined, 'messages'), null);
  t.equal(readSignature(tagSignature('chat', ''), 'messages'), null);
});
