import t, { type Test } from 'tap';
import { createSender, type Remark } from '../../../src/rules/sinks/create-sender.js';
import { azureLogin } from '../../../src/rules/sinks/azure-clouds.js';
import type { AzureConfig } from '../../../src/rules/sinks/configs.js';
import { ManualClock } from '../../support/manual-clock.js';
import { batchOf, CREATED_AT, never, quick, specOf } from '../../support/sinks/batches.js';
import { startFakeAzure, type FakeAzureOptions } from '../../support/sinks/fake-azure.js';

const place = async (t: Test, config: object = {}, options: Partial<FakeAzureOptions> = {}) => {
  const names = {
    tenantId: 'tenant',
    clientId: 'client',
    clientSecret: 's&=ä',
    dcr: 'dcr-1a',
    stream: 'Custom-A_CL',
  };
  const azure = await startFakeAzure({ ...names, ...options });
  t.teardown(() => azure.close());
  const clock = new ManualClock();
  const remarks: Remark[] = [];
  const given = {
    endpoint: azure.url,
    authority: azure.url,
    dcr_immutable_id: names.dcr,
    stream_name: names.stream,
    tenant_id: names.tenantId,
    client_id: names.clientId,
    client_secret: names.clientSecret,
    ...config,
  };
  const sender = createSender(specOf('azure_monitor', given), {
    ...quick,
    clock,
    remark: (_, what) => remarks.push(what),
  });
  t.teardown(() => sender.close());
  const asked = () => azure.requests.filter(({ path }) => path.endsWith('/token')).length;
  return { azure, sender, clock, remarks, asked };
};

t.test('4.1 events become rows with their time; one token serves many batches', async (t) => {
  const { azure, sender, asked } = await place(t);
  const batch = batchOf(2);
  t.strictSame(await sender.send(batch, never), { kind: 'accepted' });
  t.strictSame(await sender.send(batchOf(1, undefined, 3), never), { kind: 'accepted' });
  t.strictSame(azure.rows[0], {
    TimeGenerated: CREATED_AT,
    ...(JSON.parse(batch.events[0]!.json) as object),
  });
  t.equal(azure.rows.length, 3);
  t.equal(asked(), 1);
});

t.test('4.1 a token is replaced five minutes before its end', async (t) => {
  const { sender, clock, asked } = await place(t, {}, { expiresInS: 3_600 });
  await sender.send(batchOf(1), never);
  clock.advance(3_299_000);
  await sender.send(batchOf(1), never);
  t.equal(asked(), 1);
  clock.advance(2_000);
  await sender.send(batchOf(1), never);
  t.equal(asked(), 2);
});

t.test('4.1 those who need a token at once ask for it once', async (t) => {
  const { sender, asked } = await place(t);
  const outcomes = await Promise.all([1, 2, 3].map((seq) => sender.send(batchOf(1, undefined, seq), never)));
  t.strictSame(outcomes, [{ kind: 'accepted' }, { kind: 'accepted' }, { kind: 'accepted' }]);
  t.equal(asked(), 1);
});

t.test('4.1 a token that is refused is replaced once, then the batch is held', async (t) => {
  const { azure, sender, asked } = await place(t);
  await sender.send(batchOf(1), never);
  azure.revoke();
  t.strictSame(await sender.send(batchOf(1), never), { kind: 'accepted' });
  t.equal(asked(), 2);
  const refused = { kind: 'status', status: 401 } as const;
  azure.failAs(({ path }) => (path.endsWith('/token') ? null : refused));
  t.match(await sender.send(batchOf(1), never), { kind: 'held', reason: /401/ });
});

