import { join } from 'node:path';
import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import {
  auditConfig,
  createExport,
  exportIn,
  folderFor,
  type ShownExport,
} from '../support/audit/gateway-process.js';
import { readExposition } from '../support/exposition.js';
import { runGateway, until, type Running } from '../support/gateway.js';
import { simulated } from '../support/inference.js';
import { destinations } from '../support/sinks/destinations.js';
import { S3_KEY, startFakeS3, startS3 } from '../support/sinks/fake-s3.js';

t.setTimeout(120_000);

/** Terms that each event lists: a few dozen such events fill an object of the store, which else waits for a minute. */
const terms = Array.from({ length: 1_000 }, (_, n) => `denied-term-${n}`);
const OBJECT_EVENTS = 50;

const openGateway = (t: Test): Promise<Running> => {
  const config = auditConfig(folderFor(t));
  const organizations = config.bootstrap!.organizations!.map((organization) => ({
    ...organization,
    gateway: { rules: { denylist: terms } },
  }));
  return runGateway(t, { ...config, bootstrap: { organizations } });
};

const exportPath = (id: string): string => `/api/policy-gateway/exports/${id}`;

const read = async ({ call }: Running, id: string): Promise<ShownExport> =>
  exportIn(await call('GET', exportPath(id)));

const correct = async ({ call }: Running, id: string, config: object): Promise<ShownExport> =>
  exportIn(await call('PATCH', exportPath(id), { body: { config } }));

/** So much that the store is sent to at once. */
const fillObject = async ({ post }: Running): Promise<string[]> => {
  const body = simulated(terms.join(' '));
  const ids: string[] = [];
  for (let n = 0; n < OBJECT_EVENTS; n++) {
    const response = await post('/v1/messages', body);
    await response.text();
    ids.push(response.headers.get('x-request-id')!);
  }
  return ids;
};

const becomes = (running: Running, id: string, error: RegExp): Promise<void> =>
  until(async () => error.test((await read(running, id)).last_error ?? ''), String(error), 30_000);

const succeeds = async (running: Running, id: string, after: string): Promise<void> =>
  until(async () => ((await read(running, id)).last_success_at ?? '') > after, 'a success', 30_000);

/** The ids of the requests whose events a folder of objects holds. */
const requestsBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.includes('.ndjson.gz') && entry.name.endsWith('_object'))
    .flatMap((entry) =>
      gunzipSync(readFileSync(join(entry.parentPath, entry.name)))
        .toString()
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => String((JSON.parse(line) as { readonly request_id: unknown }).request_id)),
    );

t.test('D27 a wrong secret and a missing bucket are told, and their correction acts at once', async (t) => {
  const s3 = await startS3(['audit']);
  t.teardown(() => s3.close());
  const running = await openGateway(t);
  const place = { region: 'eu-central-1', endpoint: s3.url, access_key_id: S3_KEY.id };
  const { id } = await createExport(running, {
    type: 's3',
    config: { ...place, bucket: 'audit', secret_access_key: 'wrong' },
  });
  const ids = await fillObject(running);
  await becomes(running, id, /^The store refuses \(HTTP 403\): the secret access key is wrong\.$/);
  t.equal((await read(running, id)).last_success_at, null);

  await correct(running, id, { bucket: 'nobody', secret_access_key: S3_KEY.secret });
  await becomes(running, id, /^The store refuses \(HTTP 404\): the bucket does not exist\.$/);

  const before = new Date().toISOString();
  await correct(running, id, { bucket: 'audit', secret_access_key: S3_KEY.secret });
  await succeeds(running, id, before);
  const arrived = requestsBelow(s3.folder).filter((one) => ids.includes(one));
  t.ok(arrived.length > 30, `${arrived.length} events are there`);
  t.strictSame(arrived, ids.slice(0, arrived.length), 'in their order');
});

