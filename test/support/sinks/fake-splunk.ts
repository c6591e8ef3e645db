import {
  jsonReply,
  startFakeServer,
  type FakeOptions,
  type FakeReply,
  type FakeRequest,
  type FakeServer,
} from './fake-server.js';

export interface FakeSplunkOptions extends FakeOptions {
  readonly token: string;
  /** Whether the token asks for indexer acknowledgement. */
  readonly ack?: boolean;
  /** A batch is indexed once it was asked for this often. */
  readonly ackAfterPolls?: number;
  readonly indexes?: readonly string[];
  readonly maxBytes?: number;
}

export interface FakeSplunk extends FakeServer {
  /** What was indexed: envelopes as they came. */
  readonly envelopes: Readonly<Record<string, unknown>>[];
  /** The events in them. */
  events(): Readonly<Record<string, unknown>>[];
  /** The indexer restarts: what was not acknowledged yet is lost, and so are its acknowledgements. */
  forget(): void;
  setToken(token: string): void;
}

interface Waiting {
  readonly envelopes: readonly Readonly<Record<string, unknown>>[];
  polls: number;
}

/** What each takes in one request; only the first one acknowledges. */
const ENTERPRISE_BYTES = 838_860_800;
const CLOUD_BYTES = 1_000_000;

/** Splunk's HTTP Event Collector as its documentation has it. */
export const startFakeSplunk = async (options: FakeSplunkOptions): Promise<FakeSplunk> => {
  const {
    ack = false,
    ackAfterPolls = 1,
    indexes,
    maxBytes = ack ? ENTERPRISE_BYTES : CLOUD_BYTES,
  } = options;
  let { token } = options;
  const envelopes: Readonly<Record<string, unknown>>[] = [];
  /** By channel, then by number. */
  const waiting = new Map<string, Map<number, Waiting>>();
  let nextAck = 0;

  const fault = (status: number, code: number, text: string): FakeReply => jsonReply(status, { text, code });

  const authorize = ({ headers }: FakeRequest): FakeReply | null => {
    if (headers.authorization === undefined) return fault(401, 2, 'Token is required');
    if (!headers.authorization.startsWith('Splunk ')) return fault(401, 3, 'Invalid authorization');
    return headers.authorization === `Splunk ${token}` ? null : fault(403, 4, 'Invalid token');
  };

  const collect = (request: FakeRequest): FakeReply => {
    if (request.body.length > maxBytes) return { status: 413, body: 'too large' };
    const channel = request.headers['x-splunk-request-channel'];
    if (ack && typeof channel !== 'string') return fault(400, 10, 'Data channel is missing');
    const read = readObjects(request.body.toString());
    if (read === null) return fault(400, 6, 'Invalid data format');
    if (read.length === 0) return fault(400, 5, 'No data');
    for (const [number, { event, index }] of read.entries()) {
      if (event === undefined)
        return jsonReply(400, { text: 'Event field is required', code: 12, 'invalid-event-number': number });
      if (event === '') return fault(400, 13, 'Event field cannot be blank');
      if (index !== undefined && indexes && !indexes.some((known) => known === index))
        return fault(400, 7, 'Incorrect index');
    }
    if (!ack) {
      envelopes.push(...read);
      return jsonReply(200, { text: 'Success', code: 0 });
    }
    const ackId = nextAck++;
    const channelAcks = waiting.get(String(channel)) ?? new Map<number, Waiting>();
    waiting.set(String(channel), channelAcks.set(ackId, { envelopes: read, polls: 0 }));
    return jsonReply(200, { text: 'Success', code: 0, ackId });
  };

  const acknowledge = (request: FakeRequest): FakeReply => {
    if (!ack) return fault(400, 14, 'ACK is disabled');
    const channel = request.headers['x-splunk-request-channel'];
    if (typeof channel !== 'string') return fault(400, 10, 'Data channel is missing');
    const { acks } = JSON.parse(request.body.toString()) as { readonly acks: readonly number[] };
    const channelAcks = waiting.get(channel);
    const answers = acks.map((id) => {
      const held = channelAcks?.get(id);
      if (!held || ++held.polls < ackAfterPolls) return [id, false] as const;
      envelopes.push(...held.envelopes);
      channelAcks!.delete(id); // told once
      return [id, true] as const;
    });
    return jsonReply(200, { acks: Object.fromEntries(answers) });
  };

  const server = await startFakeServer((request) => {
    const refused = authorize(request);
    if (refused) return refused;
    if (request.path === '/services/collector/event') return collect(request);
    if (request.path === '/services/collector/ack') return acknowledge(request);
    return { status: 404, body: 'Not found' };
  }, options);
  return {
    ...server,
    envelopes,
    events: () => envelopes.map(({ event }) => event as Readonly<Record<string, unknown>>),
    forget: () => waiting.clear(),
    setToken: (next) => (token = next),
  };
};

/** JSON objects one after another, with or without space between; null = something else. */
const readObjects = (text: string): Record<string, unknown>[] | null => {
  const objects: Record<string, unknown>[] = [];
  let depth = 0;
  let from = 0;
  let inText = false;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (inText) {
      if (character === '\\') i++;
      else if (character === '"') inText = false;
    } else if (character === '"') inText = true;
    else if (character === '{' && depth++ === 0) from = i;
    else if (character === '}' && --depth === 0)
      try {
        objects.push(JSON.parse(text.slice(from, i + 1)) as Record<string, unknown>);
      } catch {
        return null;
      }
    else if (depth === 0 && !/\s/.test(character!)) return null;
  }
  return depth === 0 ? objects : null;
};
