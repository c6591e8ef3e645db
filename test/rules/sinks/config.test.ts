import t from 'tap';
import { GatewayError } from '../../../src/core/errors.js';
import { checkConfig } from '../../../src/rules/sinks/check-config.js';
import type { SinkType } from '../../../src/rules/sinks/kinds.js';
import { createAuthority } from '../../io/upstream/certificate.js';

const rules = { allowInsecure: false, allowPrivateHosts: [] };

const good = {
  splunk_hec: { endpoint: 'https://splunk.example.com:8088', token: 'tkn' },
  datadog_logs: { site: 'datadoghq.eu', api_key: 'k' },
  elastic: { endpoint: 'https://es.example.com:9200', api_key: 'k' },
  s3: { bucket: 'audit', region: 'eu-west-1', access_key_id: 'AKID', secret_access_key: 's/+=' },
  azure_monitor: {
    endpoint: 'https://a.ingest.monitor.azure.com',
    dcr_immutable_id: 'dcr-0123',
    stream_name: 'Custom-Sluice_CL',
    tenant_id: 'contoso.example.com',
    client_id: 'c0ffee-1',
    client_secret: 'a secret with spaces',
  },
} as const satisfies Record<SinkType, object>;

t.test('D27 the least that each type needs, and the defaults it gets', async (t) => {
  t.strictSame(checkConfig('splunk_hec', good.splunk_hec, rules), {
    ...good.splunk_hec,
    source: 'sluice',
    sourcetype: 'sluice:audit',
    ack: 'auto',
    gzip: true,
  });
  t.strictSame(checkConfig('datadog_logs', good.datadog_logs, rules), {
    ...good.datadog_logs,
    service: 'sluice',
    ddsource: 'sluice',
    tags: [],
  });
  t.strictSame(checkConfig('elastic', good.elastic, rules), good.elastic);
  t.strictSame(checkConfig('s3', good.s3, rules), { ...good.s3, format: 'jsonl' });
  t.strictSame(checkConfig('azure_monitor', good.azure_monitor, rules), good.azure_monitor);
});

t.test('D27 null is the same as absent', async (t) => {
  const config = { ...good.elastic, pipeline: null, index: null };
  t.strictSame(checkConfig('elastic', config, rules), good.elastic);
});

const secret = 'canary-\n-secret';

