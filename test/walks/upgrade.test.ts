import { connect } from 'node:net';
import t from 'tap';
import { APP_KEY, runGateway } from '../support/gateway.js';
import { exchange } from '../support/raw.js';

const upgradeOf = (path: string, more: readonly string[] = []): string =>
  [
    `GET ${path} HTTP/1.1`,
    'Host: gateway.test',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    `Authorization: Bearer ${APP_KEY}`,
    ...more,
    '',
    '',
  ].join('\r\n');

const bodyOf = (answer: string): unknown => JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4));

t.test('a WebSocket is refused with 426 in the words of its path, and the connection closed', async (t) => {
  const { gateway, url } = await runGateway(t);
  const { port } = gateway.address;
  const families: Readonly<Record<string, object>> = {
    '/v1/responses': { error: String, code: 'upgrade_refused' },
    '/v1/realtime?model=x': { error: { code: 'upgrade_refused', type: 'invalid_request_error' } },
    '/v1/messages': { type: 'error', error: { type: 'invalid_request_error', code: 'upgrade_refused' } },
    '/anything': { error: { code: 'upgrade_refused', type: 'validation_error', request_id: /^req_/ } },
  };
  for (const [path, body] of Object.entries(families)) {
    const answer = await exchange(port, upgradeOf(path));
    t.match(answer, /^HTTP\/1\.1 426 Upgrade Required\r\n/, path);
    t.match(answer, /\r\nconnection: close\r\n/i, path);
    t.match(answer, /\r\nupgrade: HTTP\/1\.1\r\n/, path);
    t.match(answer, /\r\nx-error-code: upgrade_refused\r\n/, path);
    t.match(answer, /\r\nx-request-id: req_/, path);
    t.match(bodyOf(answer), body, path);
  }
  t.equal((await fetch(`${url}/healthz`)).status, 200);
});

t.test('what follows a refused upgrade is never taken for a request', async (t) => {
  const { gateway } = await runGateway(t);
  const smuggled = 'GET /healthz HTTP/1.1\r\nHost: gateway.test\r\n\r\n';
  const answer = await exchange(gateway.address.port, upgradeOf('/v1/responses') + smuggled);
  t.equal(answer.split('HTTP/1.1 ').length - 1, 1, answer);
  const withBody = upgradeOf('/v1/realtime', ['Content-Length: 5']);
  t.match(await exchange(gateway.address.port, `${withBody}hello`), /^HTTP\/1\.1 426 /);
});

t.test('a client that asks for an upgrade and leaves, or sends on, does no harm', async (t) => {
  const { gateway, url } = await runGateway(t);
  const { port } = gateway.address;
  await new Promise<void>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(upgradeOf('/v1/realtime'));
      socket.resetAndDestroy();
    });
    socket.on('error', () => undefined).on('close', () => resolve());
  });
  const frames = Buffer.alloc(300_000, 0x81);
  await exchange(port, Buffer.concat([Buffer.from(upgradeOf('/v1/realtime')), frames])).catch(() => '');
  t.equal((await fetch(`${url}/healthz`)).status, 200);
});

t.test('an offer of HTTP/2, which some clients make with every request, is passed by', async (t) => {
  const { gateway } = await runGateway(t);
  const offer = (connection: string, upgrade: string): string =>
    `GET /healthz HTTP/1.1\r\nHost: g\r\nConnection: ${connection}\r\nUpgrade: ${upgrade}\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n\r\n`;
  const isWhole = (text: string): boolean => text.includes('"alive"');
  const { port } = gateway.address;
  t.match(await exchange(port, offer('Upgrade, HTTP2-Settings', 'h2c'), isWhole), /^HTTP\/1\.1 200 /);
  t.match(
    await exchange(port, offer('keep-alive', 'websocket'), isWhole),
    /^HTTP\/1\.1 200 /,
    'not asked for',
  );
  t.match(await exchange(port, offer('keep-alive, upgrade', 'websocket')), /^HTTP\/1\.1 426 /);
});

t.test('an offer of HTTP/2 with a body is served like any other request', async (t) => {
  const { gateway } = await runGateway(t);
  const body = JSON.stringify({
    model: 'sim-small',
    messages: [{ role: 'user', content: '[[say=served]]' }],
  });
  const answer = await exchange(
    gateway.address.port,
    [
      'POST /v1/messages HTTP/1.1',
      'Host: g',
      'Connection: Upgrade, HTTP2-Settings',
      'Upgrade: h2c',
      'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA',
      `Authorization: Bearer ${APP_KEY}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ].join('\r\n'),
    (text) => text.includes('served'),
  );
  t.match(answer, /^HTTP\/1\.1 200 /);
});
