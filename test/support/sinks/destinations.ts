import { startFakeAzure } from './fake-azure.js';
import { startFakeDatadog } from './fake-datadog.js';
import { startFakeElastic } from './fake-elastic.js';
import { startFakeS3 } from './fake-s3.js';
import { idsOf, type FakeServer } from './fake-server.js';
import { startFakeSplunk } from './fake-splunk.js';

export const SECRET = 'canary-7f3a91-secret-of-the-destination';

/** One of the five, ready to be sent to. */
export interface Destination {
  readonly type: string;
  readonly server: FakeServer;
  /** What an organization would send to the API. */
  readonly config: Readonly<Record<string, unknown>>;
  /** The field that holds SECRET. */
  readonly secret: string;
  /** The events that arrived, in the order of their coming. */
  events(): readonly Readonly<Record<string, unknown>>[];
  /** Their ids. */
  ids(): string[];
}

const splunk = async (): Promise<Destination> => {
  const server = await startFakeSplunk({ token: SECRET });
  return {
    type: 'splunk_hec',
    server,
    config: { endpoint: server.url, token: SECRET },
    secret: 'token',
    events: () => server.events(),
    ids: () => idsOf(server.events()),
  };
};

const splunkWithAck = async (): Promise<Destination> => {
  const server = await startFakeSplunk({ token: SECRET, ack: true });
  return {
    type: 'splunk_hec',
    server,
    config: { endpoint: server.url, token: SECRET, ack: 'required' },
    secret: 'token',
    events: () => server.events(),
    ids: () => idsOf(server.events()),
  };
};

const datadog = async (): Promise<Destination> => {
  const server = await startFakeDatadog({ apiKey: SECRET });
  return {
    type: 'datadog_logs',
    server,
    config: { endpoint: server.url, api_key: SECRET },
    secret: 'api_key',
    events: () => server.entries,
    ids: () => idsOf(server.entries),
  };
};

const elastic = async (): Promise<Destination> => {
  const server = await startFakeElastic({ authorization: `ApiKey ${SECRET}` });
  return {
    type: 'elastic',
    server,
    config: { endpoint: server.url, api_key: SECRET },
    secret: 'api_key',
    events: () => server.documents(),
    ids: () => idsOf(server.documents()),
  };
};

const s3 = async (): Promise<Destination> => {
  const server = await startFakeS3();
  return {
    type: 's3',
    server,
    config: {
      bucket: 'audit',
      region: 'eu-central-1',
      endpoint: server.url,
      access_key_id: 'AKID',
      secret_access_key: SECRET,
    },
    secret: 'secret_access_key',
    events: () => server.events(),
    ids: () => idsOf(server.events()),
  };
};

const azure = async (): Promise<Destination> => {
  const place = { tenantId: 'tenant-1', clientId: 'client-1', dcr: 'dcr-00aa', stream: 'Custom-Sluice_CL' };
  const server = await startFakeAzure({ ...place, clientSecret: SECRET });
  return {
    type: 'azure_monitor',
    server,
    config: {
      endpoint: server.url,
      authority: server.url,
      dcr_immutable_id: place.dcr,
      stream_name: place.stream,
      tenant_id: place.tenantId,
      client_id: place.clientId,
      client_secret: SECRET,
    },
    secret: 'client_secret',
    events: () => server.rows,
    ids: () => idsOf(server.rows),
  };
};

export const destinations = { splunk, splunkWithAck, datadog, elastic, s3, azure } as const;
