import t from 'tap';
import { bridge } from '../../src/dialects/bridge.js';
import type { DialectName, Json } from '../../src/dialects/dialect.js';
import { dialects } from '../golden/replay.js';

const failures: readonly (readonly [upstream: DialectName, client: DialectName, answer: Json])[] = [
  ['messages', 'chat', { type: 'error', error: { type: 'rate_limit_error', message: 'slow down' } }],
  ['chat', 'messages', { error: { type: 'rate_limit_error', code: 429, message: 'slow down' } }],
  [
    'responses',
    'chat',
    {
      object: 'response',
      status: 'failed',
      output: [],
      error: { code: 'rate_limit_exceeded', message: 'slow' },
    },
  ],
];

for (const [upstream, client, answer] of failures)
  t.test(`7.4.1 a rate limit that a ${upstream} answer tells says when to come back`, async (t) => {
    const request = dialects[client].read({ model: 'm', messages: [{ role: 'user', content: 'hi' }] });
    const options = { shownModel: null, guard: null, estimatedInputTokens: 0 };
    await t.rejects(bridge(client, upstream).whole(Buffer.from(JSON.stringify(answer)), request, options), {
      code: 'provider_rate_limited',
      status: 429,
      retryAfterS: 5,
    });
  });
