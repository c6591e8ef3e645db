import t from 'tap';
import type { Method } from '../../../src/core/exchange.js';
import { compileMatcher } from '../../../src/io/http/match.js';

const row = (method: Method, path: string) => ({ method, path, name: `${method} ${path}` });
const match = compileMatcher([
  row('GET', '/'),
  row('POST', '/v1/messages'),
  row('POST', '/v1/messages/count_tokens'),
  row('GET', '/v1/policies'),
  row('POST', '/v1/policies'),
  row('GET', '/v1/policies/{policy_id}'),
  row('DELETE', '/v1/policies/{policy_id}'),
  row('POST', '/v1/policies/{policy_id}/publish'),
  row('GET', '/v1/policies/search'),
  row('GET', '/v1/projects/{project_id}/keys/{key_id}'),
  row('GET', '/console'),
  row('GET', '/console/*'),
  row('GET', '/console/login'),
]);

const nameOf = (method: string, path: string): unknown => {
  const found = match(method, path);
  return found && ('route' in found ? [found.route.name, { ...found.params }] : found);
};

t.test('exact and patterned paths find their row and its parameters', async (t) => {
  t.strictSame(nameOf('POST', '/v1/messages'), ['POST /v1/messages', {}]);
  t.strictSame(nameOf('GET', '/'), ['GET /', {}]);
  t.strictSame(nameOf('GET', '/v1/policies/p1'), ['GET /v1/policies/{policy_id}', { policy_id: 'p1' }]);
  t.strictSame(nameOf('POST', '/v1/policies/p1/publish'), [
    'POST /v1/policies/{policy_id}/publish',
    { policy_id: 'p1' },
  ]);
  t.strictSame(nameOf('GET', '/v1/projects/a/keys/b'), [
    'GET /v1/projects/{project_id}/keys/{key_id}',
    { project_id: 'a', key_id: 'b' },
  ]);
});

t.test('a literal segment goes before a named one, that before the rest', async (t) => {
  t.strictSame(nameOf('GET', '/v1/policies/search'), ['GET /v1/policies/search', {}]);
  t.strictSame(nameOf('DELETE', '/v1/policies/search'), [
    'DELETE /v1/policies/{policy_id}',
    { policy_id: 'search' },
  ]);
  t.strictSame(nameOf('GET', '/console/login'), ['GET /console/login', {}]);
  t.strictSame(nameOf('GET', '/console/assets/app.js'), ['GET /console/*', { '*': 'assets/app.js' }]);
  t.strictSame(nameOf('GET', '/console/'), ['GET /console/*', { '*': '' }]);
  t.strictSame(nameOf('GET', '/console'), ['GET /console', {}]);
});

t.test('HEAD is answered by the row of GET', async (t) => {
  t.strictSame(nameOf('HEAD', '/v1/policies'), ['GET /v1/policies', {}]);
  t.strictSame(nameOf('HEAD', '/v1/policies/p1'), ['GET /v1/policies/{policy_id}', { policy_id: 'p1' }]);
});

t.test('a known path with another method says which methods it takes', async (t) => {
  t.strictSame(nameOf('GET', '/v1/messages'), { allow: ['POST'] });
  t.strictSame(nameOf('HEAD', '/v1/messages'), { allow: ['POST'] });
  t.strictSame(nameOf('PUT', '/v1/policies'), { allow: ['GET', 'HEAD', 'POST'] });
  t.strictSame(nameOf('OPTIONS', '/v1/policies/search'), { allow: ['DELETE', 'GET', 'HEAD'] });
});

t.test('anything else is nowhere', async (t) => {
  for (const path of [
    '/v1',
    '/v1/messages/',
    '/v1/policies/',
    '/v1/policies//publish',
    '/v1/Messages',
    '/v1/policies/p1/publish/x',
    '/__proto__',
    '/constructor',
  ])
    t.equal(match('GET', path), null, path);
});

t.test('a table that contradicts itself does not compile', async (t) => {
  t.throws(() => compileMatcher([row('GET', '/a'), row('GET', '/a')]), /twice/);
  t.throws(() => compileMatcher([row('GET', '/{a}'), row('POST', '/{b}')]), /otherwise/);
  t.throws(() => compileMatcher([row('GET', 'a')]), /slash/);
  t.throws(() => compileMatcher([row('GET', '/a{b}')]), /pattern/);
});
