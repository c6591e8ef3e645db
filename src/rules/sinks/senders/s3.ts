import { createHash } from 'node:crypto';
import type { Batch, Outcome, Sender } from '../../../core/sink.js';
import type { OutboundReply } from '../../../io/outbound/client.js';
import type { S3Config } from '../configs.js';
import { gzipBytes } from '../gzip.js';
import { accepted, held, outcomeOfStatus, readRetryAfter, retry, split } from '../outcomes.js';
import { s3Place } from '../s3-place.js';
import type { SenderParts } from './parts.js';
import { amzDateOf, encodePath, sha256, signS3 } from './sigv4.js';

/** Few large objects: an object costs the same whatever is in it. */
const limits = { count: 20_000, bytes: 5_000_000, ageMs: 60_000 };

const transient: ReadonlySet<string> = new Set([
  'BadDigest',
  'InternalError',
  'OperationAborted',
  'RequestTimeout',
  'ServiceUnavailable',
  'SlowDown',
]);
const refusals: Readonly<Record<string, string>> = {
  AccessDenied: 'access is denied',
  AuthorizationHeaderMalformed: 'the bucket is in another region',
  ExpiredToken: 'the session token has expired',
  InvalidAccessKeyId: 'the access key is unknown',
  InvalidBucketName: 'the name of the bucket is invalid',
  InvalidRegion: 'the region is unknown',
  InvalidToken: 'the session token is invalid',
  KMS_DisabledException: 'the encryption key is disabled',
  NoSuchBucket: 'the bucket does not exist',
  PermanentRedirect: 'the bucket is in another region',
  RequestTimeTooSkewed: 'the clock of this machine is wrong',
  SignatureDoesNotMatch: 'the secret access key is wrong',
  TemporaryRedirect: 'the bucket is in another region',
};

/** S3 and what speaks like it: NDJSON in gzip, one object per batch, under a name that a re-send gives again. */
export const createS3Sender = (settings: S3Config, parts: SenderParts): Sender => {
  const place = s3Place(settings);
  const client = parts.connect(place.address, settings.ca_pem);
  const host = new URL(client.destination.origin).host;
  const key = {
    accessKeyId: settings.access_key_id,
    secretAccessKey: settings.secret_access_key,
    region: settings.region,
  };
  const { session_token, sse, sse_kms_key_id, storage_class } = settings;
  const fixed = {
    host,
    'content-type': 'application/x-ndjson',
    'content-encoding': 'gzip',
    ...(session_token !== undefined && { 'x-amz-security-token': session_token }),
    ...(sse !== undefined && { 'x-amz-server-side-encryption': sse }),
    ...(sse_kms_key_id !== undefined && { 'x-amz-server-side-encryption-aws-kms-key-id': sse_kms_key_id }),
    ...(storage_class !== undefined && { 'x-amz-storage-class': storage_class }),
  };
  const folder = settings.prefix === undefined ? '' : `${settings.prefix.replace(/\/$/, '')}/`;
  /** How far the store's clock is ahead of ours, once it complained. */
  let aheadMs = 0;

  const put = (path: string, body: Buffer, bodyHash: string, signal: AbortSignal): Promise<OutboundReply> => {
    const amzDate = amzDateOf(parts.clock.nowMs() + aheadMs);
    const headers = {
      ...fixed,
      'content-md5': createHash('md5').update(body).digest('base64'),
      'x-amz-content-sha256': bodyHash,
      'x-amz-date': amzDate,
    };
    const signedPath = `${client.destination.basePath}${path}`;
    const authorization = signS3({ method: 'PUT', path: signedPath, headers, bodyHash }, key, amzDate);
    return client.send({ method: 'PUT', path, headers: { ...headers, authorization }, body }, signal);
  };

  return {
    limits,
    close: () => client.close(),
    send: async (batch, signal) => {
      const lines = Buffer.from(`${batch.events.map(({ json }) => json).join('\n')}\n`);
      const body = await gzipBytes(lines);
      const path = encodePath(`${place.path}/${folder}${nameOf(batch, lines)}`);
      const bodyHash = sha256(body);
      let reply = await put(path, body, bodyHash, signal);
      const theirMs = Date.parse(reply.headers.get('date') ?? '');
      if (codeOf(reply) === 'RequestTimeTooSkewed' && !Number.isNaN(theirMs)) {
        aheadMs = theirMs - parts.clock.nowMs();
        reply = await put(path, body, bodyHash, signal);
      }
      return judge(reply, parts.clock.nowMs());
    },
  };
};

/** Of the content before compression: another release of the compressor keeps the name. */
const nameOf = (batch: Batch, lines: Buffer): string => {
  const { organizationId, instanceId, firstSeq, lastSeq, createdAt } = batch;
  const file = `${instanceId}-${firstSeq}-${lastSeq}-${sha256(lines).slice(0, 8)}.ndjson.gz`;
  return `org=${organizationId}/dt=${createdAt.slice(0, 10)}/hour=${createdAt.slice(11, 13)}/${file}`;
};

const codeOf = ({ body }: OutboundReply): string =>
  /<Code>([A-Za-z_]{1,64})<\/Code>/.exec(body.toString('latin1'))?.[1] ?? '';

const judge = (reply: OutboundReply, nowMs: number): Outcome => {
  const { status } = reply;
  if (status >= 200 && status < 300) return accepted;
  const code = codeOf(reply);
  if (transient.has(code))
    return retry(`The store asks for another try (HTTP ${status}, ${code}).`, readRetryAfter(reply, nowMs));
  if (code === 'EntityTooLarge') return split(`The store finds the object too large (HTTP ${status}).`);
  const isElsewhere = status === 301 || status === 307 || code === 'AuthorizationHeaderMalformed';
  const meaning = isElsewhere
    ? 'the bucket is in another region'
    : Object.hasOwn(refusals, code)
      ? refusals[code]
      : undefined;
  if (meaning !== undefined)
    return held(`The store refuses (HTTP ${status}): ${meaning}${isElsewhere ? regionHint(reply) : ''}.`);
  const outcome = outcomeOfStatus(reply, nowMs);
  // An object is opaque to the store: no event in it can be at fault.
  return outcome.kind === 'poison' ? held(`The store refuses the request (HTTP ${status}).`) : outcome;
};

/** Where the bucket is, if the store says so. */
const regionHint = ({ headers, body }: OutboundReply): string => {
  const told =
    headers.get('x-amz-bucket-region') ?? /<Region>([^<]*)<\/Region>/.exec(body.toString('latin1'))?.[1];
  return told !== undefined && /^[a-z]{2}(-[a-z]{2,12}){1,3}-\d{1,2}$/.test(told)
    ? `; set config.region to ${told}`
    : '';
};
