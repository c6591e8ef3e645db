import t, { type Test } from 'tap';
import { ADMIN_KEY, APP_KEY, runGateway, until } from '../support/gateway.js';
import { openStream, simulated } from '../support/inference.js';
import { testOnEachStore, type Changes } from '../support/stores.js';

t.setTimeout(120_000);

const DAY_S = 86_400;

interface Asked {
  readonly user?: string;
  readonly text?: string;
  readonly maxTokens?: number;
  readonly path?: string;
}

/** Until the next midnight UTC. */
const untilMidnightS = (nowMs: number): number => DAY_S - ((nowMs / 1_000) % DAY_S);

/** A gateway whose organization has saved these controls. */
const open = async (t: Test, changes: Changes, controls: object) => {
  // A quota that begins anew in the middle of a test would let in what it must not.
  await until(() => untilMidnightS(Date.now()) > 60, 'midnight is far', 70_000);
  const running = await runGateway(t, changes);
  const saved = await running.call('POST', '/api/policy-gateway/config', {
    body: { config: { org_controls: controls } },
  });
  t.equal(saved.status, 200, 'the configuration is saved');
  await saved.arrayBuffer();
  const ask = async ({
    user,
    text = '[[tokens=10]]',
    maxTokens = 100,
    path = '/v1/messages',
  }: Asked = {}) => {
    const response = await running.post(path, simulated(text, { max_tokens: maxTokens }), {
      ...(user !== undefined && { 'x-policy-user': user }),
    });
    const { status, headers } = response;
    return { status, headers, body: (await response.json()) as object };
  };
  return { ...running, ask };
};

const isOver = (t: Test, { status, headers }: Pick<Response, 'status' | 'headers'>, reason: string): void => {
  t.equal(status, 429);
  t.equal(headers.get('x-policy-reason-code'), reason);
};

testOnEachStore('D24 the third request of a user is over a quota of two a day', async (t, changes) => {
  const { ask } = await open(t, changes, {
    user_quotas: true,
    user_quota: { requests: 2, window: 'daily' },
  });
  t.equal((await ask({ user: 'ann' })).status, 200);
  t.equal((await ask({ user: 'ann' })).status, 200);
  const beforeMs = Date.now();
  const over = await ask({ user: 'ann' });
  const afterMs = Date.now();
  isOver(t, over, 'USER_QUOTA_EXCEEDED');
  const retryS = Number(over.headers.get('retry-after'));
  t.ok(retryS >= Math.ceil(untilMidnightS(afterMs)), `${retryS} s is not before midnight UTC`);
  t.ok(retryS <= Math.ceil(untilMidnightS(beforeMs)), 'nor later');
  t.match(over.body, {
    type: 'error',
    error: {
      type: 'rate_limit_error',
      message: /USER_QUOTA_EXCEEDED.*daily quota of requests of this user, limit 2/,
    },
  });
  t.ok(over.headers.has('x-ratelimit-limit-requests'), '8.4 with the six headers');
  t.equal((await ask({ user: 'bob' })).status, 200, 'another user has a quota of his own');
  isOver(t, await ask({ user: 'ann', path: '/v1/chat/completions' }), 'USER_QUOTA_EXCEEDED');
});

testOnEachStore('D24 a user sees how far the quotas have come', async (t, changes) => {
  const { ask, call } = await open(t, changes, {
    user_quotas: true,
    user_quota: { requests: 5, window: 'daily' },
    project_quota: { requests: 9, tokens: 100_000, window: 'monthly' },
  });
  for (const user of ['ann', 'ann', 'bob']) await ask({ user });
  const quotas = async (key: string, path: string, headers = {}): Promise<readonly object[]> => {
    const response = await call('GET', path, { key, headers });
    const { limits } = (await response.json()) as { limits: { metric: string }[] };
    return limits.filter(({ metric }) => metric.startsWith('quota'));
  };
  t.match(await quotas(APP_KEY, '/v1/limits', { 'x-policy-user': 'ann' }), [
    { scope: 'user', id: 'ann', metric: 'quota_requests', limit: 5, used: 2, remaining: 3 },
    { scope: 'project', id: 'proj_app', metric: 'quota_requests', limit: 9, used: 3 },
    { scope: 'project', id: 'proj_app', metric: 'quota_tokens', limit: 100_000, used: Number },
  ]);
  t.match(
    await quotas(ADMIN_KEY, '/v1/organization/limits?project_id=proj_app'),
    [
      { scope: 'project', metric: 'quota_requests', used: 3 },
      { scope: 'project', metric: 'quota_tokens' },
    ],
    'an administrator sees those of the project',
  );
});

