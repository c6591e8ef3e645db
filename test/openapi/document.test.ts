import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { sluiceHere } from '../commands/sluice.js';
import { runGateway } from '../support/gateway.js';
import { faultOf, type Shown } from '../support/openapi.js';
import { readRepositoryFile } from '../support/repository.js';
import { buildDocument, documentedRoutes, documentText } from './document.js';
import type { JsonNode } from './schemas.js';

const committed = readRepositoryFile('docs/openapi.json');
const document = buildDocument();

const nodesIn = (node: unknown): readonly JsonNode[] => {
  if (typeof node !== 'object' || node === null) return [];
  return [node as JsonNode, ...Object.values(node).flatMap(nodesIn)];
};

t.test('9 docs/openapi.json is what the routes and schemas say today (else: npm run docs)', async (t) => {
  t.ok(committed === documentText());
  t.match(document, {
    openapi: '3.1.0',
    info: { title: 'Sluice', version: '0.1.0' },
    servers: [{ url: '/' }],
  });
});

t.test('9 every reference in the document leads somewhere, and every schema compiles', async (t) => {
  for (const { $ref } of nodesIn(document)) {
    if (typeof $ref !== 'string') continue;
    const target = $ref
      .slice(2)
      .split('/')
      .reduce<unknown>((node, name) => (node as JsonNode | undefined)?.[name], document);
    t.ok(target, $ref);
  }
  const ajv = new Ajv2020({ strict: false });
  for (const { schema } of nodesIn(document))
    if (typeof schema === 'object' && schema)
      t.doesNotThrow(() => ajv.compile({ ...schema, components: document['components'] }));
});

t.test('9 every operation has a name of its own, a credential, and the parameters of its path', async (t) => {
  const operations = Object.entries(document['paths'] as Record<string, Record<string, JsonNode>>).flatMap(
    ([path, methods]) => Object.values(methods).map((operation) => ({ path, operation })),
  );
  const names = operations.map(({ operation }) => operation['operationId']);
  t.equal(new Set(names).size, names.length);
  t.strictSame(
    names.toSorted(),
    documentedRoutes()
      .map(({ operation }) => operation)
      .toSorted(),
  );
  for (const { path, operation } of operations) {
    const parameters = (operation['parameters'] ?? []) as { name: string; in: string }[];
    t.strictSame(
      parameters.filter((each) => each.in === 'path').map(({ name }) => name),
      [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
      path,
    );
    t.equal((operation['security'] as unknown[]).length > 0, /^\/(v1|api)\//.test(path), path);
  }
});

t.test('D12 what the contract lacks is marked as an extension, and nothing else is', async (t) => {
  const contract = documentedRoutes().filter(({ doc }) => doc.extension !== true);
  t.strictSame(contract.map(({ method, path }) => `${method} ${path}`).toSorted(), [
    'DELETE /v1/organization/policies/{policy_id}',
    'GET /api/policy-gateway/config',
    'GET /v1/credits',
    'GET /v1/organization/admin_api_keys',
    'GET /v1/organization/policies',
    'PATCH /api/policy-gateway/exports/{export_id}',
    'PATCH /v1/organization/policies/{policy_id}',
    'POST /api/policy-gateway/exports',
    'POST /api/policy-gateway/simulate',
    'POST /v1/chat/completions',
    'POST /v1/messages',
    'POST /v1/messages/count_tokens',
    'POST /v1/organization/policies/{policy_id}/publish',
    'POST /v1/organization/policies/{policy_id}/resume',
    'POST /v1/responses',
  ]);
});

t.test('D48 the gateway serves the document, and sluice openapi prints it', async (t) => {
  const { call } = await runGateway(t);
  const response = await call('GET', '/openapi.json', { key: null });
  t.equal(response.headers.get('content-type'), 'application/json');
  t.equal(await response.text(), committed);
  t.equal((await sluiceHere(['openapi'])).out.trim(), committed.trim());
});

t.test('the check of responses finds what it must', async (t) => {
  const shown: Shown = {
    method: 'GET',
    path: '/v1/organization/admin_api_keys',
    status: 200,
    headers: { 'x-request-id': 'req_1', 'content-type': 'application/json' },
    body: '{"object":"list","data":[],"has_more":false}',
  };
  const error = (code: string) =>
    JSON.stringify({
      error: { code, message: 'No.', type: 'auth_error', param: null, request_id: 'req_1', doc_url: null },
    });
  t.equal(faultOf(shown), null);
  t.equal(faultOf({ ...shown, path: '/nowhere', body: '' }), null, 'not documented, not judged');
  t.match(faultOf({ ...shown, status: 201 }), /not documented/);
  t.match(faultOf({ ...shown, headers: { 'content-type': 'application/json' } }), /x-request-id: missing/);
  t.match(faultOf({ ...shown, headers: { ...shown.headers, 'content-type': 'text/html' } }), /content type/);
  t.match(faultOf({ ...shown, body: '{"object":"list"' }), /must be object/);
  t.match(faultOf({ ...shown, body: '{"object":"list","data":[],"has_more":false,"x":1}' }), /additional/);
  const refused = {
    ...shown,
    status: 401,
    headers: { ...shown.headers, 'x-error-code': 'missing_api_key' },
    body: error('missing_api_key'),
  };
  t.match(faultOf(refused), /WWW-Authenticate: missing/);
  t.equal(faultOf({ ...refused, headers: { ...refused.headers, 'www-authenticate': 'Bearer' } }), null);
  t.match(faultOf({ ...refused, status: 418 }), /not documented/);
  t.equal(faultOf({ ...refused, status: 431 }), null, 'any operation may be asked in bad HTTP');
});
