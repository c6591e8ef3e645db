import { X509Certificate } from 'node:crypto';
import type * as v from 'valibot';
import { azureAddresses } from './azure-clouds.js';
import { AzureConfig, DatadogConfig, ElasticConfig, S3Config, SplunkConfig } from './configs.js';
import { s3Place } from './s3-place.js';

export const sinkTypes = ['splunk_hec', 'datadog_logs', 'elastic', 's3', 'azure_monitor'] as const;
export type SinkType = (typeof sinkTypes)[number];

/** A field of a configuration and what is wrong with it. */
export interface ConfigFault {
  readonly field: string;
  readonly message: string;
}

interface Kind<TSchema extends v.GenericSchema> {
  readonly schema: TSchema;
  /** Written but never read back. */
  readonly secrets: readonly string[];
  /** Who gets the secrets and the events: another value needs the secrets again. */
  readonly destination: readonly string[];
  /** Every address it will connect to, by the field that says so. */
  readonly addresses: (config: v.InferOutput<TSchema>) => Readonly<Record<string, string>>;
  /** What no single field can tell. */
  readonly clash: (config: v.InferOutput<TSchema>) => ConfigFault | null;
}

const kind = <TSchema extends v.GenericSchema>(given: Kind<TSchema>): Kind<TSchema> => given;
const noClash = (): null => null;
const fault = (field: string, message: string): ConfigFault => ({ field, message });

export const datadogAddress = ({ site, endpoint }: DatadogConfig): string =>
  endpoint ?? `https://http-intake.logs.${site ?? ''}`;

const splunkClash = ({ endpoint }: SplunkConfig): ConfigFault | null =>
  /\/services\/collector/.test(endpoint)
    ? fault('endpoint', 'must be the address alone, without /services/collector.')
    : null;

const datadogClash = ({ site, endpoint }: DatadogConfig): ConfigFault | null => {
  if (site !== undefined && endpoint !== undefined)
    return fault('endpoint', 'must not stand beside site: choose one.');
  return site === undefined && endpoint === undefined
    ? fault('site', 'is required, or else endpoint.')
    : null;
};

const elasticClash = (config: ElasticConfig): ConfigFault | null => {
  const { index, dataset, namespace, api_key, username, password, token } = config;
  if (index !== undefined && (dataset ?? namespace) !== undefined)
    return fault('index', 'must not stand beside dataset or namespace: choose one.');
  if ((username === undefined) !== (password === undefined))
    return fault(username === undefined ? 'username' : 'password', 'is required: the two go together.');
  const ways = [api_key, username, token].filter((way) => way !== undefined).length;
  if (ways === 0) return fault('api_key', 'is required, or else username and password, or token.');
  return ways > 1 ? fault('api_key', 'must stand alone: choose one way to authenticate.') : null;
};

const s3Clash = ({ prefix = '', sse, sse_kms_key_id }: S3Config): ConfigFault | null => {
  if (/(^|\/)\.+(\/|$)/.test(prefix)) return fault('prefix', 'must not contain a folder of dots alone.');
  return sse_kms_key_id !== undefined && sse !== 'aws:kms'
    ? fault('sse_kms_key_id', 'needs sse to be aws:kms.')
    : null;
};

/** Everything that differs between the types, apart from how they send. */
export const kinds = {
  splunk_hec: kind({
    schema: SplunkConfig,
    secrets: ['token'],
    destination: ['endpoint'],
    addresses: ({ endpoint }) => ({ endpoint }),
    clash: splunkClash,
  }),
  datadog_logs: kind({
    schema: DatadogConfig,
    secrets: ['api_key'],
    destination: ['site', 'endpoint'],
    addresses: (config) => ({ endpoint: datadogAddress(config) }),
    clash: datadogClash,
  }),
  elastic: kind({
    schema: ElasticConfig,
    secrets: ['api_key', 'password', 'token'],
    destination: ['endpoint'],
    addresses: ({ endpoint }) => ({ endpoint }),
    clash: elasticClash,
  }),
  s3: kind({
    schema: S3Config,
    secrets: ['secret_access_key', 'session_token'],
    destination: ['endpoint', 'bucket', 'region', 'force_path_style'],
    addresses: (config) => ({ endpoint: s3Place(config).address }),
    clash: s3Clash,
  }),
  azure_monitor: kind({
    schema: AzureConfig,
    secrets: ['client_secret'],
    destination: ['endpoint', 'authority', 'tenant_id', 'scope'],
    addresses: azureAddresses,
    clash: noClash,
  }),
} as const;

/** The same for every type: one call signature instead of five. */
export const kindOf = (type: SinkType): Kind<v.GenericSchema<unknown, object>> =>
  kinds[type] as unknown as Kind<v.GenericSchema<unknown, object>>;

export const isSinkType = (type: string): type is SinkType => Object.hasOwn(kinds, type);

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Whether a text is certificates, each of which can be read. */
export const holdsCertificates = (pem: string): boolean => {
  const found = pem.match(PEM) ?? [];
  try {
    for (const each of found) new X509Certificate(each);
  } catch {
    return false;
  }
  return found.length > 0;
};
