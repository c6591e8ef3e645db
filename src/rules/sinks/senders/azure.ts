import type { Outcome, Sender } from '../../../core/sink.js';
import type { OutboundReply } from '../../../io/outbound/client.js';
import { azureLogin } from '../azure-clouds.js';
import type { AzureConfig } from '../configs.js';
import { shrinkEvent, timeOf, withMembers } from '../event-text.js';
import { gzipBytes } from '../gzip.js';
import { accepted, held, outcomeOfStatus, split } from '../outcomes.js';
import { TokenSource } from './azure-token.js';
import type { SenderParts } from './parts.js';

/** Before compression, brackets and commas included. */
const MOST_BYTES = 1_000_000;
const MOST_EVENTS = 500;
/** `"TimeGenerated":"...",` and a comma. */
const MEMBER_BYTES = 50;

/** Azure Monitor's Logs Ingestion API, with the credentials of an Entra application. */
export const createAzureSender = (config: AzureConfig, parts: SenderParts): Sender => {
  const { clock, remark } = parts;
  const { authority, scope } = azureLogin(config);
  const client = parts.connect(config.endpoint, config.ca_pem);
  const loginClient = parts.connect(authority, config.ca_pem);
  const tokens = new TokenSource(loginClient, config, scope, clock);
  const { dcr_immutable_id, stream_name } = config;
  const path = `/dataCollectionRules/${dcr_immutable_id}/streams/${stream_name}?api-version=2023-01-01`;

  const record = (json: string, time: string): string =>
    withMembers(`"TimeGenerated":${JSON.stringify(time)}`, json);

  const post = async (body: Buffer, token: string, signal: AbortSignal): Promise<OutboundReply> => {
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-encoding': 'gzip',
    };
    return client.send({ method: 'POST', path, headers, body }, signal);
  };

  return {
    limits: { count: MOST_EVENTS, bytes: MOST_BYTES - (MOST_EVENTS + 1) * MEMBER_BYTES, ageMs: 1_000 },
    close: async () => {
      await Promise.all([client.close(), loginClient.close()]);
    },
    send: async (batch, signal) => {
      const { events, createdAt } = batch;
      let text = Buffer.from(
        `[${events.map(({ json }) => record(json, timeOf(json, createdAt))).join(',')}]`,
      );
      if (text.length > MOST_BYTES) {
        if (events.length > 1)
          return split(`The batch has more than the ${MOST_BYTES} bytes that Azure takes.`);
        const { json } = events[0]!;
        remark('shrunk', 1);
        text = Buffer.from(
          `[${record(shrinkEvent(json, MOST_BYTES - 2 * MEMBER_BYTES), timeOf(json, createdAt))}]`,
        );
      }
      const body = await gzipBytes(text);
      let token = await tokens.get(signal);
      if (token.kind !== 'token') return token;
      let reply = await post(body, token.value, signal);
      if (reply.status === 401) {
        tokens.forget(token.value);
        token = await tokens.get(signal);
        if (token.kind !== 'token') return token;
        reply = await post(body, token.value, signal);
      }
      return judge(reply, clock.nowMs());
    },
  };
};

const judge = (reply: OutboundReply, nowMs: number): Outcome => {
  switch (reply.status) {
    case 204:
      return accepted;
    case 403:
      return held(
        'Azure refuses the application (HTTP 403): it needs the role Monitoring Metrics Publisher on the data collection rule; a new role takes up to 30 min to act.',
      );
    case 404:
      return held('Azure knows no such data collection rule or stream (HTTP 404).');
    default:
      return outcomeOfStatus(reply, nowMs);
  }
};
