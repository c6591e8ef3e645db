import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Verifier } from '../../src/rules/audit/verify.js';
import {
  auditConfig,
  createExport,
  exportIn,
  folderFor,
  historyOf,
} from '../support/audit/gateway-process.js';
import { readExposition } from '../support/exposition.js';
import { generousLimits, runGateway, until, type CallOptions } from '../support/gateway.js';
import { simulated } from '../support/inference.js';
import { destinations } from '../support/sinks/destinations.js';

t.setTimeout(120_000);

/** So many terms that each event takes tens of kilobytes. */
const terms = Array.from({ length: 400 }, (_, n) => `denied-term-${n}`);
const organization = (id: string, auditLogs: boolean) => ({
  id,
  name: id,
  credits: 1_000_000_000,
  admin_keys: [{ name: 'root', value: `sk-test-admin-key-of-${id}` }],
  projects: [{ id: `proj_${id}`, name: 'App', keys: [{ name: 'app', value: `sk-test-app-key-of-${id}` }] }],
  gateway: { rules: { denylist: terms }, org_controls: { audit_logs: auditLogs } },
});

interface Side {
  ask(text?: string): Promise<{ readonly status: number; readonly id: string; readonly body: unknown }>;
  call(method: string, path: string, options?: CallOptions): Promise<Response>;
  readonly sinkId: string;
  readonly siem: Awaited<ReturnType<typeof destinations.splunk>>;
}

/** A gateway with a small spool, and two organizations whose destinations are down. */
const openFull = async (t: Test) => {
  const folder = folderFor(t);
  const running = await runGateway(t, {
    ...auditConfig(folder),
    limits: generousLimits,
    audit: { spool: { path: join(folder, 'audit'), max_bytes: 1_048_576, min_free_bytes: 0 } },
    bootstrap: { organizations: [organization('org_strict', true), organization('org_lax', false)] },
  });
  const side = async (id: string): Promise<Side> => {
    const siem = await destinations.splunk();
    t.teardown(() => siem.server.close());
    const key = `sk-test-admin-key-of-${id}`;
    const call: Side['call'] = (method, path, options) => running.call(method, path, { key, ...options });
    const { id: sinkId } = await createExport({ call }, siem);
    siem.server.failAs(() => ({ kind: 'status', status: 503 }));
    return {
      siem,
      sinkId,
      call,
      ask: async (text = 'Hello. [[tokens=3]]') => {
        const headers = { authorization: `Bearer sk-test-app-key-of-${id}` };
        const response = await running.post('/v1/messages', simulated(text), headers);
        return {
          status: response.status,
          id: response.headers.get('x-request-id')!,
          body: await response.json(),
        };
      },
    };
  };
  const metric = async (name: string, labels: Record<string, string> = {}): Promise<number> =>
    readExposition(await (await fetch(`${running.url}/metrics`)).text())
      .filter((one) => one.name === name && Object.entries(labels).every(([k, v]) => one.labels[k] === v))
      .reduce((sum, { value }) => sum + value, 0);
  const [strict, lax] = [await side('org_strict'), await side('org_lax')];
  /** Gives the requests that were still recorded. */
  const fill = async (): Promise<string[]> => {
    const recorded: string[] = [];
    while ((await metric('sluice_audit_events_total', { result: 'lost' })) === 0)
      recorded.push((await lax.ask(terms.join(' '))).id);
    recorded.pop(); // the first that found no room
    await until(async () => (await metric('sluice_audit_open')) === 0, 'the metric tells of it');
    return recorded;
  };
  return { ...running, strict, lax, metric, fill };
};

const isOpen = async (metric: (name: string) => Promise<number>): Promise<boolean> =>
  (await metric('sluice_audit_open')) === 1;

t.test('D28 without room the strict are refused, the others are counted, and room heals it', async (t) => {
  const { strict, lax, metric, fill, gateway } = await openFull(t);
  const before = await strict.ask();
  t.equal(before.status, 200);
  const recorded = await fill();
  t.ok(recorded.length > 5, `${recorded.length} events filled the spool`);

  t.match(await strict.ask(), { status: 503, body: { type: 'error', error: { code: 'audit_unavailable' } } });
  const lost = [];
  for (let n = 0; n < 5; n++) lost.push(await lax.ask());
  t.ok(
    lost.every(({ status }) => status === 200),
    'the others go on',
  );
  t.equal(await metric('sluice_audit_events_total', { result: 'lost' }), 6);
  t.equal(await metric('sluice_degraded', { what: 'audit' }), 1);
  await until(
    async () => (await metric('sluice_audit_troubles', { kind: 'missed' })) === 6,
    'all six are counted',
  );
  const policy = { name: 'Meanwhile', rule: 'r' };
  const made = await strict.call('POST', '/v1/organization/policies', { body: policy });
  t.equal(made.status, 200, 'a change of the administration is kept with its record');
  const gaps = await historyOf(lax, '&event_type=admin');
  t.equal(
    gaps.filter(({ reason_code }) => reason_code === 'audit_gap').length,
    1,
    'one event tells of the gap',
  );

  for (const side of [strict, lax]) {
    side.siem.server.failAs(null);
    // Someone who corrects a sink does not wait for its next try.
    await exportIn(
      await side.call('PATCH', `/api/policy-gateway/exports/${side.sinkId}`, {
        body: { config: { source: 'again' } },
      }),
    );
  }
  await until(() => isOpen(metric), 'there is room again', 60_000);
  const after = await strict.ask();
  t.equal(after.status, 200, 'without a restart');
  const laxAfter = await lax.ask();
  t.equal(await metric('sluice_degraded', { what: 'audit' }), 0);
  // The change of before goes with the next one, or with the next look at what was left behind.
  t.equal((await strict.call('POST', '/v1/organization/policies', { body: policy })).status, 200);
  await until(async () => {
    const changes = await historyOf(strict, '&event_type=admin');
    return changes.filter(({ endpoint }) => endpoint === '/v1/organization/policies').length === 2;
  }, 'both changes are told of');
  await gateway.close();

  const ids = ({ siem }: Side) => siem.events().map(({ request_id }) => request_id);
  for (const id of [before.id, after.id]) t.ok(ids(strict).includes(id));
  for (const id of [...recorded, laxAfter.id]) t.ok(ids(lax).includes(id));
  const verifier = new Verifier();
  t.ok(
    lax.siem.events().every((event) => verifier.take(event, 'splunk')),
    'the chain is whole',
  );
  t.match(verifier.result, { fault: null, missed: 6 }, 'and tells how many are missing');
});

t.test('D28 a sink that is deleted gives its room back', async (t) => {
  const { strict, lax, metric, fill } = await openFull(t);
  await fill();
  t.equal((await strict.ask()).status, 503);
  const gone = await lax.call('DELETE', `/api/policy-gateway/exports/${lax.sinkId}`);
  t.equal(gone.status, 200);
  await until(() => isOpen(metric), 'there is room again', 30_000);
  t.equal((await strict.ask()).status, 200);
});
