import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { AwsClient } from 'aws4fetch';
import t, { type Test } from 'tap';
import type { S3Config } from '../../../src/rules/sinks/configs.js';
import { createSender, type SenderOptions } from '../../../src/rules/sinks/create-sender.js';
import { s3Place } from '../../../src/rules/sinks/s3-place.js';
import { ManualClock } from '../../support/manual-clock.js';
import { batchOf, never, quick, specOf } from '../../support/sinks/batches.js';
import { S3_KEY, s3Error, startFakeS3, startS3, type FakeS3Options } from '../../support/sinks/fake-s3.js';
import type { Fault } from '../../support/sinks/fake-server.js';

const base = { region: 'eu-central-1', access_key_id: S3_KEY.id, secret_access_key: S3_KEY.secret };

const senderTo = (t: Test, config: object, sending: Partial<SenderOptions> = {}) => {
  const sender = createSender(specOf('s3', { ...base, ...config }), { ...quick, ...sending });
  t.teardown(() => sender.close());
  return sender;
};

const fakeS3 = async (
  t: Test,
  config: object = {},
  options: FakeS3Options = {},
  sending: Partial<SenderOptions> = {},
) => {
  const s3 = await startFakeS3(options);
  t.teardown(() => s3.close());
  return { s3, sender: senderTo(t, { bucket: 'audit', endpoint: s3.url, ...config }, sending) };
};

t.test('issue 7: an S3 server takes the upload, and what can be read there is the batch', async (t) => {
  const server = await startS3(['audit', 'audit.with.dots']);
  t.teardown(() => server.close());
  const batch = batchOf(3);
  const sha8 = createHash('sha256')
    .update(batch.events.map(({ json }) => `${json}\n`).join(''))
    .digest('hex')
    .slice(0, 8);
  for (const bucket of ['audit', 'audit.with.dots']) {
    const sender = senderTo(t, {
      bucket,
      endpoint: server.url,
      prefix: "logs/it's (ours)!/".replace(/ /g, '_'),
    });
    t.strictSame(await sender.send(batch, never), { kind: 'accepted' });
    t.strictSame(await sender.send(batch, never), { kind: 'accepted' }, 'the same object once more');
  }
  const aws = new AwsClient({
    accessKeyId: S3_KEY.id,
    secretAccessKey: S3_KEY.secret,
    service: 's3',
    retries: 0,
  });
  const key = `logs/it's_(ours)!/org=org_1/dt=2031-01-31/hour=12/gw-1-1-3-${sha8}.ndjson.gz`;
  const response = await aws.fetch(`${server.url}/audit/${key}`, {
    headers: { 'accept-encoding': 'identity' },
  });
  t.equal(response.status, 200);
  t.equal(await response.text(), batch.events.map(({ json }) => `${json}\n`).join(''));
});

t.test(
  'issue 7: a wrong secret, an unknown key and a missing bucket say so, and recover when corrected',
  async (t) => {
    const server = await startS3(['audit']);
    t.teardown(() => server.close());
    const place = { bucket: 'audit', endpoint: server.url };
    for (const [config, reason] of [
      [{ ...place, secret_access_key: 'wrong-canary' }, /HTTP 403.*secret access key is wrong/],
      [{ ...place, access_key_id: 'unknown' }, /HTTP 403.*access key is unknown/],
      [{ ...place, bucket: 'missing' }, /HTTP 404.*bucket does not exist/],
    ] as const) {
      const outcome = await senderTo(t, config).send(batchOf(1), never);
      t.match(outcome, { kind: 'held', reason });
      t.notMatch(JSON.stringify(outcome), /canary/);
    }
    t.strictSame(await senderTo(t, place).send(batchOf(1), never), { kind: 'accepted' });
  },
);

t.test('issue 7: a clock that is an hour off is corrected by the store’s own, once', async (t) => {
  for (const offMs of [-3_600_000, 3_600_000, 86_400_000]) {
    const clock = new ManualClock();
    const { s3, sender } = await fakeS3(t, {}, { nowMs: () => clock.nowMs() + offMs }, { clock });
    t.strictSame(await sender.send(batchOf(1), never), { kind: 'accepted' });
    t.equal(s3.requests.length, 2);
    t.strictSame(await sender.send(batchOf(1), never), { kind: 'accepted' });
    t.equal(s3.requests.length, 3, 'it is remembered');
  }
});

t.test('issue 7: a skewed clock that no date corrects is told, and recovers', async (t) => {
  const server = await startS3(['audit']);
  t.teardown(() => server.close());
  const clock = new ManualClock(Date.now() - 3_600_000);
  const sender = senderTo(t, { bucket: 'audit', endpoint: server.url }, { clock });
  t.strictSame(await sender.send(batchOf(1), never), { kind: 'accepted' }, 'a real server gives its date');
  const { s3, sender: hopeless } = await fakeS3(t);
  s3.failAs(() => {
    const { body } = s3Error(403, 'RequestTimeTooSkewed');
    return { kind: 'status', status: 403, body: String(body), headers: { date: 'nonsense' } };
  });
  t.match(await hopeless.send(batchOf(1), never), { kind: 'held', reason: /clock/ });
  s3.failAs(null);
  t.strictSame(await hopeless.send(batchOf(1), never), { kind: 'accepted' });
});

