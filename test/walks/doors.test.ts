import t from 'tap';
import { ADMIN_KEY, APP_KEY, runGateway } from '../support/gateway.js';

const text = 'Say something short.';
const requests: Readonly<Record<string, object>> = {
  '/v1/messages': { model: 'sim-small', max_tokens: 20, messages: [{ role: 'user', content: text }] },
  '/v1/chat/completions': { model: 'sim-small', max_tokens: 20, messages: [{ role: 'user', content: text }] },
  '/v1/responses': { model: 'sim-small', max_output_tokens: 20, input: text },
};

for (const [path, body] of Object.entries(requests)) {
  t.test(`4 ${path} answers whole and streamed, with the credit fields in place`, async (t) => {
    const { post } = await runGateway(t);
    const whole = await post(path, body);
    t.equal(whole.status, 200);
    t.match(await whole.json(), {
      remaining_credits: Number,
      estimated_credits_used: Number,
      estimated_cost_usd: Number,
    });
    const streamed = await (await post(path, { ...body, stream: true })).text();
    t.match(streamed, /"estimated_cost_usd":/);
    t.ok(streamed.endsWith('\n\n'));
  });

  t.test(`5 ${path} takes a project key, no administrator key, no stranger`, async (t) => {
    const { post } = await runGateway(t);
    t.equal((await post(path, body, { authorization: `Bearer ${ADMIN_KEY}` })).status, 401);
    t.equal((await post(path, body, { authorization: 'Bearer sk-nobody-knows-this-key' })).status, 401);
    t.equal((await post(path, body, { authorization: 'Basic abc' })).status, 401);
  });
}

t.test('5 on /v1/messages x-api-key works and Authorization wins over it', async (t) => {
  const { url, post } = await runGateway(t);
  const send = (headers: Record<string, string>) =>
    fetch(`${url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(requests['/v1/messages']),
    });
  t.equal((await send({ 'x-api-key': APP_KEY })).status, 200);
  t.equal(
    (await send({ 'x-api-key': APP_KEY, authorization: 'Bearer sk-nobody-knows-this-key' })).status,
    401,
  );
  t.equal(
    (await post('/v1/messages', requests['/v1/messages'], { 'x-api-key': 'sk-nobody-knows-this-key' }))
      .status,
    200,
  );
});

t.test('4.10 X-Free-Tier gives one anonymous request, held to its model and token bound', async (t) => {
  const { url } = await runGateway(t, {
    credits: { free_request: { enabled: true, model: 'sim-small', max_tokens: 3 } },
  });
  const send = (body: object, value = 'true') =>
    fetch(`${url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-free-tier': value },
      body: JSON.stringify(body),
    });
  t.equal((await send(requests['/v1/messages']!, 'yes')).status, 400);
  t.equal(
    (await send({ ...requests['/v1/messages'], model: 'other' })).status,
    404,
    'never reached an upstream: not used up',
  );
  const first = await send(requests['/v1/messages']!);
  t.equal(first.status, 200);
  t.match(await first.json(), { stop_reason: 'max_tokens', usage: { output_tokens: 3 } });
  const second = await send(requests['/v1/messages']!);
  t.equal(second.status, 401);
  t.match(await second.json(), { error: { type: 'authentication_error', code: 'free_request_used' } });
});

t.test('D48 probes, metrics and documents answer without a credential', async (t) => {
  const { url } = await runGateway(t);
  t.match(await (await fetch(`${url}/healthz`)).json(), { status: 'alive' });
  t.match(await (await fetch(`${url}/readyz`)).json(), { status: 'ready' });
  t.match(
    await (await fetch(`${url}/metrics`)).text(),
    /sluice_requests_total\{operation="healthz",status="200"\} 1/,
  );
  t.match(await (await fetch(`${url}/docs/errors`)).text(), /id="revision_conflict"/);
  t.equal(await (await fetch(`${url}/healthz`, { method: 'HEAD' })).text(), '');
});

t.test('D48 with an admin_port the probes move there and the API stays', async (t) => {
  const { url, gateway, post } = await runGateway(t, { server: { port: 0, admin_port: 0 } });
  const admin = `http://127.0.0.1:${gateway.adminAddress!.port}`;
  t.equal((await fetch(`${admin}/readyz`)).status, 200);
  t.equal((await fetch(`${url}/readyz`)).status, 404);
  t.equal((await fetch(`${admin}/v1/messages`, { method: 'POST' })).status, 404);
  t.equal((await post('/v1/messages', requests['/v1/messages'])).status, 200);
});
