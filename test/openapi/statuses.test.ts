import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { systemClock } from '../../src/core/clock.js';
import { GatewayError } from '../../src/core/errors.js';
import type { Admit, Lease, Route } from '../../src/core/exchange.js';
import { silentLog } from '../../src/core/log.js';
import type { Principal } from '../../src/core/principal.js';
import { compileMatcher } from '../../src/io/http/match.js';
import { createMetrics } from '../../src/io/metrics/metrics.js';
import { StoreUnavailable } from '../../src/io/records/records.js';
import { serve } from '../../src/serve.js';
import { ADMIN_KEY, APP_KEY, runGateway } from '../support/gateway.js';
import { watchResponses } from '../support/openapi.js';
import { startRedis, until } from '../support/redis.js';
import { documentedRoutes } from './document.js';
import { statusesOf } from './responses.js';

const routes = documentedRoutes();
const guarded = routes.filter(({ auth }) => auth !== 'public');
const pathOf = (route: Route, id = 'unknown'): string => route.path.replace(/\{\w+\}/g, id);
const having = (status: string) => routes.filter((route) => statusesOf(route).includes(status));

const NOTHING_ADMIN = 'sk-test-admin-key-without-rights';
const NOTHING_APP = 'sk-test-app-key-without-inference';
const INFERENCE_APP = 'sk-test-app-key-of-an-application';
const MAX_BODY_BYTES = 70_000;

const organizations = [
  {
    id: 'org_test',
    name: 'Test',
    admin_keys: [
      { name: 'root', value: ADMIN_KEY },
      { name: 'nothing', value: NOTHING_ADMIN, permissions: ['audit.read' as const] },
    ],
    projects: [
      {
        id: 'proj_app',
        name: 'App',
        keys: [
          { name: 'app', value: APP_KEY },
          { name: 'nothing', value: NOTHING_APP, permissions: ['gateway.read' as const] },
          { name: 'inference', value: INFERENCE_APP, permissions: ['inference' as const] },
        ],
      },
    ],
  },
];

const isGateway = ({ auth }: Route): boolean => auth === 'gateway';
const weakKeyOf = (route: Route): string => {
  if (route.auth === 'admin') return NOTHING_ADMIN;
  return isGateway(route) ? INFERENCE_APP : NOTHING_APP;
};
const keyOf = ({ auth }: Route): string => (auth === 'admin' ? ADMIN_KEY : APP_KEY);
const bodyOf = ({ body }: Route): { body?: unknown } => (body === 'json' ? { body: {} } : {});

t.test('7.2 what follows from the row of an operation holds for every operation', async (t) => {
  const { call } = await runGateway(t, {
    server: { port: 0, max_body_bytes: MAX_BODY_BYTES },
    bootstrap: { organizations },
    limits: { enforce: false },
  });
  const statusOf = async (route: Route, path: string, options: object): Promise<number> => {
    const response = await call(route.method, path, { key: keyOf(route), ...bodyOf(route), ...options });
    await response.arrayBuffer();
    return response.status;
  };

  for (const route of guarded) {
    t.equal(await statusOf(route, pathOf(route), { key: null }), 401, `${route.operation} without a key`);
    if (route.permission !== null || route.operation === 'list_history')
      t.equal(
        await statusOf(route, pathOf(route), { key: weakKeyOf(route) }),
        403,
        `${route.operation} without the permission`,
      );
  }
  for (const route of having('413')) {
    t.equal(
      await statusOf(route, pathOf(route), {
        body: `"${'x'.repeat(isGateway(route) ? route.bodyBytes : MAX_BODY_BYTES)}"`,
      }),
      413,
      `${route.operation} with a body beyond its bound`,
    );
    const unparsable = route.family === 'count_tokens' ? 422 : 400;
    t.equal(
      await statusOf(route, pathOf(route), { body: '{' }),
      unparsable,
      `${route.operation} without JSON`,
    );
  }
  for (const route of routes.filter(({ doc }) => doc.replayable)) {
    const headers = { 'idempotency-key': 'x'.repeat(256) };
    const query = route.doc.query ? '?revision=1&user=ann' : '';
    const body = route.body === 'json' ? { body: '{' } : {};
    t.equal(
      await statusOf(route, pathOf(route) + query, { key: ADMIN_KEY, headers, ...body }),
      400,
      `${route.operation} with an Idempotency-Key too long`,
    );
  }
  for (const route of routes.filter(({ doc }) => doc.query?.['after'])) {
    if (!route.path.includes('{'))
      t.equal(
        await statusOf(route, `${route.path}?limit=0`, {}),
        422,
        `${route.operation} with a limit of 0`,
      );
    t.equal(await statusOf(route, `${pathOf(route)}?after=`, {}), 400, `${route.operation} with no cursor`);
  }
  for (const route of having('422').filter(({ path }) => path.includes('{')))
    t.equal(
      await statusOf(route, pathOf(route, 'x'.repeat(201)), {}),
      422,
      `${route.operation} with an id too long`,
    );
});