t.test('4.1 what the token service refuses', async (t) => {
  for (const [config, reason] of [
    [{ client_secret: 'wrong' }, /AADSTS7000215\): the client secret is wrong/],
    [{ client_id: 'other' }, /AADSTS700016/],
    [{ tenant_id: 'other' }, /AADSTS90002/],
    [{ scope: 'https://other/.default' }, /AADSTS70011/],
  ] as const) {
    const { sender, azure } = await place(t, config);
    t.match(await sender.send(batchOf(1), never), { kind: 'held', reason });
    t.strictSame(azure.rows, []);
  }
  const { azure, sender } = await place(t);
  azure.fail({ kind: 'status', status: 429, headers: { 'retry-after': '3' } });
  t.match(await sender.send(batchOf(1), never), { kind: 'retry', retryAfterMs: 3_000 });
  azure.fail({ kind: 'status', status: 200, body: '{"access_token":"a\\nb","expires_in":10}' });
  t.match(await sender.send(batchOf(1), never), { kind: 'retry', reason: /cannot be read/ });
  t.strictSame(await sender.send(batchOf(1), never), { kind: 'accepted' });
});

t.test('4.1 a secret that was corrected at the service is taken without a restart', async (t) => {
  const { azure, sender } = await place(t, {}, { clientSecret: 'another' });
  t.match(await sender.send(batchOf(1), never), { kind: 'held' });
  azure.setClientSecret('s&=ä');
  t.strictSame(await sender.send(batchOf(1), never), { kind: 'accepted' });
});

t.test('4.1 a missing role, a missing rule, a bad event', async (t) => {
  const { azure, sender } = await place(t);
  azure.setRole(false);
  t.match(await sender.send(batchOf(1), never), { kind: 'held', reason: /role .* 30 min/ });
  azure.setRole(true);
  t.strictSame(await sender.send(batchOf(1), never), { kind: 'accepted' });
  azure.fail({ kind: 'status', status: 400 });
  t.match(await sender.send(batchOf(1), never), { kind: 'poison' });
  const other = await place(t, { dcr_immutable_id: 'dcr-2' });
  t.match(await other.sender.send(batchOf(1), never), { kind: 'held', reason: /rule or stream/ });
});

t.test('4.1 a batch stays below a million bytes; a single larger event is made smaller', async (t) => {
  const { azure, sender, remarks } = await place(t);
  const { count, bytes } = sender.limits;
  const used = batchOf(count).events.reduce((sum, { json }) => sum + json.length, 0);
  const full = batchOf(count, () => ({ content: 'x'.repeat((bytes - used) / count - 14) }));
  t.strictSame(await sender.send(full, never), { kind: 'accepted' });
  t.ok(azure.requests.at(-1)!.body.length <= 1_000_000);
  t.match(
    await sender.send(
      batchOf(2, () => ({ content: 'x'.repeat(600_000) })),
      never,
    ),
    { kind: 'split' },
  );
  t.strictSame(
    await sender.send(
      batchOf(1, () => ({ content: 'x'.repeat(1_100_000) })),
      never,
    ),
    { kind: 'accepted' },
  );
  t.strictSame(azure.rows.at(-1)?.['export_truncated'], ['content']);
  t.ok(azure.requests.at(-1)!.body.length <= 1_000_000);
  t.strictSame(remarks, ['shrunk']);
});

t.test('4.1 each cloud has its own token service', async (t) => {
  const login = (endpoint: string, more: object = {}) => azureLogin({ endpoint, ...more } as AzureConfig);
  t.strictSame(login('https://a.westeurope-1.ingest.monitor.azure.com'), {
    authority: 'https://login.microsoftonline.com',
    scope: 'https://monitor.azure.com/.default',
  });
  t.equal(login('https://a.ingest.monitor.azure.us').authority, 'https://login.microsoftonline.us');
  t.equal(login('https://a.ingest.monitor.azure.cn/').scope, 'https://monitor.azure.cn/.default');
  t.equal(login('https://azure.us.example.com').scope, 'https://monitor.azure.com/.default');
  t.equal(login('https://a.ingest.monitor.azure.us', { authority: 'https://x' }).authority, 'https://x');
});
