import { AwsClient } from 'aws4fetch';
import t from 'tap';
import { createSender, type SenderOptions } from '../../../src/rules/sinks/create-sender.js';
import { ManualClock } from '../../support/manual-clock.js';
import { batchOf, loopback, never, specOf } from '../../support/sinks/batches.js';
import { provideSwift, startSwift } from '../../support/sinks/swift.js';

t.setTimeout(600_000);
const missing = await provideSwift();

t.test('issue 7: a real S3 store can be had', async (t) => {
  t.equal(missing, null, `This test needs OpenStack Swift. Run: ${missing ?? ''}`);
});

if (missing === null)
  t.test(
    'issue 7: OpenStack Swift takes the uploads and tells what is wrong',
    { timeout: 300_000 },
    async (t) => {
      const swift = await startSwift();
      t.teardown(() => swift.stop());
      const { accessKeyId, secretAccessKey } = swift;
      const aws = new AwsClient({
        accessKeyId,
        secretAccessKey,
        service: 's3',
        region: 'eu-central-1',
        retries: 0,
      });
      const make = (bucket: string) => aws.fetch(`${swift.url}/${bucket}`, { method: 'PUT' });
      const base = {
        bucket: 'audit',
        region: 'eu-central-1',
        endpoint: swift.url,
        prefix: "sluice/it's_(ours)",
        access_key_id: accessKeyId,
        secret_access_key: secretAccessKey,
      };
      const send = async (config: object, options: Partial<SenderOptions> = {}, batch = batchOf(1_000)) => {
        const sender = createSender(specOf('s3', { ...base, ...config }), { rules: loopback, ...options });
        try {
          return await sender.send(batch, never);
        } finally {
          await sender.close();
        }
      };

      t.match(await send({}), { kind: 'held', reason: /bucket does not exist/ });
      t.equal((await make('audit')).status, 200);
      t.strictSame(await send({}), { kind: 'accepted' }, 'it recovers once the bucket is there');
      t.strictSame(await send({}), { kind: 'accepted' }, 'the same object once more');

      const listed = await (await aws.fetch(`${swift.url}/audit?list-type=2`)).text();
      const keys = [...listed.matchAll(/<Key>([^<]+)<\/Key>/g)].map(([, key]) =>
        key!.replace(/&#39;|&apos;/g, "'"),
      );
      t.equal(keys.length, 1);
      t.match(
        keys[0],
        /^sluice\/it's_\(ours\)\/org=org_1\/dt=2031-01-31\/hour=12\/gw-1-1-1000-[0-9a-f]{8}\.ndjson\.gz$/,
      );
      const path = keys[0]!.split('/').map(encodeURIComponent).join('/');
      const read = await aws.fetch(`${swift.url}/audit/${path}`);
      t.equal(
        await read.text(),
        batchOf(1_000)
          .events.map(({ json }) => `${json}\n`)
          .join(''),
      );

      t.match(await send({ secret_access_key: 'wrong' }), {
        kind: 'held',
        reason: /secret access key is wrong/,
      });
      t.match(await send({ access_key_id: 'test:nobody' }), { kind: 'held', reason: /HTTP 403/ });
      for (const offMs of [-7_200_000, 7_200_000])
        t.strictSame(
          await send({}, { clock: new ManualClock(Date.now() + offMs) }),
          { kind: 'accepted' },
          `a clock ${offMs} ms off is corrected`,
        );
    },
  );
