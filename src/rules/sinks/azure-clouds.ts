import type { AzureConfig } from './configs.js';

interface Cloud {
  /** How the names of its ingestion endpoints end. */
  readonly suffix: string;
  readonly authority: string;
  readonly scope: string;
}

const publicCloud: Cloud = {
  suffix: '',
  authority: 'https://login.microsoftonline.com',
  scope: 'https://monitor.azure.com/.default',
};

const otherClouds: readonly Cloud[] = [
  {
    suffix: '.azure.us',
    authority: 'https://login.microsoftonline.us',
    scope: 'https://monitor.azure.us/.default',
  },
  {
    suffix: '.azure.cn',
    authority: 'https://login.chinacloudapi.cn',
    scope: 'https://monitor.azure.cn/.default',
  },
];

/** Who gives tokens, and for what: as configured, else as the cloud of the endpoint has it. */
export const azureLogin = (config: AzureConfig): { readonly authority: string; readonly scope: string } => {
  const host = config.endpoint
    .replace(/^[a-z]+:\/\//i, '')
    .split(/[/:]/, 1)[0]!
    .toLowerCase();
  const cloud = otherClouds.find(({ suffix }) => host.endsWith(suffix)) ?? publicCloud;
  return { authority: config.authority ?? cloud.authority, scope: config.scope ?? cloud.scope };
};

export const azureAddresses = (config: AzureConfig): Readonly<Record<string, string>> => ({
  endpoint: config.endpoint,
  authority: azureLogin(config).authority,
});
