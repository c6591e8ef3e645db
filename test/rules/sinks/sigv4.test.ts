import { AwsV4Signer } from 'aws4fetch';
import fc from 'fast-check';
import t from 'tap';
import { amzDateOf, encodePath, sha256, signS3 } from '../../../src/rules/sinks/senders/sigv4.js';

const key = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
};

/** What another implementation signs for the same request. */
const oracle = async (
  path: string,
  headers: Record<string, string>,
  amzDate: string,
): Promise<string | null> => {
  const { host, ...others } = headers;
  const signer = new AwsV4Signer({
    method: 'PUT',
    url: `https://${host ?? ''}${path}`,
    headers: others,
    service: 's3',
    region: key.region,
    accessKeyId: key.accessKeyId,
    secretAccessKey: key.secretAccessKey,
    datetime: amzDate,
    allHeaders: true,
  });
  return (await signer.sign()).headers.get('authorization');
};

t.test('4.1 our signatures are those of another implementation', async (t) => {
  const character = fc.constantFrom(..."abcXYZ019-_.~ !'()*=+&@:,;%äß日😀".split(/(?=[^])/u));
  const segment = fc
    .string({ unit: character, minLength: 1, maxLength: 12 })
    .filter((text) => !/^\.+$/.test(text));
  await fc.assert(
    fc.asyncProperty(
      fc.array(segment, { minLength: 1, maxLength: 4 }),
      fc.date({ min: new Date('2020-01-01'), max: new Date('2040-01-01'), noInvalidDate: true }),
      fc.string({ unit: fc.constantFrom('a', 'B', '7', ' ', '/', '=') }).map((text) => `v${text}v`),
      async (segments, date, token) => {
        const amzDate = amzDateOf(date.getTime());
        const bodyHash = sha256(token);
        const path = encodePath(`/${segments.join('/')}`);
        const headers = {
          host: 'bucket.s3.us-east-1.amazonaws.com',
          'content-type': 'application/x-ndjson',
          'content-encoding': 'gzip',
          'content-md5': 'XrY7u+Ae7tCTyyK7j1rNww==',
          'x-amz-content-sha256': bodyHash,
          'x-amz-date': amzDate,
          'x-amz-security-token': token,
        };
        const ours = signS3({ method: 'PUT', path, headers, bodyHash }, key, amzDate);
        t.equal(ours, await oracle(path, headers, amzDate), path);
      },
    ),
    { numRuns: 150 },
  );
});

t.test('4.1 a path is encoded as S3 signs it', async (t) => {
  t.equal(encodePath("/b/org=1/a b'(c)*!~.gz"), '/b/org%3D1/a%20b%27%28c%29%2A%21~.gz');
  t.equal(amzDateOf(Date.UTC(2031, 0, 31, 12, 4, 5, 678)), '20310131T120405Z');
});