const principal: Principal = {
  kind: 'admin',
  organization: { id: 'org_test', name: 'Test', plan: 'free', lifetimePaidUsd: 0, metered: false },
  projectId: null,
  keyId: 'key_test',
  permissions: new Set(['*', 'credits.write']),
  models: null,
  creditBudget: null,
};

const limited = (): GatewayError =>
  new GatewayError('rate_limit_exceeded', 'Too many requests.', {
    retryAfterS: 7,
    headers: {
      'x-ratelimit-limit': '60',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': '1800000000',
      'x-ratelimit-scope': 'credential',
      'x-ratelimit-metric': 'requests',
    },
  });

/** The walk with every documented row, whose limiter or handler fails as told. */
const serveFailing = async (t: { teardown(run: () => void): unknown }) => {
  let fault: { readonly at: 'admit' | 'handle'; readonly error: Error } | null = null;
  const failAt = (place: 'admit' | 'handle'): void => {
    if (fault?.at === place) throw fault.error;
  };
  const admit: Admit = async () => {
    failAt('admit');
    return { headers: {}, settle: async () => ({ remainingCredits: null }) };
  };
  const handle = async (): Promise<never> => {
    failAt('handle');
    throw new Error('nothing failed');
  };
  const metrics = createMetrics({ version: 'test' });
  const parts = {
    match: compileMatcher<Route>(routes.map((route) => ({ ...route, handle }))),
    identify: async () => ({ principal, unused: async () => undefined }),
    admit,
    clientAddress: () => '127.0.0.1',
    usdPerCredit: 1,
    tally: () => undefined,
    witness: {
      admits: async () => undefined,
      attend: (lease: Lease) => lease,
      refused: async (_trip: unknown, error: GatewayError) => error,
    },
    checkProject: async () => undefined,
    log: silentLog,
    metrics,
    clock: systemClock,
  };
  const server = createServer((req, res) => void serve(req, res, parts, new AbortController()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    metrics.close();
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  watchResponses(port);
  return async (route: Route, at: 'admit' | 'handle', error: Error): Promise<number> => {
    fault = { at, error };
    const { body } = bodyOf(route);
    const response = await fetch(`http://127.0.0.1:${port}${pathOf(route)}`, {
      method: route.method,
      ...(body !== undefined && {
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
    });
    await response.arrayBuffer();
    return response.status;
  };
};

t.test('7.2 limits, faults and a store that is away read alike on every operation', async (t) => {
  const fail = await serveFailing(t);
  for (const route of having('429')) t.equal(await fail(route, 'admit', limited()), 429, route.operation);
  for (const route of having('402')) {
    const error = new GatewayError('insufficient_credits', 'No credits are left.');
    t.equal(await fail(route, 'admit', error), 402, route.operation);
  }
  for (const route of routes)
    t.equal(await fail(route, 'handle', new Error('a bug with a secret in it')), 500, route.operation);
  for (const route of guarded)
    t.equal(await fail(route, 'handle', new StoreUnavailable(new Error('gone'))), 503, route.operation);
});

t.test('7.2 without its store the gateway answers 503 to every administrator', async (t) => {
  const redis = await startRedis();
  t.teardown(() => redis.stop());
  const { call } = await runGateway(t, {
    store: { kind: 'redis', redis: { url: redis.url, command_timeout: '250ms' } },
    auth: { pepper: 'the-pepper-of-the-test-suite-of-32-or-more-characters' },
  });
  t.equal((await call('GET', '/v1/organization/projects')).status, 200);
  await redis.kill();
  const response = await call('GET', '/v1/organization/projects');
  t.equal(response.status, 503);
  t.match(await response.json(), { error: { code: 'store_unavailable', type: 'internal_error' } });
  t.equal(
    (await call('GET', '/v1/organization/projects', { key: 'sk-nobody-has-ever-seen-me' })).status,
    503,
  );
  await redis.restart();
  await until(async () => (await call('GET', '/v1/organization/projects')).status !== 503);
});

t.test('7.3 the failures of a provider have one status on every inference operation', async (t) => {
  const { post } = await runGateway(t);
  const ask = (path: string, text: string, model = 'sim-small') =>
    post(path, { model, messages: [{ role: 'user', content: text }], input: text });
  for (const { path } of routes.filter(({ limits }) => limits === 'inference')) {
    for (const status of [502, 504, 529])
      t.equal((await ask(path, `[[status=${status}]]`)).status, status, `${path} ${status}`);
    t.equal((await ask(path, 'hello', 'no-such-model')).status, 404);
    t.equal((await ask(path, '[[status=418]]')).status, 418, `${path} passes on what the provider says`);
  }
});
