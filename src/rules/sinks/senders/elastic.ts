import type { Batch, ItemOutcome, Outcome, Sender } from '../../../core/sink.js';
import type { OutboundReply } from '../../../io/outbound/client.js';
import { OutboundFault } from '../../../io/outbound/fault.js';
import type { ElasticConfig } from '../configs.js';
import { timeOf, withMembers } from '../event-text.js';
import { gzipBytes } from '../gzip.js';
import { accepted, held, memberOf, outcomeOfStatus, readJson, retry, split } from '../outcomes.js';
import type { SenderParts } from './parts.js';

const limits = { count: 1_000, bytes: 4_500_000, ageMs: 1_000 };

/** All that is read of a reply, so that a thousand refusals still fit into it. */
const FILTER = 'errors,items.*.status,items.*.error.type,items.*.error.reason,error.type';

/** Elasticsearch and OpenSearch: `create` with the event's id, so that what is there already counts as done. */
export const createElasticSender = (config: ElasticConfig, parts: SenderParts): Sender => {
  const client = parts.connect(config.endpoint, config.ca_pem);
  const headers = {
    authorization: authorizationOf(config),
    'content-type': 'application/x-ndjson',
    'content-encoding': 'gzip',
  };
  const pipeline = config.pipeline === undefined ? '' : `&pipeline=${encodeURIComponent(config.pipeline)}`;
  const path = `/${encodeURIComponent(indexOf(config))}/_bulk?filter_path=${FILTER}${pipeline}`;

  return {
    limits,
    close: () => client.close(),
    send: async (batch, signal) => {
      const body = await gzipBytes(writeLines(batch));
      try {
        const reply = await client.send({ method: 'POST', path, headers, body }, signal);
        return judge(reply, batch.events.length, parts.clock.nowMs());
      } catch (error) {
        // So many refusals that they cannot be read at once; of one event they can.
        if (error instanceof OutboundFault && error.kind === 'oversized' && batch.events.length > 1)
          return split(error.message);
        throw error;
      }
    },
  };
};

const authorizationOf = ({ api_key, username, password, token }: ElasticConfig): string => {
  if (api_key !== undefined)
    // Kibana shows keys encoded; `id:key` is how the API gives them.
    return `ApiKey ${api_key.includes(':') ? Buffer.from(api_key).toString('base64') : api_key}`;
  if (token !== undefined) return `Bearer ${token}`;
  return `Basic ${Buffer.from(`${username ?? ''}:${password ?? ''}`).toString('base64')}`;
};

/** An index as named, else a data stream by Elastic's naming scheme. */
const indexOf = ({ index, dataset = 'sluice.audit', namespace = 'default' }: ElasticConfig): string =>
  index ?? `logs-${dataset}-${namespace}`;

const writeLines = ({ events, createdAt }: Batch): string => {
  let lines = '';
  for (const { eventId, json } of events) {
    const time = `"@timestamp":${JSON.stringify(timeOf(json, createdAt))}`;
    lines += `{"create":{"_id":${JSON.stringify(eventId)}}}\n${withMembers(time, json)}\n`;
  }
  return lines;
};

const judge = (reply: OutboundReply, events: number, nowMs: number): Outcome => {
  const said = readJson(reply);
  if (reply.status !== 200) return judgeWhole(reply, said, nowMs);
  const errors = memberOf(said, 'errors');
  if (errors === false) return accepted;
  const items: unknown = memberOf(said, 'items');
  if (errors !== true || !Array.isArray(items) || items.length !== events)
    return retry('The reply of Elasticsearch cannot be read.');
  const outcomes: ItemOutcome[] = [];
  for (const item of items as readonly unknown[]) {
    const outcome = judgeItem(memberOf(item, 'create'));
    // What is there already is not written twice, so the whole batch can wait for the correction.
    if (outcome.kind === 'held') return outcome;
    outcomes.push(outcome);
  }
  return outcomes.every(({ kind }) => kind === 'accepted') ? accepted : { kind: 'partly', items: outcomes };
};

const judgeItem = (result: unknown): ItemOutcome | Extract<Outcome, { kind: 'held' }> => {
  const status = memberOf(result, 'status');
  const error = memberOf(result, 'error');
  if (status === 200 || status === 201 || status === 409) return { kind: 'accepted' };
  const told = `(item status ${typeof status === 'number' ? status : 'missing'}${typeOf(error)})`;
  if (status === 401 || status === 403 || status === 404)
    return held(`Elasticsearch does not let these events be written ${told}.`);
  if (status !== 400) return { kind: 'retry', reason: `Elasticsearch could not write the event ${told}.` };
  const reason = memberOf(error, 'reason');
  return typeof reason === 'string' && /^pipeline with id /.test(reason)
    ? held(`Elasticsearch does not know the pipeline ${told}.`)
    : { kind: 'poison', reason: `Elasticsearch refuses the event ${told}.` };
};

/** No event can be at fault for these. */
const configErrors: ReadonlySet<unknown> = new Set([
  'invalid_index_name_exception',
  'illegal_argument_exception',
  'index_not_found_exception',
  'security_exception',
]);

const judgeWhole = (reply: OutboundReply, said: unknown, nowMs: number): Outcome => {
  const error = memberOf(said, 'error');
  if (reply.status === 400 && configErrors.has(memberOf(error, 'type')))
    return held(`Elasticsearch does not take bulk requests as configured (HTTP 400${typeOf(error)}).`);
  return outcomeOfStatus(reply, nowMs, typeOf(error).slice(2));
};

/** Known names only: whatever else a destination says may be anything. */
const knownTypes: ReadonlySet<string> = new Set([
  'cluster_block_exception',
  'document_parsing_exception',
  'es_rejected_execution_exception',
  'illegal_argument_exception',
  'index_not_found_exception',
  'invalid_index_name_exception',
  'mapper_parsing_exception',
  'security_exception',
  'strict_dynamic_mapping_exception',
  'unavailable_shards_exception',
]);

const typeOf = (error: unknown): string => {
  const type = memberOf(error, 'type');
  return typeof type === 'string' && knownTypes.has(type) ? `, ${type}` : '';
};
