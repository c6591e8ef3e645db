import * as v from 'valibot';

/** One pattern each: JSON Schema knows no second. */
const shaped = (max: number, shape: RegExp, message: string) =>
  v.pipe(
    v.string(),
    v.minLength(1, `must have 1 to ${max} characters.`),
    v.maxLength(max, `must have 1 to ${max} characters.`),
    v.regex(shape, message),
  );

const line = (max: number) => shaped(max, /^[^\x00-\x1f\x7f]*$/, 'must be one line of text.');

/** What goes into a header as it is. */
const headerText = shaped(4_096, /^[\x21-\x7e]+$/, 'must be visible ASCII characters without spaces.');
const endpoint = line(2_048);
const caPem = v.pipe(
  v.string(),
  v.maxLength(65_536, 'must have at most 65536 characters.'),
  v.regex(/-----BEGIN CERTIFICATE-----/, 'must be certificates in PEM.'),
);

export const SplunkConfig = v.strictObject({
  endpoint,
  token: headerText,
  index: v.optional(line(255)),
  source: v.optional(line(255), 'sluice'),
  sourcetype: v.optional(line(255), 'sluice:audit'),
  ack: v.optional(v.picklist(['auto', 'off', 'required']), 'auto'),
  gzip: v.optional(v.boolean(), true),
  ca_pem: v.optional(caPem),
});
export type SplunkConfig = v.InferOutput<typeof SplunkConfig>;

const TAGS_BOUND = 50;

export const DatadogConfig = v.strictObject({
  site: v.optional(
    v.picklist([
      'datadoghq.com',
      'us3.datadoghq.com',
      'us5.datadoghq.com',
      'datadoghq.eu',
      'ap1.datadoghq.com',
      'ap2.datadoghq.com',
      'ddog-gov.com',
    ]),
  ),
  endpoint: v.optional(endpoint),
  api_key: headerText,
  service: v.optional(line(100), 'sluice'),
  ddsource: v.optional(line(100), 'sluice'),
  tags: v.optional(
    v.pipe(
      v.array(
        shaped(100, /^[^,\s\x00-\x1f\x7f]+$/, 'must be a tag such as env:prod, without commas and spaces.'),
      ),
      v.maxLength(TAGS_BOUND, `must have at most ${TAGS_BOUND} items.`),
    ),
    [],
  ),
  ca_pem: v.optional(caPem),
});
export type DatadogConfig = v.InferOutput<typeof DatadogConfig>;

const streamPart = shaped(100, /^[a-z0-9][a-z0-9_.]*$/, 'must be lower-case letters, digits, "_" and ".".');

export const ElasticConfig = v.strictObject({
  endpoint,
  index: v.optional(
    shaped(
      255,
      /^[a-z0-9][a-z0-9._-]*$/,
      'must be the name of an index: lower-case letters, digits, ".", "_" and "-".',
    ),
  ),
  dataset: v.optional(streamPart),
  namespace: v.optional(streamPart),
  api_key: v.optional(headerText),
  username: v.optional(shaped(255, /^[^:\x00-\x1f\x7f]+$/, 'must be one line of text without a colon.')),
  password: v.optional(line(1_024)),
  token: v.optional(headerText),
  pipeline: v.optional(line(255)),
  ca_pem: v.optional(caPem),
});
export type ElasticConfig = v.InferOutput<typeof ElasticConfig>;

export const S3Config = v.strictObject({
  bucket: shaped(
    63,
    /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
    'must be the name of a bucket: 3 to 63 lower-case letters, digits, "." and "-".',
  ),
  region: shaped(40, /^[a-z0-9-]+$/, 'must be a region such as eu-central-1.'),
  prefix: v.optional(
    shaped(
      512,
      /^[A-Za-z0-9!_.*'()=-]+(\/[A-Za-z0-9!_.*'()=-]+)*\/?$/,
      'must be folders such as audit/sluice.',
    ),
  ),
  endpoint: v.optional(endpoint),
  force_path_style: v.optional(v.boolean()),
  access_key_id: shaped(128, /^[\w.:@+=-]+$/, 'must be the id of an access key.'),
  secret_access_key: line(1_024),
  session_token: v.optional(headerText),
  sse: v.optional(v.picklist(['AES256', 'aws:kms'])),
  sse_kms_key_id: v.optional(shaped(2_048, /^[\x21-\x7e]+$/, 'must be the id of a key.')),
  storage_class: v.optional(shaped(40, /^[A-Z_]+$/, 'must be a storage class such as STANDARD_IA.')),
  format: v.optional(v.literal('jsonl'), 'jsonl'),
  ca_pem: v.optional(caPem),
});
export type S3Config = v.InferOutput<typeof S3Config>;

export const AzureConfig = v.strictObject({
  endpoint,
  dcr_immutable_id: shaped(
    68,
    /^dcr-[0-9a-zA-Z]+$/,
    'must be the immutable id of a data collection rule, dcr-...',
  ),
  stream_name: shaped(128, /^[A-Za-z0-9_-]+$/, 'must be the name of a stream such as Custom-Sluice_CL.'),
  tenant_id: shaped(255, /^[A-Za-z0-9][A-Za-z0-9.-]*$/, 'must be the id or the domain of a tenant.'),
  client_id: shaped(64, /^[A-Za-z0-9-]+$/, 'must be the id of an application.'),
  client_secret: line(1_024),
  authority: v.optional(endpoint),
  scope: v.optional(shaped(255, /^https:\/\/[\x21-\x7e]+\/\.default$/, 'must end with /.default.')),
  ca_pem: v.optional(caPem),
});
export type AzureConfig = v.InferOutput<typeof AzureConfig>;
