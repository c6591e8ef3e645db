import { jsonAnswer, streamAnswer, type Script } from '../fake-provider.js';
import { planted, said, streamedAnswer, wholeAnswer } from './canaries.js';
import { DENIED_TERM } from './gateway-process.js';

const { appKey, adminKey, providerKey, otherSinkToken } = planted;
const quoted = `Your key ${providerKey} is wrong.`;
const html: Script = [
  { head: 200, headers: { 'content-type': 'text/html' } },
  { write: `<p>${quoted} ${said.answer}</p>` },
  'end',
];

/** How a provider answers, and what it may quote while it fails. */
export const scripts: Readonly<Record<string, Script>> = {
  whole: jsonAnswer(200, wholeAnswer()),
  refused: jsonAnswer(200, wholeAnswer(DENIED_TERM)),
  streamed: streamAnswer(...streamedAnswer()),
  'refused stream': streamAnswer(...streamedAnswer(DENIED_TERM)),
  'cut stream': [
    { head: 200, headers: { 'content-type': 'text/event-stream' } },
    ...streamedAnswer('', true).map((write) => ({ write })),
    'reset',
  ],
  'stream with an error': streamAnswer(
    ...streamedAnswer('', true),
    `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type: 'api_error', message: quoted } })}\n\n`,
  ),
  'broken JSON': [
    { head: 200, headers: { 'content-type': 'application/json' } },
    { write: `{"content":"${providerKey} ${said.answer}` },
    'end',
  ],
  'error instead of an answer': jsonAnswer(200, {
    type: 'error',
    error: { type: 'api_error', message: quoted },
  }),
  html,
  reset: ['reset'],
  ...Object.fromEntries(
    [400, 401, 402, 403, 404, 413, 429, 500, 503, 529].map((status) => [
      `status ${status}`,
      jsonAnswer(
        status,
        { type: 'error', error: { type: 'x_error', message: quoted } },
        { 'x-key': providerKey },
      ),
    ]),
  ),
  redirect: [{ head: 302, headers: { location: `http://127.0.0.1/?key=${providerKey}` } }, 'end'],
};

const conversation = {
  model: 'claude',
  max_tokens: 50,
  system: said.system,
  messages: [
    { role: 'user', content: said.prompt },
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'toolu_0', name: 'look', input: { query: said.toolInput } }],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_0', content: said.toolResult }] },
  ],
  tools: [{ name: 'look', input_schema: { type: 'object' } }],
};
const chat = { model: 'claude', messages: [{ role: 'user', content: said.prompt }] };
const response = { model: 'claude', instructions: said.system, input: said.prompt };

/** Requests that go to the provider. */
export const asked: readonly (readonly [path: string, body: object])[] = [
  ['/v1/messages', conversation],
  ['/v1/messages', { ...conversation, stream: true }],
  ['/v1/chat/completions', { ...chat, stream: true }],
  ['/v1/responses', response],
];

export const denied = {
  ...conversation,
  messages: [{ role: 'user', content: `${said.prompt} ${DENIED_TERM}` }],
};

/** Requests that go no further than the gateway. */
export const refused: readonly (readonly [method: string, path: string, body: unknown, key?: string])[] = [
  ['POST', '/v1/messages', denied],
  ['POST', '/v1/messages', { ...denied, stream: true }],
  ['POST', '/v1/messages', `{"model":"claude","messages":[{"role":"user","content":"${said.prompt}`],
  ['POST', '/v1/messages', { ...conversation, temperature: said.prompt, stream: said.prompt }],
  ['POST', '/v1/chat/completions', { ...chat, tools: said.prompt, max_tokens: [said.prompt] }],
  ['POST', '/v1/responses', { model: 'claude', input: { [said.prompt]: said.prompt } }],
  ['POST', '/v1/messages/count_tokens', { ...conversation, messages: 5 }],
  ['POST', '/v1/moderations', { input: said.prompt }],
  ['POST', '/v1/messages', conversation, `${appKey}x`],
  ['POST', '/v1/messages', conversation, adminKey],
  ['GET', '/v1/organization/projects', undefined, appKey],
  ['GET', `/v1/organization/projects?key=${adminKey}`, undefined, `${adminKey}x`],
  ['POST', '/api/policy-gateway/simulate', { scenario: { text: said.prompt }, persist: true }, adminKey],
  ['POST', '/api/policy-gateway/config', { config: { rules: said.prompt } }, adminKey],
  ['POST', '/v1/organization/policies', { name: 'n', rule: `cel:${said.prompt}((` }, appKey],
];

export const badSinks: readonly object[] = [
  { type: 'splunk_hec', label: 'x', config: { endpoint: 'gopher://a', token: otherSinkToken } },
  {
    type: 'splunk_hec',
    label: 'x',
    config: { endpoint: `https://u:${otherSinkToken}@a.example`, token: 'x' },
  },
  { type: 's3', label: 'x', config: { bucket: 'audit', secret_access_key: [otherSinkToken] } },
  { type: 'azure_monitor', label: 'x', config: { shared_key: otherSinkToken, workspace_id: 'w' } },
  {
    type: 'elastic',
    label: otherSinkToken.repeat(9),
    config: { api_key: otherSinkToken, nobody: otherSinkToken },
  },
];

/** Everything that an administrator can read. */
export const reads = [
  '/api/policy-gateway/exports',
  '/api/policy-gateway/history?limit=100',
  '/api/policy-gateway/config',
  '/api/policy-gateway/config/history',
  '/v1/organization/admin_api_keys',
  '/v1/organization/projects/proj_app/api_keys',
  '/v1/organization/policies',
  '/v1/organization/usage',
  '/v1/organization/limits',
  '/metrics',
  '/readyz',
];