t.test('D27 a skewed clock is corrected by the store’s own, and told where that does not help', async (t) => {
  let skewMs = 3_600_000;
  const s3 = await startFakeS3({ nowMs: () => Date.now() + skewMs });
  t.teardown(() => s3.close());
  const running = await openGateway(t);
  const config = {
    bucket: 'audit',
    region: 'eu-central-1',
    endpoint: s3.url,
    access_key_id: 'AKID',
    secret_access_key: 'secret',
  };
  const { id } = await createExport(running, { type: 's3', config });
  await fillObject(running);
  await until(() => s3.objects.size > 0, 'the store takes it');
  t.equal((await read(running, id)).last_error, null, 'an hour is nothing to speak of');

  // A store that is asked twice and wrong each time.
  s3.failAs(() => ({
    kind: 'status',
    status: 403,
    body: '<Error><Code>RequestTimeTooSkewed</Code></Error>',
    headers: { date: 'no date' },
  }));
  const stuck = await createExport(running, { type: 's3', config: { ...config, prefix: 'stuck' } });
  await fillObject(running);
  await becomes(running, stuck.id, /^The store refuses \(HTTP 403\): the clock of this machine is wrong\.$/);
  skewMs = 0;
  s3.failAs(null);
  const before = new Date().toISOString();
  await correct(running, stuck.id, { prefix: 'free' });
  await succeeds(running, stuck.id, before);
});

t.test('D27 the metrics of a sink are true while it is down and after', async (t) => {
  const running = await openGateway(t);
  const siem = await destinations.datadog();
  t.teardown(() => siem.server.close());
  const { id } = await createExport(running, siem);
  const metric = async (name: string, labels: Record<string, string> = {}): Promise<number> =>
    readExposition(await (await fetch(`${running.url}/metrics`)).text())
      .filter((one) => one.name === name && one.labels['sink'] === id)
      .filter((one) => Object.entries(labels).every(([label, value]) => one.labels[label] === value))
      .reduce((sum, { value }) => sum + value, 0);
  const ask = async (): Promise<void> => {
    await (await running.post('/v1/messages', simulated('[[tokens=2]]'))).text();
  };
  const isQueued = (count: number): Promise<void> =>
    until(async () => (await metric('sluice_sink_queued_events')) === count, `${count} queued`, 30_000);

  await ask();
  await until(async () => (await metric('sluice_sink_last_success_seconds')) > 0, 'a success');
  await isQueued(0);
  const succeeded = await metric('sluice_sink_last_success_seconds');
  t.ok(Math.abs(succeeded - Date.now() / 1_000) < 60, 'in seconds since 1970');
  t.equal(await metric('sluice_sink_oldest_seconds'), 0);

  siem.server.failAs(() => ({ kind: 'status', status: 503 }));
  for (let n = 0; n < 7; n++) await ask();
  await isQueued(7);
  await until(async () => (await metric('sluice_sink_errors', { kind: 'retry' })) >= 2, 'failed tries');
  await until(async () => (await metric('sluice_sink_oldest_seconds')) >= 1, 'the oldest grows old');
  t.equal(await metric('sluice_sink_last_success_seconds'), succeeded);

  siem.server.failAs(() => ({ kind: 'status', status: 403 }));
  await until(
    async () => (await metric('sluice_sink_errors', { kind: 'held' })) >= 1,
    'a refused key',
    30_000,
  );
  await becomes(running, id, /refuses the credentials \(HTTP 403\)/);

  siem.server.failAs(null);
  await correct(running, id, { service: 'again' });
  await isQueued(0);
  t.equal(await metric('sluice_sink_oldest_seconds'), 0);
  t.ok((await metric('sluice_sink_last_success_seconds')) > succeeded);
  t.equal(await metric('sluice_sink_errors', { kind: 'dead_letter' }), 0);

  siem.server.failAs(() => ({ kind: 'status', status: 503 }));
  await ask();
  await isQueued(1);
  t.equal((await running.call('DELETE', exportPath(id))).status, 200);
  await isQueued(0);
});
