import t from 'tap';
import { streamMessages } from '../../support/upstreams/messages.js';
import { frontProvider, until, type Fronted } from '../../support/gateway.js';
import { jsonAnswer, type Script } from '../../support/fake-provider.js';

const rewriting = {
  bootstrap: {
    organizations: [
      {
        id: 'org_test',
        name: 'Test',
        admin_keys: [{ name: 'root', value: 'sk-test-admin-key-of-the-suite' }],
        projects: [
          { id: 'proj_app', name: 'App', keys: [{ name: 'app', value: 'sk-test-app-key-of-the-suite' }] },
        ],
        gateway: { rules: { denylist: ['gravel'] }, refusal_replacement: { mode: 'rewrite' } },
      },
    ],
  },
};

const whole = (text: string) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 5 },
});

const asked = { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'What for the path?' }] };

const spentOf = async ({ call }: Fronted): Promise<unknown> => {
  const history = await (await call('GET', '/api/policy-gateway/history')).json();
  return (history as { data: { usage: unknown }[] }).data[0]?.usage;
};

t.test('D38 a second answer that fails leaves the refusal of the first', async (t) => {
  const failing = jsonAnswer(500, { type: 'error', error: { type: 'api_error', message: 'no' } });
  const gateway = await frontProvider(t, 'anthropic', failing, rewriting);
  gateway.upstream.play(jsonAnswer(200, whole('Take gravel.')), failing);
  const answer = await gateway.post('/v1/messages', asked);
  t.equal(answer.status, 200);
  const body = (await answer.json()) as Record<string, unknown>;
  t.match(body, { stop_reason: 'refusal', usage: { input_tokens: 10, output_tokens: 5 } });
  t.notMatch(JSON.stringify(body), /gravel/);
  t.equal(gateway.upstream.requests.length, 2);
  t.match(await spentOf(gateway), { input_tokens: 10, output_tokens: 5 });
});

t.test('D38 a client that leaves while a second answer is read pays for both', async (t) => {
  const usage = { input: 10, cached: 0, output: 5, reasoning: 0 };
  const answer = { thinking: '', refusal: '', calls: [], reason: 'stop', usage } as const;
  const stream = (text: string): string => streamMessages({ model: 'm' } as never, { ...answer, text });
  const head = { head: 200, headers: { 'content-type': 'text/event-stream' } };
  const first: Script = [head, { write: stream('Gravel is best.') }, 'end'];
  const second = stream('Take sand and some time.');
  const half: Script = [
    head,
    { write: second.slice(0, second.indexOf('event: content_block_stop')) },
    'stall',
  ];
  const gateway = await frontProvider(t, 'anthropic', first, rewriting);
  gateway.upstream.play(first, half);
  const leaving = new AbortController();
  const reply = fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'sk-test-app-key-of-the-suite' },
    body: JSON.stringify({ ...asked, stream: true }),
    signal: leaving.signal,
  });
  reply.catch(() => undefined);
  await until(() => gateway.upstream.requests.length === 2, 'the second request');
  // The gateway is in this process: while it answers these, it also reads what the second has said by now.
  for (let n = 0; n < 10; n++) await gateway.call('GET', '/healthz');
  leaving.abort();
  await until(async () => (await spentOf(gateway)) !== undefined, 'the event');
  const spent = (await spentOf(gateway)) as { input_tokens: number; output_tokens: number };
  t.equal(spent.input_tokens, 20);
  t.ok(spent.output_tokens > 5, `${spent.output_tokens} tokens`);
});
