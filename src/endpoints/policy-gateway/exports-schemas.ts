import * as v from 'valibot';
import {
  AzureConfig,
  DatadogConfig,
  ElasticConfig,
  S3Config,
  SplunkConfig,
} from '../../rules/sinks/configs.js';
import { sinkTypes } from '../../rules/sinks/kinds.js';
import { deletionOf, id, listOf } from '../administration/describe.js';
import { text } from '../administration/parse.js';

const type = v.picklist(sinkTypes);
const label = text(1, 80);
const fields = v.record(v.string(), v.unknown());

/** Fields as they were sent: valibot itself takes an array for a record, and drops `constructor` without a word. */
const sentFields: typeof fields = {
  ...fields,
  '~run': (dataset, config) => {
    const { value } = dataset;
    if (Array.isArray(value)) return fields['~run']({ typed: false, value: 'array' }, config);
    return typeof value === 'object' && value !== null
      ? { typed: true, value: { ...value } }
      : fields['~run'](dataset, config);
  },
};

/** `config` is read field by field afterwards, so that what is wrong can be named. */
export const NewExport = v.strictObject({ type, label, enabled: v.nullish(v.boolean()), config: sentFields });

/** Seed 4.9: the same four fields; each may stay away (D27). */
export const ExportUpdate = v.pipe(
  v.strictObject({
    type: v.nullish(type),
    label: v.nullish(label),
    enabled: v.nullish(v.boolean()),
    config: v.nullish(sentFields),
  }),
  v.title('ExportUpdate'),
);

const newOf = <TType extends string, TConfig extends v.GenericSchema>(
  name: TType,
  title: string,
  config: TConfig,
) =>
  v.strictObject({
    type: v.literal(name),
    label,
    enabled: v.nullish(v.boolean()),
    config: v.pipe(config, v.title(title)),
  });

/** How the OpenAPI document shows `NewExport`: with the configuration of each type. */
export const NewExportShown = v.pipe(
  v.variant('type', [
    newOf('splunk_hec', 'SplunkHecConfig', SplunkConfig),
    newOf('datadog_logs', 'DatadogLogsConfig', DatadogConfig),
    newOf('elastic', 'ElasticConfig', ElasticConfig),
    newOf('s3', 'S3Config', S3Config),
    newOf('azure_monitor', 'AzureMonitorConfig', AzureConfig),
  ]),
  v.title('NewExport'),
);

const timestamp = v.pipe(v.string(), v.isoTimestamp());

const Export = v.pipe(
  v.strictObject({
    id,
    type,
    label,
    enabled: v.boolean(),
    config: v.pipe(fields, v.description('As it was sent; secrets are shown as `***`.')),
    created_at: timestamp,
    updated_at: timestamp,
    last_success_at: v.nullable(timestamp),
    last_error_at: v.nullable(timestamp),
    last_error: v.nullable(v.string()),
  }),
  v.title('Export'),
);

export const ExportAnswer = v.pipe(v.strictObject({ export: Export }), v.title('ExportAnswer'));
export const ExportList = listOf('ExportList', Export);
export const DeletedExport = deletionOf('DeletedExport', 'policy_gateway.export.deleted');
export const ExportTrial = v.pipe(
  v.strictObject({
    ok: v.boolean(),
    reason: v.nullable(v.string()),
    latency_ms: v.pipe(v.number(), v.integer(), v.minValue(0)),
  }),
  v.title('ExportTrial'),
);
