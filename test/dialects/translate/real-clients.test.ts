import t from 'tap';
import type { Json } from '../../../src/dialects/dialect.js';
import { translate } from './translating.js';

/** A request as Claude Code sends it, shortened. */
const claudeCode: Json = {
  model: 'claude-opus-4-7',
  max_tokens: 32_000,
  system: [
    { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1; cc_entrypoint=cli; cch=a1b2;' },
    { type: 'text', text: 'You write code.', cache_control: { type: 'ephemeral' } },
    { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } },
  ],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: '<reminder/>' },
        { type: 'text', text: 'List the files.' },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'I should look.', signature: 'EqQB' },
        { type: 'tool_use', id: 'toolu_01', name: 'Bash', input: { command: 'ls' } },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'toolu_01',
          content: 'a.txt',
          is_error: false,
          cache_control: { type: 'ephemeral' },
        },
      ],
    },
  ],
  tools: [
    { name: 'Bash', description: 'Runs.', input_schema: { $schema: 'x', type: 'object', properties: {} } },
  ],
  metadata: { user_id: '{"device_id":"d"}' },
  thinking: { type: 'adaptive' },
  output_config: { effort: 'high' },
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  stream: true,
};

/** A request as Codex sends it, shortened. */
const codex: Json = {
  model: 'gpt-5-codex',
  instructions: 'You write code.',
  input: [
    { type: 'message', role: 'developer', content: [{ type: 'input_text', text: '<permissions/>' }] },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'List the files.' }] },
    { type: 'reasoning', summary: [], content: null, encrypted_content: 'gAAA' },
    { type: 'function_call', name: 'exec', arguments: '{"cmd":"ls"}', call_id: 'call_1' },
    { type: 'function_call_output', call_id: 'call_1', output: 'a.txt' },
  ],
  tools: [
    { type: 'function', name: 'exec', description: 'Runs.', strict: false, parameters: { type: 'object' } },
    { type: 'web_search', external_web_access: false },
    { type: 'custom', name: 'apply_patch', format: { type: 'grammar' } },
  ],
  tool_choice: 'auto',
  parallel_tool_calls: false,
  reasoning: { effort: 'medium', summary: 'auto' },
  store: false,
  stream: true,
  include: ['reasoning.encrypted_content'],
  prompt_cache_key: 'key',
  text: { verbosity: 'low' },
  client_metadata: { session: 's' },
};

t.test('4.10 Claude Code reaches a chat upstream', async (t) => {
  const { body, dropped } = translate('messages', 'chat', claudeCode);
  t.same(body.messages, [
    { role: 'system', content: 'You write code.\n\nBe brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: '<reminder/>' },
        { type: 'text', text: 'List the files.' },
      ],
    },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'toolu_01', type: 'function', function: { name: 'Bash', arguments: '{"command":"ls"}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'toolu_01', content: 'a.txt' },
  ]);
  t.match(body, { reasoning_effort: 'high', max_completion_tokens: 32_000, stream: true });
  t.match(body.user, /^[0-9a-f]{64}$/);
  t.same([...dropped].sort(), [
    'messages.*.content.*.cache_control',
    'messages.*.content.*.thinking',
    'system.*.cache_control',
    'x-anthropic-billing-header',
  ]);
});

t.test('4.11 Codex is told which of its tools the upstream lacks, or goes without them', async (t) => {
  t.throws(() => translate('responses', 'messages', codex), {
    code: 'unsupported_by_upstream',
    param: 'tools.1',
  });
  const { body, dropped } = translate('responses', 'messages', codex, { flags: { dropServerTools: true } });
  t.same(body, {
    model: 'up',
    max_tokens: 4096,
    system: [
      { type: 'text', text: 'You write code.' },
      { type: 'text', text: '<permissions/>' },
    ],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'List the files.' }] },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'call_1', name: 'exec', input: { cmd: 'ls' } }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'a.txt' }] },
    ],
    tools: [{ name: 'exec', description: 'Runs.', input_schema: { type: 'object' }, strict: false }],
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    thinking: { type: 'adaptive', display: 'summarized' },
    output_config: { effort: 'medium' },
    stream: true,
  });
  t.same([...dropped].sort(), [
    'client_metadata',
    'include',
    'input.*.encrypted_content',
    'prompt_cache_key',
    'text.verbosity',
    'tools.*',
  ]);
});
