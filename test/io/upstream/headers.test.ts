import fc from 'fast-check';
import t from 'tap';
import { createAddress, pathBelow } from '../../../src/io/upstream/address.js';
import {
  answerHeaders,
  createRequestHeaders,
  retryAfterS,
  tunnelHeaders,
} from '../../../src/io/upstream/headers.js';

const kinds = ['anthropic', 'openai_chat', 'openai_responses'] as const;
const allowed = new Set([
  'accept',
  'accept-encoding',
  'anthropic-beta',
  'anthropic-version',
  'content-type',
  'openai-beta',
  'user-agent',
]);

t.test('2.1 whatever a client sends, only the allow-list reaches a provider', async () => {
  const name = fc.oneof(
    fc.constantFrom(
      ...['authorization', 'x-api-key', 'cookie', 'connection', 'te', 'upgrade', 'proxy-authorization'],
      ...['x-policy-user', 'x-free-tier', 'host', 'content-length', 'transfer-encoding', 'idempotency-key'],
      ...['openai-organization', 'x-forwarded-for', '__proto__', 'constructor', ...allowed],
    ),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.dictionary(name, fc.string()), fc.constantFrom(...kinds), (given, kind) => {
      const sent = createRequestHeaders({ kind, apiKey: '', headers: {} })(given);
      return (
        Object.keys(sent).every((key) => allowed.has(key)) &&
        sent['accept-encoding'] === 'identity' &&
        sent['user-agent'] === 'sluice'
      );
    }),
  );
});

t.test('D46 the headers of the operator win over the client and over the credential', async (t) => {
  const headers = { Authorization: 'Custom x', 'Anthropic-Version': 'pinned' };
  const sent = createRequestHeaders({ kind: 'anthropic', apiKey: 'k', headers })({
    'anthropic-version': 'asked',
  });
  t.match(sent, { authorization: 'Custom x', 'anthropic-version': 'pinned', 'x-api-key': 'k' });
});

t.test(
  '2.1 of an answer a client sees the id of the provider, never its cookies, limits or connection',
  async (t) => {
    const given = {
      'request-id': 'req_1',
      'x-request-id': 'other',
      'set-cookie': ['a=b'],
      connection: 'x-hop',
      'x-hop': '1',
      'anthropic-ratelimit-requests-limit': '50',
      'anthropic-organization-id': 'org',
      'content-type': 'application/json',
      'content-length': '2',
      'retry-after': '3',
      'transfer-encoding': 'chunked',
      server: 's',
    };
    t.same(answerHeaders(given), { 'x-upstream-request-id': 'req_1' });
    t.same(tunnelHeaders(given), {
      'x-upstream-request-id': 'req_1',
      'content-type': 'application/json',
      'content-length': '2',
      'retry-after': '3',
    });
    t.same(answerHeaders({ 'x-request-id': 'a b' }), {}, 'an id that is no plain word is not shown');
    t.same(answerHeaders({ 'request-id': 'x'.repeat(201) }), {});
  },
);

t.test('lesson 26 Retry-After is read as seconds, as a date and in milliseconds', async (t) => {
  const nowMs = Date.parse('2026-01-01T00:00:00Z');
  const cases: readonly (readonly [Record<string, string>, number | null])[] = [
    [{ 'retry-after': '7' }, 7],
    [{ 'retry-after': '1.2' }, 2],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }, 30],
    [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, 0],
    [{ 'retry-after': '9', 'retry-after-ms': '1500' }, 2],
    [{ 'retry-after': '99999999999' }, 86_400],
    [{ 'retry-after': '-1' }, null],
    [{ 'retry-after': 'soon' }, null],
    [{}, null],
  ];
  for (const [given, seconds] of cases) t.equal(retryAfterS(given, nowMs), seconds, JSON.stringify(given));
  fc.assert(
    fc.property(fc.string(), (value) => {
      const seconds = retryAfterS({ 'retry-after': value }, nowMs);
      return seconds === null || (Number.isInteger(seconds) && seconds >= 0 && seconds <= 86_400);
    }),
  );
});

t.test('D46 a base address keeps its path, and the operator owns its query parameters', async (t) => {
  const { origin, target } = createAddress('https://Host:8443/base//', { 'api-version': '1 2', k: 'ä' });
  t.equal(origin, 'https://host:8443');
  t.equal(target('/x'), '/base/x?api-version=1+2&k=%C3%A4');
  t.equal(target('/x?k=mine&l=2'), '/base/x?k=%C3%A4&l=2&api-version=1+2');
  t.equal(createAddress('http://h', {}).target('/v1/messages'), '/v1/messages');
});

t.test('D43 a public path is found below a base address that names the version already', async (t) => {
  t.equal(pathBelow('http://h:8000/v1', '/v1/embeddings'), '/embeddings');
  t.equal(pathBelow('http://h:8000/api/v1/', '/v1/embeddings'), '/embeddings');
  t.equal(pathBelow('https://h', '/v1/embeddings'), '/v1/embeddings');
  t.equal(pathBelow('https://h/v1', '/v11/x'), '/v11/x');
});
