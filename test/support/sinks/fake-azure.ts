import {
  jsonReply,
  startFakeServer,
  type FakeOptions,
  type FakeReply,
  type FakeRequest,
  type FakeServer,
} from './fake-server.js';

export interface FakeAzureOptions extends FakeOptions {
  readonly tenantId: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly dcr: string;
  readonly stream: string;
  readonly scope?: string;
  readonly expiresInS?: number;
}

export interface FakeAzure extends FakeServer {
  readonly rows: Readonly<Record<string, unknown>>[];
  /** How many tokens were given. */
  readonly tokens: () => number;
  /** Tokens given so far are no longer taken. */
  revoke(): void;
  setClientSecret(secret: string): void;
  /** Whether the application has the role on the rule. */
  setRole(hasRole: boolean): void;
}

const MOST_BYTES = 1_048_576;

/** Entra's token service and Azure Monitor's Logs Ingestion API on one address. */
export const startFakeAzure = async (options: FakeAzureOptions): Promise<FakeAzure> => {
  const {
    tenantId,
    clientId,
    dcr,
    stream,
    scope = 'https://monitor.azure.com/.default',
    expiresInS = 3_599,
  } = options;
  let { clientSecret } = options;
  const rows: Readonly<Record<string, unknown>>[] = [];
  let valid = new Set<string>();
  let given = 0;
  let hasRole = true;

  const oauthError = (status: number, error: string, description: string): FakeReply =>
    jsonReply(status, { error, error_description: `${description}: The request was refused.` });

  const giveToken = ({ body }: FakeRequest): FakeReply => {
    const form = new URLSearchParams(body.toString());
    if (form.get('grant_type') !== 'client_credentials')
      return oauthError(400, 'unsupported_grant_type', 'AADSTS70003');
    if (form.get('client_id') !== clientId) return oauthError(400, 'unauthorized_client', 'AADSTS700016');
    if (form.get('client_secret') !== clientSecret) return oauthError(401, 'invalid_client', 'AADSTS7000215');
    if (form.get('scope') !== scope) return oauthError(400, 'invalid_scope', 'AADSTS70011');
    const token = `token-${++given}`;
    valid.add(token);
    return jsonReply(200, { token_type: 'Bearer', expires_in: expiresInS, access_token: token });
  };

  const azureError = (status: number, code: string): FakeReply =>
    jsonReply(status, { error: { code, message: code } });

  const ingest = ({ headers, body }: FakeRequest, url: URL): FakeReply => {
    const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1];
    if (token === undefined || !valid.has(token)) return azureError(401, 'InvalidToken');
    if (!hasRole) return azureError(403, 'OperationFailed');
    if (url.pathname !== `/dataCollectionRules/${dcr}/streams/${stream}`) return azureError(404, 'NotFound');
    if (url.searchParams.get('api-version') !== '2023-01-01') return azureError(400, 'InvalidApiVersion');
    if (body.length > MOST_BYTES) return azureError(413, 'ContentLengthLimitExceeded');
    let read: unknown;
    try {
      read = JSON.parse(body.toString());
    } catch {
      return azureError(400, 'InvalidJson');
    }
    if (!Array.isArray(read)) return azureError(400, 'InvalidPayload');
    rows.push(...(read as readonly Readonly<Record<string, unknown>>[]));
    return { status: 204 };
  };

  const server = await startFakeServer((request) => {
    const url = new URL(request.path, 'http://fake');
    if (url.pathname === `/${tenantId}/oauth2/v2.0/token`) return giveToken(request);
    if (/\/oauth2\/v2\.0\/token$/.test(url.pathname))
      return oauthError(400, 'invalid_request', 'AADSTS90002');
    return ingest(request, url);
  }, options);
  return {
    ...server,
    rows,
    tokens: () => given,
    revoke: () => (valid = new Set()),
    setClientSecret: (secret) => (clientSecret = secret),
    setRole: (next) => (hasRole = next),
  };
};
