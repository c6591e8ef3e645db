import t from 'tap';
import { APP_KEY, runGateway } from '../support/gateway.js';
import { exchange } from '../support/raw.js';

const good = { model: 'sim-small', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] };

t.test('7.3 a body that is no JSON, or no honest JSON, is a clean 400', async (t) => {
  const { url } = await runGateway(t);
  const bodies: Readonly<Record<string, string | Buffer>> = {
    'malformed JSON': '{"model": ',
    'an empty body': '',
    'invalid UTF-8': Buffer.concat([Buffer.from('{"model":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]),
    'deep nesting': '['.repeat(10_000) + ']'.repeat(10_000),
    'a number beyond all bounds': '{"model":"sim-small","max_tokens":1e400,"messages":[]}',
    __proto__: '{"model":"sim-small","__proto__":{"stream":true},"messages":[{"role":"user","content":"x"}]}',
    'a disguised __proto__':
      '{"model":"sim-small","\\u005f_proto__":{"a":1},"messages":[{"role":"user","content":"x"}]}',
    'a lone array': '[1,2,3]',
    'wrong types': '{"model":7,"messages":"hello"}',
  };
  for (const [name, body] of Object.entries(bodies)) {
    const response = await fetch(`${url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${APP_KEY}` },
      body,
    });
    t.equal(response.status, 400, name);
    t.match(
      await response.json(),
      { type: 'error', error: { type: 'invalid_request_error', message: /./ } },
      name,
    );
  }
});

t.test('D35 of two equal keys the last counts, for us and for the provider alike', async (t) => {
  const { post } = await runGateway(t);
  const twice = JSON.stringify(good).replace('"model":', '"model":"nope","model":');
  t.equal((await post('/v1/messages', twice)).status, 200);
});

t.test('D11 a compressed body is 415, another content type 400', async (t) => {
  const { post } = await runGateway(t);
  t.equal((await post('/v1/messages', good, { 'content-encoding': 'gzip' })).status, 415);
  t.equal((await post('/v1/messages', good, { 'content-type': 'text/plain' })).status, 400);
});

t.test('8.5 a body over the bound is 413 while it is being read, announced or not', async (t) => {
  const { gateway } = await runGateway(t, { server: { port: 0, max_body_bytes: 10_000 } });
  const head = `POST /v1/messages HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${APP_KEY}\r\ncontent-type: application/json\r\n`;
  const announced = await exchange(gateway.address.port, `${head}content-length: 104857600\r\n\r\n{`);
  t.match(announced, /^HTTP\/1\.1 413 /);
  t.match(announced, /"type":"request_too_large"/);
  const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
  t.match(
    await exchange(gateway.address.port, `${head}transfer-encoding: chunked\r\n\r\n${chunk}${chunk}`),
    /^HTTP\/1\.1 413 /,
  );
});

t.test('2.1 smuggled, doubled and misshapen requests are refused and never reach a handler', async (t) => {
  const { gateway } = await runGateway(t);
  const body = JSON.stringify(good);
  const auth = `authorization: Bearer ${APP_KEY}\r\n`;
  const cases: Readonly<Record<string, string>> = {
    'chunked with content-length': `POST /v1/messages HTTP/1.1\r\nhost: x\r\n${auth}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    'two content-lengths': `POST /v1/messages HTTP/1.1\r\nhost: x\r\n${auth}content-length: 5\r\ncontent-length: 6\r\n\r\nhello`,
    'two authorizations': `POST /v1/messages HTTP/1.1\r\nhost: x\r\n${auth}${auth}content-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
    'two hosts': `GET /healthz HTTP/1.1\r\nhost: x\r\nhost: y\r\nconnection: close\r\n\r\n`,
    'absolute form': `GET http://x/healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
    'a NUL in the path': `GET /health%00z HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
    'a raw NUL in the path': `GET /health\0z HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
    'an encoded slash': `GET /v1%2fmessages HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
    'dot segments': `GET /v1/../healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
    '10,000 headers': `GET /healthz HTTP/1.1\r\nhost: x\r\n${'a: b\r\n'.repeat(10_000)}\r\n`,
  };
  for (const [name, request] of Object.entries(cases)) {
    const answer = await exchange(gateway.address.port, request);
    t.match(answer, /^HTTP\/1\.1 4\d\d /, name);
    t.notMatch(answer, /alive/, name);
  }
  t.equal(
    (await fetch(`http://127.0.0.1:${gateway.address.port}/healthz`)).status,
    200,
    'and the gateway lives',
  );
});

t.test('D16 unknown paths and methods answer in the family of their path', async (t) => {
  const { url } = await runGateway(t);
  const at = async (path: string, method = 'GET') => {
    const response = await fetch(url + path, { method });
    return { status: response.status, allow: response.headers.get('allow'), body: await response.json() };
  };
  t.match(await at('/v1/messages/batches'), {
    status: 404,
    body: { type: 'error', error: { type: 'not_found_error' } },
  });
  t.match(await at('/v1/messages'), { status: 405, allow: 'POST', body: { type: 'error' } });
  t.match(await at('/v1/responses', 'DELETE'), {
    status: 405,
    allow: 'POST',
    body: { code: 'method_not_allowed' },
  });
  t.match(await at('/v1/embeddings', 'POST'), {
    status: 404,
    body: { error: { type: 'not_found_error', code: 'not_found' } },
  });
  t.match(await at('/v1/organization/nope'), {
    status: 404,
    body: { error: { code: 'not_found', request_id: /^req_/ } },
  });
  t.match(await at('/healthz', 'DELETE'), { status: 405, allow: /GET/ });
});

t.test('D31 without a credential nothing is read and nothing is told', async (t) => {
  const { url } = await runGateway(t);
  const response = await fetch(`${url}/v1/messages`, { method: 'POST', body: '{"broken' });
  t.equal(response.status, 401);
  t.equal(response.headers.get('www-authenticate'), 'Bearer realm="sluice"');
});