/** A change that makes the configuration wrong, and the field that is named. */
const bad: Readonly<Record<SinkType, readonly (readonly [object, string])[]>> = {
  splunk_hec: [
    [{ endpoint: undefined }, 'endpoint'],
    [{ endpoint: null }, 'endpoint'],
    [{ endpoint: 7 }, 'endpoint'],
    [{ endpoint: 'http://splunk.example.com' }, 'endpoint'],
    [{ endpoint: 'https://127.0.0.1:8088' }, 'endpoint'],
    [{ endpoint: 'https://user:canary@splunk.example.com' }, 'endpoint'],
    [{ endpoint: 'https://splunk.example.com:25' }, 'endpoint'],
    [{ endpoint: 'https://splunk.example.com/services/collector/event' }, 'endpoint'],
    [{ token: '' }, 'token'],
    [{ token: secret }, 'token'],
    [{ token: null }, 'token'],
    [{ ack: 'sometimes' }, 'ack'],
    [{ gzip: 'yes' }, 'gzip'],
    [{ index: 'a\u0000b' }, 'index'],
    [{ url: 'https://x' }, 'url'],
    [{ ca_pem: 'canary' }, 'ca_pem'],
    [{ ca_pem: '-----BEGIN CERTIFICATE-----\ncanary\n-----END CERTIFICATE-----' }, 'ca_pem'],
    [{ ['__proto__']: null, constructor: 1 }, 'constructor'],
  ],
  datadog_logs: [
    [{ site: 'datadoghq.example.com' }, 'site'],
    [{ site: null }, 'site'],
    [{ endpoint: 'https://proxy.example.com' }, 'endpoint'],
    [{ site: null, endpoint: 'https://10.1.2.3' }, 'endpoint'],
    [{ api_key: 'two words' }, 'api_key'],
    [{ tags: ['a,b'] }, 'tags.0'],
    [{ tags: Array<string>(51).fill('a') }, 'tags'],
    [{ tags: 'a' }, 'tags'],
  ],
  elastic: [
    [{ api_key: null }, 'api_key'],
    [{ token: 'x' }, 'api_key'],
    [{ username: 'u' }, 'password'],
    [{ api_key: null, password: 'p' }, 'username'],
    [{ api_key: null, username: 'a:b', password: 'p' }, 'username'],
    [{ index: 'Upper' }, 'index'],
    [{ index: '-a' }, 'index'],
    [{ index: 'a', dataset: 'b' }, 'index'],
    [{ dataset: 'a-b' }, 'dataset'],
    [{ endpoint: 'https://[::ffff:10.0.0.1]:9200' }, 'endpoint'],
  ],
  s3: [
    [{ bucket: 'UPPER' }, 'bucket'],
    [{ bucket: 'a/b' }, 'bucket'],
    [{ bucket: 'ab' }, 'bucket'],
    [{ region: 'eu.west' }, 'region'],
    [{ region: undefined }, 'region'],
    [{ prefix: '/a' }, 'prefix'],
    [{ prefix: 'a/../b' }, 'prefix'],
    [{ prefix: 'a//b' }, 'prefix'],
    [{ endpoint: 'https://169.254.169.254' }, 'endpoint'],
    [
      { endpoint: 'https://store.example.com', bucket: '127.0.0.1', force_path_style: false, region: '' },
      'region',
    ],
    [{ access_key_id: 'a/b' }, 'access_key_id'],
    [{ secret_access_key: secret }, 'secret_access_key'],
    [{ format: 'parquet' }, 'format'],
    [{ sse_kms_key_id: 'k' }, 'sse_kms_key_id'],
    [{ sse: 'none' }, 'sse'],
  ],
  azure_monitor: [
    [{ endpoint: 'http://a.ingest.monitor.azure.com' }, 'endpoint'],
    [{ dcr_immutable_id: '0123' }, 'dcr_immutable_id'],
    [{ stream_name: 'a/b' }, 'stream_name'],
    [{ tenant_id: '../x' }, 'tenant_id'],
    [{ authority: 'https://localhost' }, 'authority'],
    [{ scope: 'https://monitor.azure.com' }, 'scope'],
    [{ client_secret: 7 }, 'client_secret'],
    [{ workspace_id: 'w', shared_key: 'canary' }, 'workspace_id'],
    [{ shared_key: 'canary' }, 'shared_key'],
  ],
};

t.test('D27 what is wrong is a 422 that names the field and repeats nothing', async (t) => {
  for (const [type, changes] of Object.entries(bad) as [SinkType, (typeof bad)[SinkType]][])
    for (const [change, field] of changes) {
      let thrown: unknown = null;
      try {
        checkConfig(type, { ...good[type], ...change }, rules);
      } catch (error) {
        thrown = error;
      }
      t.ok(thrown instanceof GatewayError, `${type} ${field}`);
      const error = thrown as GatewayError;
      t.equal(error.status, 422);
      t.equal(error.param, `config.${field}`, `${type} ${JSON.stringify(change)}: ${error.message}`);
      t.notMatch(error.message, /canary/);
    }
});

t.test('issue 7: the retired collector of Azure is refused with the way out', async (t) => {
  t.throws(
    () => checkConfig('azure_monitor', { workspace_id: 'w', shared_key: 'k' }, rules),
    new Error(
      'config.workspace_id: belongs to the HTTP Data Collector API, which Microsoft has retired. Use the Logs Ingestion API: endpoint, dcr_immutable_id, stream_name, tenant_id, client_id, client_secret.',
    ),
  );
});

t.test('D27 what is right beside the least', async (t) => {
  const { pem } = createAuthority();
  for (const [type, change] of [
    ['splunk_hec', { index: 'main', ack: 'required', gzip: false, ca_pem: `${pem}${pem}` }],
    ['datadog_logs', { site: null, endpoint: 'https://logs-proxy.example.com', tags: ['env:prod'] }],
    ['elastic', { api_key: null, username: 'u', password: 'p w', dataset: 'a.b', namespace: 'prod' }],
    ['elastic', { api_key: null, token: 't', index: 'a-b_c.1' }],
    [
      's3',
      {
        prefix: 'a/b=c/',
        endpoint: 'https://s3.example.com:9000',
        force_path_style: true,
        session_token: 't',
      },
    ],
    [
      'azure_monitor',
      { authority: 'https://login.microsoftonline.us', scope: 'https://monitor.azure.us/.default' },
    ],
  ] as const)
    t.doesNotThrow(() => checkConfig(type, { ...good[type], ...change }, rules), JSON.stringify(change));
});