t.test('4.1 a batch sent again has the same name and the same bytes', async (t) => {
  const { s3, sender } = await fakeS3(t);
  const batch = batchOf(50);
  s3.fail({ kind: 'vanish' });
  t.match(await sender.send(batch, never), { kind: 'retry' });
  const [[name, bytes] = ['', Buffer.alloc(0)]] = s3.objects;
  t.strictSame(await sender.send(batch, never), { kind: 'accepted' });
  t.equal(s3.objects.size, 1);
  t.ok(s3.objects.get(name)!.equals(bytes));
  const [request] = s3.requests;
  t.equal(request?.headers['content-md5'], createHash('md5').update(bytes).digest('base64'));
  t.equal(request?.headers['x-amz-content-sha256'], createHash('sha256').update(bytes).digest('hex'));
  t.equal(gunzipSync(bytes).toString().split('\n').length, 51);
  await sender.send(
    batchOf(50, () => ({ decision: 'refuse' })),
    never,
  );
  t.equal(s3.objects.size, 2, 'other content has another name');
});

t.test('4.1 what the answers of a store mean', async (t) => {
  const { s3, sender } = await fakeS3(t);
  const fault = (status: number, code: string, more = '', headers: Record<string, string> = {}): Fault => {
    const reply = s3Error(status, code, more, headers);
    return { kind: 'status', status, body: String(reply.body), headers };
  };
  for (const [given, kind, reason] of [
    [fault(503, 'SlowDown', '', { 'retry-after': '2' }), 'retry', /SlowDown/],
    [fault(500, 'InternalError'), 'retry', /InternalError/],
    [fault(400, 'RequestTimeout'), 'retry', /RequestTimeout/],
    [fault(400, 'BadDigest'), 'retry', /BadDigest/],
    [fault(409, 'OperationAborted'), 'retry', /OperationAborted/],
    [fault(400, 'EntityTooLarge'), 'split', /too large/],
    [fault(403, 'AccessDenied'), 'held', /access is denied/],
    [fault(400, 'ExpiredToken'), 'held', /expired/],
    [fault(400, 'SomethingNew'), 'held', /refuses the request \(HTTP 400\)/],
    [
      fault(301, 'PermanentRedirect', '', { 'x-amz-bucket-region': 'us-west-2' }),
      'held',
      /region; set config.region to us-west-2/,
    ],
    [fault(307, 'TemporaryRedirect', '', { location: 'https://x' }), 'held', /another region\./],
    [fault(400, 'AuthorizationHeaderMalformed', '<Region>ap-south-1</Region>'), 'held', /ap-south-1/],
    [fault(301, 'PermanentRedirect', '<Region>canary!</Region>'), 'held', /another region\./],
  ] as const) {
    s3.fail(given);
    t.match(await sender.send(batchOf(1), never), { kind, reason });
  }
});

t.test('4.1 what else is sent with an object is signed', async (t) => {
  const config = {
    session_token: 'sts',
    sse: 'aws:kms',
    sse_kms_key_id: 'key-1',
    storage_class: 'STANDARD_IA',
  };
  const { s3, sender } = await fakeS3(t, config);
  await sender.send(batchOf(1), never);
  const { headers } = s3.requests[0]!;
  for (const [name, value] of [
    ['x-amz-security-token', 'sts'],
    ['x-amz-server-side-encryption', 'aws:kms'],
    ['x-amz-server-side-encryption-aws-kms-key-id', 'key-1'],
    ['x-amz-storage-class', 'STANDARD_IA'],
  ] as const) {
    t.equal(headers[name], value);
    t.ok(headers.authorization?.includes(name));
  }
});

t.test('4.1 where the bucket stands in the address', async (t) => {
  const where = (config: object) => s3Place({ bucket: 'b-1', region: 'eu-west-1', ...config } as S3Config);
  t.strictSame(where({}), { address: 'https://b-1.s3.eu-west-1.amazonaws.com', path: '' });
  t.strictSame(where({ region: 'cn-north-1' }).address, 'https://b-1.s3.cn-north-1.amazonaws.com.cn');
  t.strictSame(where({ bucket: 'b.1' }), { address: 'https://s3.eu-west-1.amazonaws.com', path: '/b.1' });
  t.strictSame(where({ force_path_style: true }), {
    address: 'https://s3.eu-west-1.amazonaws.com',
    path: '/b-1',
  });
  t.strictSame(where({ endpoint: 'https://minio.example.com:9000/s3' }), {
    address: 'https://minio.example.com:9000/s3',
    path: '/b-1',
  });
  t.strictSame(where({ endpoint: 'https://store.example.com', force_path_style: false }), {
    address: 'https://b-1.store.example.com',
    path: '',
  });
  t.equal(where({ endpoint: 'https://8.8.8.8', force_path_style: false }).path, '/b-1');
});
