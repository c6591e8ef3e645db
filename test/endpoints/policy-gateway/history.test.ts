import t from 'tap';
import type { AuditFacts } from '../../../src/core/audit.js';
import { GatewayError } from '../../../src/core/errors.js';
import type { Call } from '../../../src/core/exchange.js';
import { createHistoryDoors } from '../../../src/endpoints/policy-gateway/history.js';
import { AuditUnavailable } from '../../../src/rules/audit/audit.js';
import type { HistoryFilter } from '../../../src/rules/audit/history.js';
import { MemoryRecords } from '../../support/memory-records.js';
import { callWith } from './desk.js';

const EVENT = { event_id: 'evt_1', event_type: 'enforcement', org_id: 'org_test', seq: 1 };

const keeping = () => ({
  records: new MemoryRecords(),
  pepper: Buffer.from('0123456789abcdef0123456789abcdef'),
});

/** The doors on a trail that remembers what it was asked. */
const openDesk = () => {
  const asked: { organizationId: string; filter?: HistoryFilter; user?: string }[] = [];
  const recorded: AuditFacts[] = [];
  const kept = keeping();
  const doors = createHistoryDoors({
    ...kept,
    audit: {
      history: async (organizationId, filter) => {
        asked.push({ organizationId, filter });
        return { events: [EVENT], hasMore: true };
      },
      erase: async (organizationId, user) => {
        asked.push({ organizationId, user });
        return 7;
      },
      confirm: async (facts) => void recorded.push(facts),
    },
  });
  return { doors, asked, recorded, records: kept.records };
};

const adminCall = (query: string, headers: Readonly<Record<string, string>> = {}): Call => {
  const call = callWith({ query, headers });
  return { ...call, principal: { ...call.principal, kind: 'admin', projectId: null } };
};

const fault = (code: string, param?: string) => (error: unknown) =>
  error instanceof GatewayError && error.code === code && (param === undefined || error.param === param);

t.test('D12 history gives the latest events of the own organization, with every filter', async (t) => {
  const { doors, asked } = openDesk();
  const reply = await doors.list(
    adminCall(
      'limit=5&after=evt_0&event_type=admin&decision=refuse&policy_id=pol_1&project_id=proj_1&key_id=key_1&user=zo%C3%AB&request_id=req_1&since=2031-01-31T12:00:00Z&until=2031-02-01',
    ),
  );
  t.same(reply.body, {
    object: 'list',
    data: [{ id: 'evt_1', object: 'policy_gateway.event', ...EVENT }],
    first_id: 'evt_1',
    last_id: 'evt_1',
    has_more: true,
  });
  t.same(asked, [
    {
      organizationId: 'org_test',
      filter: {
        eventType: 'admin',
        decision: 'refuse',
        policyId: 'pol_1',
        projectId: 'proj_1',
        keyId: 'key_1',
        user: 'zoë',
        requestId: 'req_1',
        sinceMs: Date.UTC(2031, 0, 31, 12),
        untilMs: Date.UTC(2031, 1, 1),
        after: 'evt_0',
        limit: 5,
      },
    },
  ]);
  await doors.list(adminCall(''));
  t.same(asked[1]?.filter, { limit: 20 });
});

t.test('D12 a project key sees the events of its project alone', async (t) => {
  const { doors, asked } = openDesk();
  await doors.list(callWith({}));
  t.same(asked[0]?.filter, { projectId: 'proj_app', limit: 20 });
  await t.rejects(doors.list(callWith({ query: 'project_id=proj_other' })));
  t.equal(asked.length, 1);
});

t.test('D11 a wrong query of the history names the parameter', async (t) => {
  const { doors } = openDesk();
  for (const [query, param] of [
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['event_type=x', 'event_type'],
    ['since=yesterday', 'since'],
    ['until=2031-13-01', 'until'],
    ['user=', 'user'],
    [`decision=${'x'.repeat(513)}`, 'decision'],
    ['key_id=a&key_id=b', 'key_id'],
  ] as const)
    t.ok(await doors.list(adminCall(query)).then(() => false, fault('invalid_parameter', param)), query);
  t.ok(await doors.list(adminCall('after=pol_1')).then(() => false, fault('invalid_cursor', 'after')));
});

t.test('erasing a user takes an administrator, is on record, and does not name the user there', async (t) => {
  const { doors, asked, recorded } = openDesk();
  t.same((await doors.erase(adminCall('user=zoe'))).body, { object: 'policy_gateway.erasure', erased: 7 });
  t.same(asked, [{ organizationId: 'org_test', user: 'zoe' }]);
  t.match(recorded, [
    { event_type: 'admin', key_id: 'key_1', reason_code: 'history_erased', details: { erased: 7 } },
  ]);
  t.notMatch(JSON.stringify(recorded), 'zoe');
  t.ok(await doors.erase(adminCall('')).then(() => false, fault('invalid_parameter', 'user')));
  t.ok(
    await doors.erase(callWith({ query: 'user=zoe' })).then(() => false, fault('insufficient_permissions')),
  );
});

t.test(
  'D10 an erasure is done once per key and answered alike, and one that failed is not kept',
  async (t) => {
    const { doors, asked, recorded, records } = openDesk();
    const key = { 'idempotency-key': 'erase-zoe' };
    const first = await doors.erase(adminCall('user=zoe', key));
    t.equal(first.headers?.['idempotent-replayed'], undefined);
    const again = await doors.erase(adminCall('user=zoe', key));
    t.strictSame(again.body, first.body);
    t.equal(again.headers?.['idempotent-replayed'], 'true');
    t.equal(asked.length, 1);
    t.equal(recorded.length, 1, 'nor is it on record twice');
    t.notMatch(records.dump(), 'user=zoe');
    t.ok(
      await doors.erase(adminCall('user=ann', key)).then(() => false, fault('idempotency_key_reuse')),
      'another user is another request',
    );

    const parts = keeping();
    const gone = (): Promise<never> => Promise.reject(new AuditUnavailable('it is not running'));
    const failing = createHistoryDoors({ ...parts, audit: { history: gone, erase: gone, confirm: gone } });
    t.ok(await failing.erase(adminCall('user=zoe', key)).then(() => false, fault('audit_unavailable')));
    const audit = { history: gone, erase: async () => 1, confirm: async () => undefined };
    const mended = createHistoryDoors({ ...parts, audit });
    t.match(await mended.erase(adminCall('user=zoe', key)), { body: { erased: 1 } });
  },
);

t.test('D10 an erasure that is done is answered, even where its answer cannot be kept', async (t) => {
  const parts = keeping();
  const erase = async (): Promise<number> => {
    parts.records.down = true;
    return 3;
  };
  const audit = { history: () => Promise.reject(new Error('unused')), erase, confirm: async () => undefined };
  const doors = createHistoryDoors({ ...parts, audit });
  t.match(await doors.erase(adminCall('user=zoe', { 'idempotency-key': 'k' })), { body: { erased: 3 } });
});

t.test('a trail that does not answer is a 503', async (t) => {
  const gone = (): Promise<never> => Promise.reject(new AuditUnavailable('it is not running'));
  const doors = createHistoryDoors({ ...keeping(), audit: { history: gone, erase: gone, confirm: gone } });
  t.ok(await doors.list(adminCall('')).then(() => false, fault('audit_unavailable')));
  const broken = (): Promise<never> => Promise.reject(new Error('a bug'));
  const others = createHistoryDoors({
    ...keeping(),
    audit: { history: broken, erase: broken, confirm: broken },
  });
  await t.rejects(others.list(adminCall('')), /a bug/);
});
