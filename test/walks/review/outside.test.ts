import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { runGateway, type Running } from '../../support/gateway.js';

type Answer = (body: Record<string, unknown>, req: IncomingMessage) => unknown;

/** Answers every POST as told; an undefined answer is a 500. */
const serve = async (
  t: Test,
  answer: Answer,
): Promise<{ readonly url: string; readonly asked: unknown[] }> => {
  const asked: unknown[] = [];
  const server = createServer((req, res) => {
    void json(req).then((body) => {
      asked.push(body);
      const given = answer(body as Record<string, unknown>, req);
      res.writeHead(given === undefined ? 500 : 200, { 'content-type': 'application/json' });
      res.end(JSON.stringify(given ?? {}));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
};

const say = ({ post }: Running, text: string, stream = false): Promise<Response> =>
  post('/v1/messages', {
    model: 'sim-small',
    max_tokens: 200,
    stream,
    flagged_categories: ['hate'],
    messages: [{ role: 'user', content: text }],
  });

const flagsBadWord: Answer = ({ input }) => {
  const isBad = String(input).includes('glorp');
  return {
    results: [
      { flagged: isBad, categories: { hate: isBad }, category_scores: { hate: isBad ? 0.97 : 0.01 } },
    ],
  };
};

t.test('D46 a moderation service judges requests and answers beside the embedded engine', async (t) => {
  const service = await serve(t, flagsBadWord);
  const gateway = await runGateway(t, {
    moderation: { engine: 'http', http: { url: `${service.url}/v1/moderations`, timeout: '5s' } },
  });
  const blocked = await say(gateway, 'Say glorp.');
  t.equal(blocked.status, 400);
  t.match(await blocked.json(), { error: { code: 'content_blocked', message: /hate/ } });
  const passed = await say(gateway, 'Say something nice.', true);
  t.equal(passed.status, 200);
  t.match(await passed.text(), /message_stop/);
  t.ok(service.asked.length >= 3, 'the answer was shown to it too');
});

t.test('D46 a service that does not answer blocks or lets pass, as the operator says', async (t) => {
  const service = await serve(t, () => undefined);
  const http = { url: `${service.url}/v1/moderations`, timeout: '5s' };
  const strict = await runGateway(t, { moderation: { engine: 'http', http } });
  const refused = await say(strict, 'Hello.');
  t.equal(refused.status, 503);
  t.equal(refused.headers.get('x-error-code'), 'moderation_unavailable');
  await refused.arrayBuffer();
  const lenient = await runGateway(t, {
    moderation: { engine: 'http', http: { ...http, on_error: 'allow' } },
  });
  const passed = await say(lenient, 'Hello.');
  t.equal(passed.status, 200);
  await passed.arrayBuffer();
});

const latestEvent = async ({ call }: Running): Promise<unknown> => {
  const history = await (await call('GET', '/api/policy-gateway/history')).json();
  return (history as { data: { event_type: string }[] }).data.find(
    ({ event_type: type }) => type === 'enforcement',
  );
};

t.test('D29 prose is judged by a model, and a judge that fails closes or opens as declared', async (t) => {
  let isAway = false;
  const judge = await serve(t, ({ messages }) => {
    if (isAway) return undefined;
    const isAbout = JSON.stringify(messages).includes('ibuprofen');
    const content = JSON.stringify({ scores: [isAbout ? 0.9 : 0.1] });
    return {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'judge',
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    };
  });
  const gateway = await runGateway(t, {
    providers: {
      sim: { kind: 'simulator', ttft: '0ms', tokens_per_second: 1_000_000 },
      judge: { kind: 'openai_chat', base_url: judge.url, api_key: 'k', retry: { attempts: 1 } },
    },
    models: [
      { name: 'sim-small', provider: 'sim', price: { input_per_mtok: 1, output_per_mtok: 1 } },
      { name: 'judge', provider: 'judge', price: { input_per_mtok: 1, output_per_mtok: 1 } },
    ],
    policies: { judge: { kind: 'model', model: 'judge', timeout: '5s' } },
  });
  const made = await gateway.call('POST', '/v1/organization/policies', {
    body: {
      name: 'No doses',
      description: '',
      rule: 'No medical doses.',
      direction: 'request',
      mode: 'enforcing',
      scope: 'organization',
      project_ids: [],
    },
  });
  const { id, revision } = (await made.json()) as { id: string; revision: number };
  const published = await gateway.call('POST', `/v1/organization/policies/${id}/publish`, {
    body: { revision },
  });
  t.equal(published.status, 200);
  await published.arrayBuffer();

  const blocked = await say(gateway, 'How much ibuprofen may I take?');
  t.equal(blocked.status, 400);
  t.match(await blocked.json(), { error: { code: 'policy_blocked' } });
  const passed = await say(gateway, 'How tall is the tower?');
  t.equal(passed.status, 200);
  await passed.arrayBuffer();
  isAway = true;
  const closed = await say(gateway, 'How wide is the river?');
  t.equal(closed.status, 400, 'nobody answered, and the policy enforces');
  await closed.arrayBuffer();
  t.match(await latestEvent(gateway), {
    decision: 'refuse',
    matches: [{ kind: 'policy', name: id, fallback: true, enforcing: true }],
  });

  const { revision: next } = (await (
    await gateway.call('PATCH', `/v1/organization/policies/${id}`, {
      body: { revision: revision + 1, mode: 'monitoring' },
    })
  ).json()) as { revision: number };
  await (
    await gateway.call('POST', `/v1/organization/policies/${id}/publish`, { body: { revision: next } })
  ).arrayBuffer();
  const open = await say(gateway, 'How deep is the lake?');
  t.equal(open.status, 200);
  await open.arrayBuffer();
  t.match(
    await latestEvent(gateway),
    { decision: 'allow', matches: [{ kind: 'policy', name: id, fallback: true, enforcing: false }] },
    'that nobody judged it is told, although nothing was done',
  );
});
