// The vendors' own clients against the destinations that the suite plays: what these accept, the fakes must accept, and
// what a fake refuses must read as the vendor's own refusal.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { createDefaultHttpClient } from '@azure/core-rest-pipeline';
import { LogsIngestionClient } from '@azure/monitor-ingestion';
import { Client, errors } from '@elastic/elasticsearch';
import { createSender } from '../../../src/rules/sinks/create-sender.js';
import { batchOf, never, quick, specOf } from '../../support/sinks/batches.js';
import { startFakeAzure } from '../../support/sinks/fake-azure.js';
import { startFakeElastic } from '../../support/sinks/fake-elastic.js';
import { S3_KEY, startFakeS3, startS3 } from '../../support/sinks/fake-s3.js';

const servers = [];
const keep = async (starting) => {
  const server = await starting;
  servers.push(server);
  return server;
};
after(() => Promise.all(servers.map((server) => server.close())));

describe('Elasticsearch: the bulk helper', () => {
  const documents = Array.from({ length: 7 }, (_, n) => ({ event_id: `evt-${n}`, seq: n }));
  const bulk = async (node, more = {}) => {
    const dropped = [];
    const client = new Client({ node, auth: { apiKey: 'right' }, maxRetries: 0, ...more });
    const stats = await client.helpers.bulk({
      datasource: documents,
      onDocument: ({ event_id }) => ({ create: { _index: 'logs-sluice.audit-default', _id: event_id } }),
      onDrop: (drop) => dropped.push(drop),
      wait: 1,
      retries: 3,
    });
    await client.close();
    return { stats, dropped };
  };

  test('writes into a data stream, compressed or not, and finds what is there already', async () => {
    for (const compression of [false, true]) {
      const fake = await keep(startFakeElastic({ authorization: 'ApiKey right' }));
      const first = await bulk(fake.url, { compression });
      assert.equal(first.stats.successful, 7);
      assert.deepEqual(
        fake.documents().map(({ event_id }) => event_id),
        documents.map(({ event_id }) => event_id),
      );
      const second = await bulk(fake.url, { compression });
      assert.equal(second.stats.successful, 0);
      assert.deepEqual([...new Set(second.dropped.map(({ status }) => status))], [409]);
      assert.equal(second.dropped[0].error.type, 'version_conflict_engine_exception');
    }
  });

  test('tries an event again that was refused for haste, and drops one that does not fit', async () => {
    const fake = await keep(startFakeElastic({ authorization: 'ApiKey right' }));
    let hurried = 0;
    fake.failItems(({ seq }) => {
      if (seq === 2) return { status: 400, type: 'document_parsing_exception', reason: 'no' };
      return seq === 4 && hurried++ === 0
        ? { status: 429, type: 'es_rejected_execution_exception', reason: 'queue' }
        : null;
    });
    const { stats, dropped } = await bulk(fake.url);
    assert.deepEqual([stats.successful, stats.retry > 0, stats.failed], [6, true, 1]);
    assert.deepEqual(
      dropped.map(({ status, document }) => [status, document.seq]),
      [[400, 2]],
    );
  });

  test('is told in its own terms that the key is wrong', async () => {
    const fake = await keep(startFakeElastic({ authorization: 'ApiKey other' }));
    await assert.rejects(
      bulk(fake.url),
      (error) => error instanceof errors.ResponseError && error.statusCode === 401,
    );
  });
});

