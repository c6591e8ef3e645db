import { randomUUID } from 'node:crypto';
import type { Batch, BatchItem, Outcome, Sender } from '../../../core/sink.js';
import type { OutboundReply } from '../../../io/outbound/client.js';
import { OutboundFault } from '../../../io/outbound/fault.js';
import type { SplunkConfig } from '../configs.js';
import { timeOf } from '../event-text.js';
import { gzipBytes } from '../gzip.js';
import { accepted, held, memberOf, outcomeOfStatus, poison, readJson, retry } from '../outcomes.js';
import type { SenderParts } from './parts.js';

/** A batch with its envelopes stays below the megabyte that Splunk Cloud advises. */
const plainLimits = { count: 1_000, bytes: 800_000, ageMs: 1_000 };
/** Only Splunk Enterprise acknowledges, and it takes far more; what waits for its indexers goes at their pace. */
const ackLimits = { count: 5_000, bytes: 4_000_000, ageMs: 1_000 };

/** Soon at first, so that a quick indexer is not waited for; then as rarely as Splunk advises. */
const POLLS_MS = [250, 500, 1_000, 2_000, 5_000, 10_000] as const;
const ACK_TIMEOUT_MS = 300_000;

/** What the collector's codes mean where its status does not say enough. */
const configCodes: Readonly<Record<number, string>> = {
  1: 'the token is disabled',
  2: 'a token is required',
  3: 'the authorization is invalid',
  4: 'the token is invalid',
  7: 'the token may not write to this index',
  10: 'a data channel is missing: the token asks for acknowledgement',
  11: 'the data channel is invalid',
  14: 'acknowledgement is disabled for this token',
};
const eventCodes: Readonly<Record<number, string>> = {
  5: 'no data',
  6: 'invalid data format',
  12: 'the event field is missing',
  13: 'the event field is blank',
  15: 'an indexed field is invalid',
};

/** Splunk's HTTP Event Collector, with indexer acknowledgement where there is one. */
export const createSplunkSender = (config: SplunkConfig, parts: SenderParts): Sender => {
  const { clock, wait } = parts;
  const client = parts.connect(config.endpoint, config.ca_pem);
  const channel = config.ack === 'off' ? {} : { 'x-splunk-request-channel': randomUUID() };
  const headers = {
    authorization: `Splunk ${config.token}`,
    'content-type': 'application/json',
    ...channel,
  };
  const { source, sourcetype, index } = config;
  // undefined members are left out by JSON.stringify
  const place = JSON.stringify({ source, sourcetype, index }).slice(1, -1);

  const envelope = ({ json, eventId }: BatchItem, { instanceId, createdAt }: Batch): string => {
    const ms = Date.parse(timeOf(json, createdAt));
    const time = Number.isNaN(ms) ? '' : `"time":${(ms / 1_000).toFixed(3)},`;
    const fields = `"fields":{"event_id":${JSON.stringify(eventId)}}`;
    return `{${time}"host":${JSON.stringify(instanceId)},${place},"event":${json},${fields}}`;
  };

  /** Asks until the batch is indexed; an indexer that lost it is sent it again. */
  const waitForAck = async (ackId: number, signal: AbortSignal): Promise<Outcome> => {
    const untilMs = clock.ticksMs() + ACK_TIMEOUT_MS;
    for (let poll = 0; clock.ticksMs() < untilMs; poll++) {
      await wait(POLLS_MS[Math.min(poll, POLLS_MS.length - 1)]!, signal);
      const reply = await askForAck(ackId, signal);
      if (reply === null || reply.status >= 500 || reply.status === 429) continue;
      if (reply.status !== 200) return judge(reply, clock.nowMs(), 'asking for the acknowledgement');
      if (memberOf(memberOf(readJson(reply), 'acks'), String(ackId)) === true) return accepted;
    }
    return retry(
      `Splunk did not acknowledge the batch within ${ACK_TIMEOUT_MS / 60_000} min; it is sent again.`,
    );
  };

  /** null = not answered this time. */
  const askForAck = async (ackId: number, signal: AbortSignal): Promise<OutboundReply | null> => {
    const body = JSON.stringify({ acks: [ackId] });
    try {
      return await client.send({ method: 'POST', path: '/services/collector/ack', headers, body }, signal);
    } catch (error) {
      if (error instanceof OutboundFault && error.kind !== 'stopped') return null;
      throw error;
    }
  };

  return {
    limits: config.ack === 'required' ? ackLimits : plainLimits,
    close: () => client.close(),
    send: async (batch, signal) => {
      const text = batch.events.map((item) => envelope(item, batch)).join('\n');
      const body = config.gzip ? await gzipBytes(text) : text;
      const encoding = config.gzip ? { 'content-encoding': 'gzip' } : {};
      const reply = await client.send(
        { method: 'POST', path: '/services/collector/event', headers: { ...headers, ...encoding }, body },
        signal,
      );
      const said = readJson(reply);
      if (reply.status !== 200 || (memberOf(said, 'code') ?? 0) !== 0) return judge(reply, clock.nowMs());
      if (said === undefined) return retry('The reply of Splunk cannot be read.');
      const ackId = memberOf(said, 'ackId');
      if (config.ack === 'off') return accepted;
      if (typeof ackId === 'number') return waitForAck(ackId, signal);
      return config.ack === 'required'
        ? held('Splunk gives no acknowledgement for this token, but config.ack is required.')
        : accepted;
    },
  };
};

const judge = (reply: OutboundReply, nowMs: number, when = ''): Outcome => {
  const code = memberOf(readJson(reply), 'code');
  if (typeof code === 'number') {
    const [wrongConfig, wrongEvent] = [configCodes[code], eventCodes[code]];
    if (wrongConfig !== undefined) return held(`Splunk answered code ${code}: ${wrongConfig}.`);
    if (wrongEvent !== undefined) return poison(`Splunk answered code ${code}: ${wrongEvent}.`);
    if (reply.status === 200) return retry(`Splunk answered code ${code}.`);
  }
  const hint = [typeof code === 'number' ? `code ${code}` : '', when].filter((part) => part !== '');
  return outcomeOfStatus(reply, nowMs, hint.join(', '));
};
