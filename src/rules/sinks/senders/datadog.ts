import type { Batch, BatchItem, Sender } from '../../../core/sink.js';
import type { DatadogConfig } from '../configs.js';
import { shrinkEvent, timeOf, withMembers } from '../event-text.js';
import { gzipBytes } from '../gzip.js';
import { datadogAddress } from '../kinds.js';
import { accepted, outcomeOfStatus, split } from '../outcomes.js';
import type { SenderParts } from './parts.js';

const MOST_EVENTS = 1_000;
/** Above it the intake refuses; what we aim at leaves room for what surrounds the events. */
const MOST_BYTES = 5_000_000;
const AIM_BYTES = 4_250_000;
/** Above a megabyte Datadog cuts an event off and says nothing. */
const MOST_EVENT_BYTES = 900_000;
/** Older timestamps are not accepted. */
const OLDEST_MS = 18 * 3_600_000;
/** `timestamp` or `original_timestamp`, commas and braces. */
const MEMBER_BYTES = 100;

/** Datadog's log intake, version 2. */
export const createDatadogSender = (config: DatadogConfig, parts: SenderParts): Sender => {
  const client = parts.connect(datadogAddress(config), config.ca_pem);
  const headers = {
    'dd-api-key': config.api_key,
    'content-type': 'application/json',
    'content-encoding': 'gzip',
  };
  const place = JSON.stringify({
    ddsource: config.ddsource,
    service: config.service,
    ddtags: config.tags.join(','),
    message: 'audit event',
  }).slice(1, -1);
  const surrounding = Buffer.byteLength(place) + MEMBER_BYTES;
  const mostOwnBytes = MOST_EVENT_BYTES - surrounding;

  const entry = ({ json }: BatchItem, { instanceId, createdAt }: Batch, nowMs: number): string => {
    const time = timeOf(json, createdAt);
    const isLate = nowMs - Date.parse(time) > OLDEST_MS;
    // UTF-8 has at most three bytes for what is one unit here: most events need not be counted.
    const isLarge = json.length * 3 > mostOwnBytes && Buffer.byteLength(json) > mostOwnBytes;
    if (isLate) parts.remark('late', 1);
    if (isLarge) parts.remark('shrunk', 1);
    const when = `"${isLate ? 'original_timestamp' : 'timestamp'}":${JSON.stringify(time)}`;
    const members = `${place},"hostname":${JSON.stringify(instanceId)},${when}`;
    return withMembers(members, isLarge ? shrinkEvent(json, mostOwnBytes) : json);
  };

  return {
    limits: { count: MOST_EVENTS, bytes: AIM_BYTES - MOST_EVENTS * surrounding, ageMs: 1_000 },
    close: () => client.close(),
    send: async (batch, signal) => {
      const nowMs = parts.clock.nowMs();
      const text = Buffer.from(`[${batch.events.map((item) => entry(item, batch, nowMs)).join(',')}]`);
      if (text.length > MOST_BYTES && batch.events.length > 1)
        return split(`The batch has more than the ${MOST_BYTES} bytes that Datadog takes.`);
      const body = await gzipBytes(text);
      const reply = await client.send({ method: 'POST', path: '/api/v2/logs', headers, body }, signal);
      return reply.status === 202 || reply.status === 200 ? accepted : outcomeOfStatus(reply, nowMs);
    },
  };
};