describe('Azure Monitor: the ingestion client', () => {
  const place = { tenantId: 'tenant-1', clientId: 'client-1', dcr: 'dcr-00aa', stream: 'Custom-Sluice_CL' };
  const start = () => keep(startFakeAzure({ ...place, clientSecret: 'right' }));
  const http = createDefaultHttpClient();
  /** The client sends tokens over https alone, so only the last step is plain. */
  const plain = {
    sendRequest: (request) => {
      request.url = request.url.replace('https://', 'http://');
      request.allowInsecureConnection = true;
      return http.sendRequest(request);
    },
  };
  const credential = (url, secret) => ({
    getToken: async (scope) => {
      const body = new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: place.clientId,
        client_secret: secret,
        scope: String(scope),
      });
      const reply = await fetch(`${url}/${place.tenantId}/oauth2/v2.0/token`, { method: 'POST', body });
      const { access_token: token, expires_in: seconds, error } = await reply.json();
      if (!reply.ok) throw new Error(error);
      return { token, expiresOnTimestamp: Date.now() + seconds * 1_000 };
    },
  });
  const clientOf = ({ url }, secret = 'right') =>
    new LogsIngestionClient(url.replace('http://', 'https://'), credential(url, secret), {
      httpClient: plain,
      retryOptions: { maxRetries: 0 },
    });
  const logs = Array.from({ length: 5 }, (_, seq) => ({ TimeGenerated: '2031-01-31T12:00:00Z', seq }));

  test('uploads rows', async () => {
    const fake = await start();
    await clientOf(fake).upload(place.dcr, place.stream, logs);
    assert.deepEqual(
      fake.rows.map(({ seq }) => seq),
      [0, 1, 2, 3, 4],
    );
  });

  test('cuts what is too large for one call, and every part is taken', async () => {
    const fake = await start();
    const large = logs.map((row) => ({ ...row, text: 'x'.repeat(400_000) }));
    await clientOf(fake).upload(place.dcr, place.stream, large, { maxConcurrency: 1 });
    assert.equal(fake.rows.length, 5);
    assert.ok(fake.requests.filter(({ path }) => path.startsWith('/dataCollectionRules')).length > 1);
  });

  test('is told of a wrong secret, a wrong stream and a missing role', async () => {
    const fake = await start();
    const codes = async (uploading) => {
      const error = await uploading.then(
        () => assert.fail('it was taken'),
        (thrown) => thrown,
      );
      return (error.errors ?? [error]).map(({ cause = error }) => cause.statusCode ?? cause.message);
    };
    assert.deepEqual(await codes(clientOf(fake, 'wrong').upload(place.dcr, place.stream, logs)), [
      'invalid_client',
    ]);
    assert.deepEqual(await codes(clientOf(fake).upload(place.dcr, 'Custom-Nobody_CL', logs)), [404]);
    fake.setRole(false);
    assert.deepEqual(await codes(clientOf(fake).upload(place.dcr, place.stream, logs)), [403]);
  });
});

describe('S3: the SDK', () => {
  const clientOf = (endpoint, more = {}) =>
    new S3Client({
      endpoint,
      region: 'eu-central-1',
      forcePathStyle: true,
      maxAttempts: 1,
      credentials: { accessKeyId: S3_KEY.id, secretAccessKey: S3_KEY.secret },
      ...more,
    });
  /** What the server in the process adds to the name of a file that holds an object. */
  const OBJECT = /\._S3rver_object$/;
  const object = { Bucket: 'audit', Key: 'a/b.ndjson', Body: '{}\n' };
  const put = (endpoint, more, given = object) => clientOf(endpoint, more).send(new PutObjectCommand(given));

  test('is understood by the server in the process, which knows keys, clocks and buckets', async () => {
    const { url } = await keep(startS3(['audit']));
    await put(url);
    const wrong = { accessKeyId: S3_KEY.id, secretAccessKey: 'wrong' };
    await assert.rejects(put(url, { credentials: wrong }), { name: 'SignatureDoesNotMatch' });
    await assert.rejects(put(url, { systemClockOffset: -3_600_000 }), { name: 'RequestTimeTooSkewed' });
    await assert.rejects(put(url, {}, { ...object, Bucket: 'nobody' }), { name: 'NoSuchBucket' });
  });

  test('is understood by the fake, and corrects its clock by it', async () => {
    const fake = await keep(startFakeS3({ nowMs: () => Date.now() + 3_600_000 }));
    await assert.rejects(put(fake.url), { name: 'RequestTimeTooSkewed' });
    await put(fake.url, { maxAttempts: 2 });
    assert.deepEqual([...fake.objects.keys()], ['/audit/a/b.ndjson?x-id=PutObject']);
  });

  test('reads back what the gateway wrote', async () => {
    const { url, folder } = await keep(startS3(['audit']));
    const batch = batchOf(25);
    const config = {
      bucket: 'audit',
      region: 'eu-central-1',
      endpoint: url,
      prefix: 'audit/gateway',
      access_key_id: S3_KEY.id,
      secret_access_key: S3_KEY.secret,
    };
    const sender = createSender(specOf('s3', config), quick);
    for (let n = 0; n < 2; n++) assert.deepEqual(await sender.send(batch, never), { kind: 'accepted' });
    await sender.close();
    // Lists of this server have a signature of their own, so the name is read from its folder.
    const found = readdirSync(join(folder, 'audit'), { recursive: true }).filter((name) => OBJECT.test(name));
    assert.equal(found.length, 1, 'sent again it has the same name');
    const Key = found[0].replace(OBJECT, '');
    const read = await clientOf(url).send(new GetObjectCommand({ Bucket: 'audit', Key }));
    assert.equal(read.ContentEncoding, 'gzip');
    const text = gunzipSync(await read.Body.transformToByteArray()).toString();
    assert.deepEqual(
      text.trimEnd().split('\n'),
      batch.events.map(({ json }) => json),
    );
  });
});