testOnEachStore('D24 without user_quotas the same quota does not act', async (t, changes) => {
  const { ask } = await open(t, changes, { user_quota: { requests: 1, window: 'daily' } });
  for (let n = 0; n < 3; n++) t.equal((await ask({ user: 'ann' })).status, 200);
});

testOnEachStore('D24 a request that names no user counts for its key', async (t, changes) => {
  const { ask } = await open(t, changes, {
    user_quotas: true,
    user_quota: { requests: 1, window: 'weekly' },
  });
  t.equal((await ask()).status, 200);
  isOver(t, await ask(), 'USER_QUOTA_EXCEEDED');
  t.equal((await ask({ user: 'ann' })).status, 200);
});

testOnEachStore('D24 the quota of a project holds for all of its users', async (t, changes) => {
  const { ask, call } = await open(t, changes, { project_quota: { requests: 2, window: 'monthly' } });
  t.equal((await ask({ user: 'ann' })).status, 200);
  t.equal((await ask({ user: 'bob' })).status, 200);
  const over = await ask({ user: 'cid' });
  isOver(t, over, 'PROJECT_QUOTA_EXCEEDED');
  t.equal(over.headers.get('x-should-retry'), 'false', 'a month is too long to wait');

  const id = over.headers.get('x-request-id')!;
  const explained = await call('GET', `/v1/requests/${id}/limits`, { key: APP_KEY });
  t.match(await explained.json(), {
    violated: [
      { scope: 'project', id: 'proj_app', metric: 'quota_requests', limit: 2, used: 2, reserved: 0 },
    ],
  });
});

testOnEachStore('D24 a quota of tokens reserves what may come and keeps what came', async (t, changes) => {
  const { ask, call, url } = await open(t, changes, { project_quota: { tokens: 1_000, window: 'daily' } });
  const stream = await openStream(url, simulated('[[tokens=50]][[stall=1h]]', { max_tokens: 800 }));
  t.equal(stream.status, 200);
  const over = await ask({ maxTokens: 500 });
  isOver(t, over, 'PROJECT_QUOTA_EXCEEDED');
  const id = over.headers.get('x-request-id')!;
  const explained = await call('GET', `/v1/requests/${id}/limits`, { key: APP_KEY });
  const { violated } = (await explained.json()) as { violated: { used: number; reserved: number }[] };
  t.match(violated, [{ scope: 'project', metric: 'quota_tokens', limit: 1_000 }]);
  t.ok(violated[0]!.used >= 800);
  t.equal(violated[0]!.reserved, violated[0]!.used, 'all of it by the stream under way');
  stream.leave();
  await until(async () => (await ask({ maxTokens: 500 })).status === 200, 'what it did not use came back');
});

testOnEachStore('D24 a quota that is changed or lifted acts on the next request', async (t, changes) => {
  const { ask, call } = await open(t, changes, { project_quota: { requests: 1, window: 'daily' } });
  t.equal((await ask()).status, 200);
  isOver(t, await ask(), 'PROJECT_QUOTA_EXCEEDED');
  const saved = await call('POST', '/api/policy-gateway/config', {
    body: { config: { org_controls: { project_quota: { requests: 3, window: 'daily' } } } },
  });
  t.equal(saved.status, 200);
  await saved.arrayBuffer();
  t.equal((await ask()).status, 200, 'what was used before still counts, what was refused does not');
  t.equal((await ask()).status, 200);
  isOver(t, await ask(), 'PROJECT_QUOTA_EXCEEDED');
});
